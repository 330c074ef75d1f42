// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/details/details_html.hpp"

#include "widgets/style/style.hpp"
#include "widgets/style/text.hpp"

namespace tidemark {

namespace {

constexpr qsizetype longName = 64; ///< characters of a frame's name before it is shortened

QString coloured(const QString& text, const Style& style, Tone tone)
{
    return QStringLiteral("<span style='color:%1'>%2</span>")
        .arg(style.color(tone).name(), text.toHtmlEscaped());
}

QString linked(const QString& text, const QString& link, const Style& style, Tone tone = Tone::Link)
{
    return QStringLiteral("<a href='%1' style='color:%2; text-decoration:none'>%3</a>")
        .arg(link.toHtmlEscaped(), style.color(tone).name(), text.toHtmlEscaped());
}

QString fixed(const QString& html, const Style& style)
{
    const QFont font = style.font(FontRole::Fixed);
    return QStringLiteral("<span style='font-family:\"%1\"; font-size:%2pt'>%3</span>")
        .arg(font.family(), QString::number(font.pointSizeF(), 'f', 2), html);
}

QString heading(const QString& title, const QString& note, const Style& style)
{
    QString html = QStringLiteral("<p style='margin-top:8px; margin-bottom:2px'>")
        + coloured(title, style, Tone::Text2);
    if (!note.isEmpty())
        html += QStringLiteral(" ") + coloured(QStringLiteral("· ") + note, style, Tone::Text2);
    return html + QStringLiteral("</p>");
}

QString factRow(const SheetFact& fact, const Style& style)
{
    QString value = fact.link.isEmpty() ? fact.value.toHtmlEscaped() : linked(fact.value, fact.link, style);
    if (fact.fixed)
        value = fixed(value, style);
    if (!fact.second.isEmpty())
        value += QStringLiteral(" ") + coloured(fact.second, style, Tone::Text2);
    const int width = style.metrics().px(74);
    return QStringLiteral("<tr><td width='%1' style='padding-right:8px'>%2</td><td>%3</td></tr>")
        .arg(QString::number(width), coloured(fact.key, style, Tone::Text2), value);
}

QString tableHtml(const SheetTable& table, const Style& style)
{
    QString html = heading(table.title, table.note, style);
    html += QStringLiteral("<table width='100%' cellspacing='0' cellpadding='1'>");
    if (!table.columns.isEmpty()) {
        html += QStringLiteral("<tr><td></td>");
        for (const QString& column : table.columns)
            html += QStringLiteral("<td align='right' style='padding-left:8px'>")
                + coloured(column, style, Tone::Text2) + QStringLiteral("</td>");
        html += QStringLiteral("</tr>");
    }
    const QFontMetrics metrics(style.font(FontRole::Small));
    for (const SheetTable::Row& row : table.rows) {
        const QString name
            = elidedSite(row.name, metrics, style.metrics().px(table.columns.size() > 2 ? 150 : 220));
        html += QStringLiteral("<tr><td>")
            + (row.link.isEmpty() ? name.toHtmlEscaped() : linked(name, row.link, style))
            + QStringLiteral("</td>");
        for (const QString& figure : row.figures)
            html += QStringLiteral("<td align='right' style='padding-left:8px; white-space:nowrap'>")
                + figure.toHtmlEscaped() + QStringLiteral("</td>");
        html += QStringLiteral("</tr>");
    }
    html += QStringLiteral("</table>");
    if (!table.more.isEmpty())
        html += QStringLiteral("<p style='margin:1px'>") + coloured(table.more, style, Tone::Text2)
            + QStringLiteral("</p>");
    return html;
}

QString frameHtml(const ShownFrame& frame, const QString& place, bool first, bool open, const Style& style)
{
    const bool shortened = frame.name.size() > longName && !open;
    const QString name = shortened
        ? frame.name.left(longName / 2 - 4) + QStringLiteral("…") + frame.name.right(longName / 2)
        : frame.name;
    const Tone tone = frame.framework ? Tone::Text2 : Tone::Text;
    QString html = QStringLiteral("<p style='margin:0 0 1px 0'>");
    const QString link = linked(name, QStringLiteral("frame:") + place, style, tone);
    html += first ? QStringLiteral("<b>") + link + QStringLiteral("</b>") : link;
    if (shortened)
        html += QStringLiteral(" ") + linked(QObject::tr("whole"), QStringLiteral("open:") + place, style);
    if (!frame.place.isEmpty())
        html += QStringLiteral("&nbsp; ") + coloured(open ? frame.path : frame.place, style, Tone::Text2);
    html += QStringLiteral("</p>");
    if (!frame.fx.isEmpty())
        html += QStringLiteral("<p style='margin:0 0 1px 14px'>")
            + coloured(QStringLiteral("FX ") + frame.fx, style, Tone::Info) + QStringLiteral("</p>");
    if (!frame.fxTrace.isEmpty())
        for (const QString& line : frame.fxTrace.split(QLatin1Char('\n')))
            html += QStringLiteral("<p style='margin:0 0 0 14px; white-space:pre-wrap'>")
                + coloured(line, style, Tone::Text2) + QStringLiteral("</p>");
    return html;
}

QString foldHtml(std::size_t frames, const Style& style)
{
    const QString text = QStringLiteral("⋯ ") + countText(static_cast<std::int64_t>(frames))
        + (frames == 1 ? QObject::tr(" framework frame") : QObject::tr(" framework frames"));
    return QStringLiteral("<p style='margin:0 0 1px 0'>")
        + linked(text, QStringLiteral("fold:"), style, Tone::Text2) + QStringLiteral("</p>");
}

QString stackHtml(const SheetStack& stack, int number, const Snapshot& snapshot, const Style& style,
    bool hideFramework, const OpenFrames& open)
{
    QString html;
    std::size_t folded = 0;
    bool first = true;
    int place = 0;
    for (const FrameId id : snapshot.stacks[stack.stack]) {
        const ShownFrame frame = shownFrame(snapshot, id);
        const int here = place++;
        if (hideFramework && frame.framework && frame.fx.isEmpty()) {
            ++folded;
            continue;
        }
        if (folded > 0)
            html += foldHtml(std::exchange(folded, 0), style);
        html += frameHtml(frame, QStringLiteral("%1:%2").arg(number).arg(here), first && !frame.framework,
            open.contains({number, here}), style);
        first = first && frame.framework;
    }
    if (folded > 0)
        html += foldHtml(folded, style);
    return html;
}

} // namespace

FrameCount countFrames(const DetailsSheet& sheet, const Snapshot& snapshot)
{
    FrameCount count;
    for (const SheetStack& stack : sheet.stacks)
        for (const FrameId id : snapshot.stacks[stack.stack]) {
            ++count.all;
            const ShownFrame frame = shownFrame(snapshot, id);
            if (frame.framework && frame.fx.isEmpty())
                ++count.framework;
        }
    return count;
}

QString factsHtml(const DetailsSheet& sheet, const Style& style)
{
    QString html = QStringLiteral("<table cellspacing='0' cellpadding='1'>");
    for (const SheetFact& fact : sheet.facts)
        html += factRow(fact, style);
    html += QStringLiteral("</table>");
    for (const SheetTable& table : sheet.tables)
        html += tableHtml(table, style);
    for (const SheetText& text : sheet.texts) {
        html += heading(text.title, {}, style);
        if (text.text.isEmpty())
            continue;
        for (const QString& line : text.text.split(QLatin1Char('\n')))
            html += QStringLiteral("<p style='margin:0; white-space:pre-wrap'>")
                + fixed(line.toHtmlEscaped(), style) + QStringLiteral("</p>");
    }
    if (!sheet.hint.isEmpty())
        html += QStringLiteral("<p style='margin-top:8px'>") + coloured(sheet.hint, style, Tone::Text2)
            + QStringLiteral("</p>");
    return html;
}

QString stacksHtml(const DetailsSheet& sheet, const Snapshot& snapshot, const Style& style,
    bool hideFramework, const OpenFrames& open)
{
    QString html;
    if (!sheet.noStack.isEmpty())
        html += QStringLiteral("<p style='margin:0'>") + coloured(sheet.noStack, style, Tone::Text)
            + QStringLiteral("</p>");
    for (std::size_t i = 0; i < sheet.stacks.size(); ++i) {
        const SheetStack& stack = sheet.stacks[i];
        // The first one's heading stands beside the check box.
        if (i > 0)
            html += heading(stack.title, stack.note, style);
        else if (!stack.note.isEmpty())
            html += QStringLiteral("<p style='margin:0 0 2px 0'>") + coloured(stack.note, style, Tone::Text2)
                + QStringLiteral("</p>");
        html += fixed(stackHtml(stack, static_cast<int>(i), snapshot, style, hideFramework, open), style);
    }
    return html;
}

} // namespace tidemark
