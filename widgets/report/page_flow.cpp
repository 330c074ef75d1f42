// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/report/page_flow.hpp"

#include <QFile>
#include <QFontMetricsF>
#include <QPainter>
#include <QSvgRenderer>

#include <algorithm>

namespace tidemark::page {

namespace {

class Mover {
public:
    explicit Mover(QPointF by)
        : m_by(by)
    { }
    void operator()(DrawText& draw) const { draw.at += m_by; }
    void operator()(DrawRule& draw) const
    {
        draw.from += m_by;
        draw.to += m_by;
    }
    template <typename Boxed>
    void operator()(Boxed& draw) const
    {
        draw.box.translate(m_by);
    }

private:
    QPointF m_by;
};

class Painting {
public:
    explicit Painting(QPainter& painter)
        : m_painter(painter)
        , m_theme(Theme::light())
    { }

    void operator()(const DrawText& draw)
    {
        if (!m_look || *m_look != draw.look) {
            m_look = draw.look;
            m_painter.setFont(fontOf(draw.look));
        }
        m_painter.setPen(m_theme.color(draw.look.tone));
        m_painter.drawText(draw.at, draw.text);
    }
    void operator()(const DrawBox& draw)
    {
        m_painter.setPen(draw.frame ? QPen(m_theme.color(*draw.frame), pt(0.5)) : QPen(Qt::NoPen));
        m_painter.setBrush(draw.fill ? QBrush(m_theme.color(*draw.fill)) : QBrush(Qt::NoBrush));
        if (draw.radius > 0)
            m_painter.drawRoundedRect(draw.box, draw.radius, draw.radius);
        else
            m_painter.drawRect(draw.box);
    }
    void operator()(const DrawRule& draw)
    {
        m_painter.setPen(QPen(m_theme.color(draw.tone), pt(0.5)));
        m_painter.drawLine(draw.from, draw.to);
    }
    void operator()(const DrawSvg& draw)
    {
        QSvgRenderer renderer(
            QByteArray::fromRawData(draw.svg->data(), static_cast<qsizetype>(draw.svg->size())));
        m_painter.save();
        renderer.render(&m_painter, draw.box);
        m_painter.restore();
        m_look.reset();
    }
    void operator()(const DrawImage& draw)
    {
        m_painter.setRenderHint(QPainter::SmoothPixmapTransform);
        m_painter.drawImage(draw.box, draw.image);
    }

private:
    QPainter& m_painter;
    const Theme m_theme;
    std::optional<TextLook> m_look;
};

} // namespace

void addMoved(Draws& to, const Draws& from, QPointF by)
{
    to.reserve(to.size() + from.size());
    for (const Draw& draw : from) {
        to.push_back(draw);
        std::visit(Mover(by), to.back());
    }
}

void paintAll(QPainter& painter, const Draws& draws)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setRenderHint(QPainter::TextAntialiasing);
    Painting painting(painter);
    for (const Draw& draw : draws)
        std::visit(painting, draw);
    painter.restore();
}

void addLines(Draws& to, const Lines& lines, QPointF topLeft, double lineHeight, double room, bool right)
{
    double top = topLeft.y();
    for (const Line& line : lines) {
        const double x = topLeft.x() + (right ? std::max(0.0, room - line.width) : 0);
        // One base line for all looks of a line: that of its largest.
        const Run* largest = nullptr;
        for (const Run& run : line.runs)
            if (largest == nullptr || run.look.size > largest->look.size)
                largest = &run;
        if (largest != nullptr) {
            const QFontMetricsF metrics(fontOf(largest->look));
            const double base = top + (lineHeight + metrics.ascent() - metrics.descent()) / 2;
            for (const Run& run : line.runs)
                to.emplace_back(DrawText{QPointF(x + run.x, base), run.width, run.text, run.look});
        }
        top += lineHeight;
    }
}

std::shared_ptr<const std::string> iconSvg(const char* name, Tone tone)
{
    QFile file(QStringLiteral(":/icons/%1.svg").arg(QLatin1String(name)));
    if (!file.open(QIODevice::ReadOnly))
        return nullptr;
    QByteArray svg = file.readAll();
    svg.replace("currentColor", Theme::light().color(tone).name().toLatin1());
    return std::make_shared<const std::string>(svg.toStdString());
}

std::vector<Draws> flow(const Strips& strips, const std::vector<Strip>& heads, double height)
{
    std::vector<Draws> pages(1);
    double y = 0;
    bool fresh = true; // nothing but a repeated head is on the page
    const auto headOf = [&](const Strip& strip) {
        return strip.repeats >= 0 ? &heads[static_cast<std::size_t>(strip.repeats)] : nullptr;
    };
    const auto turn = [&](const Strip& next) {
        pages.emplace_back();
        y = 0;
        fresh = true;
        if (const Strip* head = headOf(next)) {
            addMoved(pages.back(), head->draws, {0, 0});
            y = head->height;
        }
    };
    for (std::size_t i = 0; i < strips.size(); ++i) {
        const Strip& strip = strips[i];
        const bool inChain = i > 0 && strips[i - 1].keep;
        double needed = (fresh ? 0 : strip.before) + strip.height;
        if (!inChain) {
            double chain = needed;
            for (std::size_t j = i; strips[j].keep && j + 1 < strips.size(); ++j)
                chain += strips[j + 1].before + strips[j + 1].height;
            // What is longer than a page is cut somewhere anyway.
            if (chain <= height)
                needed = chain;
        }
        if (y + needed > height && !fresh)
            turn(strip);
        if (!fresh)
            y += strip.before;
        addMoved(pages.back(), strip.draws, {0, y});
        y += strip.height;
        fresh = false;
    }
    return pages;
}

} // namespace tidemark::page
