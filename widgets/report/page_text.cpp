// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/report/page_text.hpp"

#include <QFontMetricsF>
#include <QTextOption>

#include <algorithm>

namespace tidemark::page {

namespace {

/// Marks where long names may break; never drawn.
constexpr QChar breakHere(0x200b);
/// Names shorter than this are kept whole where they can be.
constexpr qsizetype longName = 14;

bool endsPart(QChar c)
{
    return QStringLiteral("/@_.:,;=-\\|+&?").contains(c);
}

/// The text with marks after signs inside of long words.
QString breakable(const QString& text)
{
    QString out;
    out.reserve(text.size() + 16);
    qsizetype from = 0;
    while (from < text.size()) {
        qsizetype end = from;
        while (end < text.size() && !text[end].isSpace())
            ++end;
        const bool lengthy = end - from > longName;
        for (qsizetype i = from; i < end; ++i) {
            out += text[i];
            // A sign at the very end is no place: the line would end there anyway.
            if (lengthy && i > from && i + 1 < end && endsPart(text[i]) && !endsPart(text[i + 1]))
                out += breakHere;
        }
        for (; end < text.size() && text[end].isSpace(); ++end)
            out += text[end].category() == QChar::Separator_Space ? text[end] : QLatin1Char(' ');
        from = end;
    }
    return out;
}

} // namespace

QFont fontOf(const TextLook& look)
{
    static const QStringList sans{QStringLiteral("Noto Sans"), QStringLiteral("DejaVu Sans"),
        QStringLiteral("Segoe UI"), QStringLiteral("Helvetica Neue"), QStringLiteral("Arial")};
    static const QStringList mono{QStringLiteral("Noto Sans Mono"), QStringLiteral("DejaVu Sans Mono"),
        QStringLiteral("Menlo"), QStringLiteral("Consolas"), QStringLiteral("Courier New")};
    QFont font;
    font.setFamilies(look.fixed ? mono : sans);
    font.setStyleHint(look.fixed ? QFont::Monospace : QFont::SansSerif);
    font.setPixelSize(look.size);
    font.setWeight(look.bold ? QFont::DemiBold : QFont::Normal);
    font.setHintingPreference(QFont::PreferNoHinting);
    // Next to nothing, but letters are not joined: who searches a PDF for "file" finds it. A share, since a
    // length would be scaled by the device.
    font.setLetterSpacing(QFont::PercentageSpacing, 100.02);
    return font;
}

RunningText& RunningText::add(const std::string& text, const TextLook& look)
{
    const QString piece = breakable(QString::fromStdString(text));
    if (piece.isEmpty())
        return *this;
    m_pieces.push_back({static_cast<int>(m_text.size()), static_cast<int>(piece.size()), look});
    m_text += piece;
    return *this;
}

RunningText& RunningText::add(const report::Text& text, const TextLook& look)
{
    for (const report::Span& span : text.spans) {
        TextLook own = look;
        switch (span.style) {
        case report::Span::Style::Plain:
            break;
        case report::Span::Style::Strong:
            own.bold = true;
            break;
        case report::Span::Style::Code:
            own.fixed = true;
            own.size = static_cast<int>(look.size * 0.92);
            break;
        case report::Span::Style::Muted:
            own.tone = look.tone == Tone::Text ? Tone::Text2 : look.tone;
            break;
        }
        add(span.text, own);
    }
    return *this;
}

void RunningText::prepare(QTextLayout& layout) const
{
    QList<QTextLayout::FormatRange> formats;
    for (const Piece& piece : m_pieces) {
        QTextLayout::FormatRange range;
        range.start = piece.from;
        range.length = piece.length;
        range.format.setFont(fontOf(piece.look));
        formats << range;
    }
    QTextOption option;
    option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    layout.setTextOption(option);
    layout.setText(m_text);
    layout.setFont(fontOf(m_pieces.front().look));
    layout.setFormats(formats);
}

Lines RunningText::lines(double width) const
{
    if (empty())
        return {};
    QTextLayout layout;
    prepare(layout);
    Lines out;
    layout.beginLayout();
    for (QTextLine line = layout.createLine(); line.isValid(); line = layout.createLine())
        line.setLineWidth(std::max(width, 1.0));
    layout.endLayout();
    for (int i = 0; i < layout.lineCount(); ++i) {
        const QTextLine line = layout.lineAt(i);
        Line made;
        const int first = line.textStart();
        const int last = first + line.textLength();
        for (const Piece& piece : m_pieces) {
            const int from = std::max(first, piece.from);
            int to = std::min(last, piece.from + piece.length);
            while (to > from && to == last && m_text[to - 1].isSpace() && m_text[to - 1] != QChar(0x00a0))
                --to;
            if (from >= to)
                continue;
            const double a = line.cursorToX(from);
            const double b = line.cursorToX(to);
            QString text = m_text.mid(from, to - from);
            text.remove(breakHere);
            if (text.isEmpty())
                continue;
            made.runs.push_back({std::min(a, b), std::abs(b - a), std::move(text), piece.look});
            made.width = std::max(made.width, std::max(a, b));
        }
        out.push_back(std::move(made));
    }
    return out;
}

double RunningText::advance(int from, int length) const
{
    double sum = 0;
    for (const Piece& piece : m_pieces) {
        const int a = std::max(from, piece.from);
        const int b = std::min(from + length, piece.from + piece.length);
        if (a < b)
            sum += QFontMetricsF(fontOf(piece.look))
                       .horizontalAdvance(m_text.mid(a, b - a).remove(breakHere));
    }
    return sum;
}

double RunningText::naturalWidth() const
{
    return advance(0, static_cast<int>(m_text.size()));
}

double RunningText::widestWord() const
{
    double most = 0;
    int from = 0;
    for (int i = 0; i <= m_text.size(); ++i) {
        const bool ends = i == m_text.size() || m_text[i] == breakHere
            || (m_text[i].isSpace() && m_text[i] != QChar(0x00a0) && m_text[i] != QChar(0x202f));
        if (!ends)
            continue;
        if (i > from)
            most = std::max(most, advance(from, i - from));
        from = i + 1;
    }
    return most;
}

} // namespace tidemark::page
