// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/playbook/playbook_html.hpp"

#include "widgets/common/severity_look.hpp"
#include "widgets/style/text.hpp"

#include <QCoreApplication>

#include <algorithm>

namespace tidemark {

namespace {

constexpr std::size_t mostFindings = 6; // named one by one in an entry

QString tr(const char* text)
{
    return QCoreApplication::translate("Playbook", text);
}

class Writer {
public:
    Writer(const Diagnosis* diagnosis, const PlaybookFilter& filter, const Style& style, PlaybookText& out)
        : m_diagnosis(diagnosis)
        , m_filter(filter)
        , m_style(style)
        , m_out(out)
    { }

    void section(const PageSection& section)
    {
        QString body;
        int found = 0;
        for (const PageRow& row : section.rows) {
            const RowStatus status = rowStatus(row, m_diagnosis);
            ++m_out.all;
            found += status.kind == RowStatus::Kind::Found;
            m_out.clear += status.kind == RowStatus::Kind::Clear;
            m_out.undecided += status.kind == RowStatus::Kind::CannotDecide;
            if (passes(textOf(row), status.kind == RowStatus::Kind::Found))
                body += entry(row, status);
        }
        for (const PageTable& table : section.tables) {
            ++m_out.all;
            if (passes(textOf(table), false))
                body += measured(table);
        }
        m_out.found += found;
        m_out.foundIn.push_back(found);
        m_out.sectionShown.push_back(!body.isEmpty());
        if (body.isEmpty())
            return;
        m_out.html += QStringLiteral("<a name='%1'></a><p style='margin-top:18px; margin-bottom:4px'>%2</p>")
                          .arg(section.anchor, sized(section.title, FontRole::Title));
        if (!section.intro.isEmpty() && m_filter.words.isEmpty() && !m_filter.foundOnly)
            m_out.html += QStringLiteral("<p style='margin-top:0; margin-bottom:6px'>%1</p>")
                              .arg(coloured(section.intro.toHtmlEscaped(), Tone::Text2));
        m_out.html += body;
    }

private:
    // ---- filter

    static QString textOf(const PageRow& row)
    {
        QString text = row.id + QLatin1Char(' ') + row.title;
        text += QLatin1Char(' ') + row.command;
        for (const PageField& field : row.fields)
            text += QLatin1Char(' ') + field.label + QLatin1Char(' ') + field.text;
        return text;
    }
    static QString textOf(const PageTable& table)
    {
        QString text = table.title + QLatin1Char(' ') + table.columns.join(QLatin1Char(' '));
        for (const PageField& field : table.context)
            text += QLatin1Char(' ') + field.text;
        for (const QStringList& row : table.rows)
            text += QLatin1Char(' ') + row.join(QLatin1Char(' '));
        return text;
    }
    bool passes(const QString& text, bool found)
    {
        if (m_filter.foundOnly && !found)
            return false;
        const bool all = std::all_of(m_filter.words.begin(), m_filter.words.end(),
            [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
        m_out.shown += all;
        return all;
    }

    // ---- pieces

    QString coloured(const QString& html, Tone tone) const
    {
        return QStringLiteral("<span style='color:%1'>%2</span>").arg(m_style.color(tone).name(), html);
    }
    QString sized(const QString& text, FontRole role) const
    {
        const QFont font = m_style.font(role);
        return QStringLiteral("<span style='font-size:%1pt; font-weight:600'>%2</span>")
            .arg(QString::number(font.pointSizeF(), 'f', 2), text.toHtmlEscaped());
    }
    QString fixed(const QString& html) const
    {
        const QFont font = m_style.font(FontRole::Fixed);
        return QStringLiteral("<span style='font-family:\"%1\"; font-size:%2pt'>%3</span>")
            .arg(font.family(), QString::number(font.pointSizeF(), 'f', 2), html);
    }
    QString link(const QString& target, const QString& html) const
    {
        return QStringLiteral("<a href='%1' style='color:%2; text-decoration:underline'>%3</a>")
            .arg(target, m_style.color(Tone::Link).name(), html);
    }
    QString icon(const QString& name) const
    {
        const int side = m_style.metrics().smallIcon;
        return QStringLiteral("<img src='icon:%1' width='%2' height='%2'>").arg(name).arg(side);
    }
    /// Escaped, with the searched words on a ground of their own.
    QString marked(const QString& text) const
    {
        std::vector<bool> hit(static_cast<std::size_t>(text.size()), false);
        for (const QString& word : m_filter.words)
            for (qsizetype at = text.indexOf(word, 0, Qt::CaseInsensitive); at >= 0;
                 at = text.indexOf(word, at + word.size(), Qt::CaseInsensitive))
                std::fill_n(hit.begin() + at, word.size(), true);
        QString html;
        for (qsizetype i = 0; i < text.size();) {
            qsizetype end = i;
            while (
                end < text.size() && hit[static_cast<std::size_t>(end)] == hit[static_cast<std::size_t>(i)])
                ++end;
            const QString part = text.mid(i, end - i).toHtmlEscaped();
            html += !hit[static_cast<std::size_t>(i)]
                ? part
                : QStringLiteral("<span style='background-color:%1; color:%2'>%3</span>")
                      .arg(m_style.color(Tone::Sel).name(), m_style.color(Tone::SelText).name(), part);
            i = end;
        }
        return html;
    }

    // ---- entries

    static Tone groundOf(Severity severity)
    {
        return severity == Severity::Critical ? Tone::CritBg
            : severity == Severity::Warning   ? Tone::WarnBg
                                              : Tone::InfoBg;
    }
    QString iconOf(const RowStatus& status) const
    {
        switch (status.kind) {
        case RowStatus::Kind::Found:
            return icon(severityIcon(status.severity));
        case RowStatus::Kind::CannotDecide:
            return icon(QStringLiteral("sev-unknown"));
        case RowStatus::Kind::Clear:
            return icon(QStringLiteral("sev-ok"));
        case RowStatus::Kind::Unasked:
            break;
        }
        return {};
    }
    QString fieldsHtml(const std::vector<PageField>& fields, Tone tone) const
    {
        if (fields.empty())
            return {};
        QString html = QStringLiteral("<table cellspacing='0' cellpadding='0' style='margin-top:2px'>");
        const int width = m_style.metrics().px(92);
        for (const PageField& field : fields) {
            const QString value = field.code ? fixed(marked(field.text)) : marked(field.text);
            html += QStringLiteral("<tr><td width='%1' style='padding-right:8px'>%2</td><td>%3</td></tr>")
                        .arg(width)
                        .arg(coloured(field.label.toHtmlEscaped(), Tone::Text2), coloured(value, tone));
        }
        return html + QStringLiteral("</table>");
    }
    QString foundLine(std::size_t i) const
    {
        const Finding& finding = m_diagnosis->findings[i];
        const QString text = tr("found here: %1").arg(bytesText(finding.bytes)).toHtmlEscaped();
        QString html = severityWord(finding.severity).toHtmlEscaped() + QStringLiteral(" · ")
            + link(QStringLiteral("finding:%1").arg(i), text);
        if (!finding.title.empty())
            html += QStringLiteral(" · ") + shownText(finding.title).toHtmlEscaped();
        return html;
    }
    QString statusHtml(const RowStatus& status) const
    {
        QStringList lines;
        switch (status.kind) {
        case RowStatus::Kind::Found:
            for (std::size_t k = 0; k < status.findings.size() && k < mostFindings; ++k)
                lines << foundLine(status.findings[k]);
            if (status.findings.size() > mostFindings)
                lines << tr("%1 more of the same").arg(status.findings.size() - mostFindings);
            for (const std::size_t i : status.checks) {
                const ConfigCheck& check = m_diagnosis->checks[i];
                lines << tr("found in the settings: %1").arg(shownText(check.text)).toHtmlEscaped();
            }
            break;
        case RowStatus::Kind::CannotDecide:
            lines
                << tr("cannot decide: needs %1").arg(status.needs.join(QStringLiteral("; "))).toHtmlEscaped();
            break;
        case RowStatus::Kind::Clear:
            lines << tr("looked for, not found").toHtmlEscaped();
            break;
        case RowStatus::Kind::Unasked:
            return {};
        }
        const Tone tone = status.kind == RowStatus::Kind::Found ? severityTextTone(status.severity)
            : status.kind == RowStatus::Kind::Clear             ? Tone::Ok
                                                                : Tone::Unknown;
        return QStringLiteral("<p style='margin-top:3px; margin-bottom:0'>%1</p>")
            .arg(coloured(lines.join(QStringLiteral("<br>")), tone));
    }
    /// The estimate from the settings beside what the recording has.
    QString expectationHtml() const
    {
        if (!m_diagnosis || !m_diagnosis->expectation)
            return {};
        const Expectation& e = *m_diagnosis->expectation;
        QString html = QStringLiteral("<table cellspacing='0' cellpadding='2' style='margin-top:4px'>");
        const auto line
            = [&](const QString& name, const QString& expected, const QString& measured, Tone tone) {
                  html += QStringLiteral("<tr><td style='padding-right:12px'>%1</td><td align='right' "
                                         "style='padding-right:12px'>%2</td><td align='right'>%3</td></tr>")
                              .arg(coloured(name.toHtmlEscaped(), tone), coloured(expected, tone),
                                  coloured(measured, tone));
              };
        line(tr("of the open run"), tr("expected"), tr("at the peak"), Tone::Text2);
        for (const ExpectedClass& each : e.classes)
            line(shownText(each.name),
                each.low == each.high ? bytesText(each.high)
                                      : tr("%1 to %2").arg(bytesText(each.low), bytesText(each.high)),
                bytesText(each.measured), Tone::Text);
        line(tr("in no class of the estimate"), QStringLiteral("–"), bytesText(e.otherMeasured), Tone::Text);
        line(tr("live"), {}, bytesText(e.live), Tone::Text);
        html += QStringLiteral("</table>");
        if (std::any_of(e.classes.begin(), e.classes.end(),
                [](const ExpectedClass& each) { return each.low != each.high; }))
            html += note(
                tr("Ranges are over the pipeline stages: settings do not tell which one this rank is."));
        if (e.activationsAreUpperBound)
            html += note(tr("Recompute or offloading is on: activations are an upper bound."));
        return html;
    }
    QString note(const QString& text) const
    {
        return QStringLiteral("<p style='margin-top:2px; margin-bottom:0'>%1</p>")
            .arg(coloured(text.toHtmlEscaped(), Tone::Text2));
    }
    QString entry(const PageRow& row, const RowStatus& status)
    {
        const bool lit = !m_diagnosis || status.kind == RowStatus::Kind::Found;
        const Tone tone = lit ? Tone::Text : Tone::Text2;
        QString title = marked(row.title);
        title = lit ? QStringLiteral("<b>%1</b>").arg(title) : title;
        if (!row.id.isEmpty())
            title = QStringLiteral("<b>%1</b>&nbsp;&nbsp;").arg(marked(row.id)) + title;
        const QString ground = status.kind == RowStatus::Kind::Found
            ? QStringLiteral(" bgcolor='%1'").arg(m_style.color(groundOf(status.severity)).name())
            : QString();
        const Metrics& m = m_style.metrics();
        return QStringLiteral(
            "<table width='100%' cellspacing='0' cellpadding='%2' style='margin-bottom:2px'>"
            "<tr><td%3 width='%4' valign='top'>%5</td>"
            "<td%3><a name='row-%1'></a>%6%7%8%9</td></tr></table>")
            .arg(row.id)
            .arg(m.px(4))
            .arg(ground)
            .arg(m.px(20))
            .arg(iconOf(status), coloured(title, tone), fieldsHtml(row.fields, tone),
                row.command.isEmpty() ? QString() : commandBox(row.command),
                statusHtml(status) + (row.id == QLatin1String("D3") ? expectationHtml() : QString()));
    }

    // ---- tables and commands

    QString measured(const PageTable& table) const
    {
        const auto align = [&](std::size_t c) {
            return c < table.figures.size() && table.figures[c] ? QStringLiteral(" align='right'")
                                                                : QString();
        };
        QString html = QStringLiteral("<p style='margin-top:10px; margin-bottom:2px'><b>%1</b></p>")
                           .arg(marked(table.title));
        html += fieldsHtml(table.context, Tone::Text);
        html += QStringLiteral("<table border='1' cellspacing='0' cellpadding='%1' "
                               "style='border-collapse:collapse; border-color:%2; margin-top:4px; "
                               "margin-bottom:8px'><tr bgcolor='%3'>")
                    .arg(m_style.metrics().px(3))
                    .arg(m_style.color(Tone::Line2).name(), m_style.color(Tone::Head).name());
        for (int c = 0; c < table.columns.size(); ++c)
            html += QStringLiteral("<td%1><b>%2</b></td>")
                        .arg(align(static_cast<std::size_t>(c)), marked(table.columns[c]));
        html += QStringLiteral("</tr>");
        for (const QStringList& row : table.rows) {
            html += QStringLiteral("<tr>");
            for (int c = 0; c < row.size(); ++c)
                html += QStringLiteral("<td%1>%2</td>")
                            .arg(align(static_cast<std::size_t>(c)), marked(row[c]));
            html += QStringLiteral("</tr>");
        }
        return html + QStringLiteral("</table>");
    }
    QString commandBox(const QString& command)
    {
        const qsizetype place = m_out.commands.size();
        m_out.commands << command;
        QString lines = marked(command);
        lines.replace(QLatin1Char('\n'), QStringLiteral("<br>"));
        return QStringLiteral(
            "<table width='100%' cellspacing='0' cellpadding='%1' style='margin-bottom:4px'>"
            "<tr><td bgcolor='%2'>%3</td><td bgcolor='%2' width='%4' valign='top' "
            "align='right'>%5</td></tr></table>")
            .arg(m_style.metrics().px(5))
            .arg(m_style.color(Tone::Alt).name(), fixed(lines))
            .arg(m_style.metrics().px(54))
            .arg(link(QStringLiteral("copy:%1").arg(place), tr("Copy")));
    }

    const Diagnosis* m_diagnosis;
    const PlaybookFilter& m_filter;
    const Style& m_style;
    PlaybookText& m_out;
};

} // namespace

PlaybookText playbookText(
    const PlaybookPage& page, const Diagnosis* diagnosis, const PlaybookFilter& filter, const Style& style)
{
    PlaybookText out;
    Writer writer(diagnosis, filter, style, out);
    for (const PageSection& section : page.sections)
        writer.section(section);
    if (out.html.isEmpty() && out.all > 0) {
        const QString what = filter.words.isEmpty()
            ? tr("Nothing of the playbook was found in the open run.")
            : tr("Nothing in the playbook has all of: %1").arg(filter.words.join(QStringLiteral(", ")));
        out.html
            = QStringLiteral("<p style='margin-top:18px'>%1 <a href='clear:' style='color:%2'>%3</a></p>")
                  .arg(what.toHtmlEscaped(), style.color(Tone::Link).name(), tr("Show everything"));
    }
    return out;
}

} // namespace tidemark
