// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/report/paged_report.hpp"

#include "widgets/report/page_blocks.hpp"

#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>

namespace tidemark {

using namespace page;

struct PagedReport::Pages {
    std::vector<Draws> all;
};

namespace {

constexpr double pointsPerMm = 72 / 25.4;
constexpr double headGap = pt(16); // between the line below the header and the text
constexpr double footGap = pt(10);
constexpr std::size_t mostFootLines = 3;

/// What stands on every page around the text.
class SheetFrame {
public:
    SheetFrame(const report::Document& document, QSizeF sheet)
        : m_margin(pt(paperMarginMm * pointsPerMm))
        , m_width(sheet.width() * unitsPerPoint - 2 * m_margin)
        , m_bottom(sheet.height() * unitsPerPoint - m_margin)
    {
        const double brand = brandLine().naturalWidth() + pt(20);
        const double room = m_width - brand - pt(18);
        while (m_headLook.size > 72 && RunningText(document.head, m_headLook).naturalWidth() > room)
            m_headLook.size -= 2;
        m_head = RunningText(document.head, m_headLook).lines(room);
        m_foot = RunningText(document.foot, footLook()).lines(m_width - pt(90));
        m_foot.resize(std::min(m_foot.size(), mostFootLines));
    }

    double top() const { return m_margin + headHeight() + headGap; }
    Area area() const { return {m_width, m_bottom - footHeight() - footGap - top()}; }
    double left() const { return m_margin; }

    Draws around(int page, int of) const
    {
        Draws draws;
        const double line = m_headLook.lineHeight();
        if (const auto icon = iconSvg("tidemark", Tone::Sel))
            draws.emplace_back(DrawSvg{{0, pt(0.5), pt(13), pt(13)}, icon});
        addLines(draws, brandLine().lines(m_width), {pt(18), 0}, pt(14));
        addLines(draws, m_head, {0, m_head.size() > 1 ? 0 : pt(1)}, line, m_width, true);
        draws.emplace_back(DrawRule{{0, headHeight()}, {m_width, headHeight()}, Tone::Line});
        const double foot = m_bottom - m_margin - footHeight();
        draws.emplace_back(DrawRule{{0, foot}, {m_width, foot}, Tone::Line});
        addLines(draws, m_foot, {0, foot + pt(4)}, footLook().lineHeight());
        const std::string number = "page " + std::to_string(page + 1) + " of " + std::to_string(of);
        addLines(draws, RunningText(number, footLook()).lines(m_width), {0, foot + pt(4)},
            footLook().lineHeight(), m_width, true);
        Draws moved;
        addMoved(moved, draws, {m_margin, m_margin});
        return moved;
    }

private:
    static TextLook footLook() { return look::small.sized(74); }
    static RunningText brandLine()
    {
        RunningText brand(std::string("Tidemark"), look::body.sized(100).strong());
        brand.add(std::string(" memory report"), look::small.sized(90));
        return brand;
    }
    double headHeight() const
    {
        return std::max(pt(14), m_headLook.lineHeight() * static_cast<double>(m_head.size())) + pt(7);
    }
    double footHeight() const
    {
        return footLook().lineHeight() * static_cast<double>(std::max<std::size_t>(m_foot.size(), 1)) + pt(4);
    }

    double m_margin;
    double m_width;
    double m_bottom;
    TextLook m_headLook = look::small;
    Lines m_head;
    Lines m_foot;
};

QRectF inPoints(const QRectF& box)
{
    return {box.topLeft() / unitsPerPoint, box.size() / unitsPerPoint};
}

} // namespace

QSizeF paperSize(Paper paper)
{
    return paper == Paper::A4 ? QSizeF(210 * pointsPerMm, 297 * pointsPerMm) : QSizeF(612, 792);
}

PagedReport::PagedReport(Paper paper, std::unique_ptr<const Pages> pages)
    : m_paper(paper)
    , m_pages(std::move(pages))
{ }

PagedReport::~PagedReport() = default;

std::shared_ptr<const PagedReport> PagedReport::layOut(
    const report::Document& document, Paper paper, const Job& job)
{
    const SheetFrame frame(document, paperSize(paper));
    StripMaker maker(frame.area(), job);
    maker.addTitle(document);
    for (const report::Section& section : document.sections) {
        if (job.stopped())
            return nullptr;
        maker.addSection(section);
    }
    auto pages = std::make_unique<Pages>();
    const std::vector<Draws> bodies = flow(maker.strips(), maker.heads(), frame.area().height);
    const int count = static_cast<int>(bodies.size());
    for (int i = 0; i < count; ++i) {
        Draws draws = frame.around(i, count);
        addMoved(draws, bodies[static_cast<std::size_t>(i)], {frame.left(), frame.top()});
        pages->all.push_back(std::move(draws));
    }
    if (job.stopped())
        return nullptr;
    return std::shared_ptr<const PagedReport>(new PagedReport(paper, std::move(pages)));
}

int PagedReport::pageCount() const
{
    return static_cast<int>(m_pages->all.size());
}

void PagedReport::paint(QPainter& painter, int page) const
{
    painter.save();
    painter.scale(1 / unitsPerPoint, 1 / unitsPerPoint);
    paintAll(painter, m_pages->all.at(static_cast<std::size_t>(page)));
    painter.restore();
}

std::vector<PagedReport::PlacedText> PagedReport::texts(int page) const
{
    std::vector<PlacedText> out;
    for (const Draw& draw : m_pages->all.at(static_cast<std::size_t>(page)))
        if (const auto* text = std::get_if<DrawText>(&draw)) {
            const QFontMetricsF metrics(fontOf(text->look));
            out.push_back({inPoints({text->at.x(), text->at.y() - metrics.ascent(), text->width,
                               metrics.ascent() + metrics.descent()}),
                text->text});
        }
    return out;
}

std::vector<QRectF> PagedReport::pictures(int page) const
{
    std::vector<QRectF> out;
    for (const Draw& draw : m_pages->all.at(static_cast<std::size_t>(page))) {
        if (const auto* svg = std::get_if<DrawSvg>(&draw))
            out.push_back(inPoints(svg->box));
        else if (const auto* image = std::get_if<DrawImage>(&draw))
            out.push_back(inPoints(image->box));
    }
    return out;
}

} // namespace tidemark
