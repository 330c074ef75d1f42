// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/compare/what_changed.hpp"

#include "widgets/style/text.hpp"

#include <QScrollBar>

namespace tidemark {

using compare::CommonGroup;
using compare::Comparison;
using compare::FindingChange;
using compare::SettingChange;
using compare::VerdictPart;

namespace {

constexpr std::size_t mostEqual = 40;

QString escaped(const std::string& text)
{
    return shownText(text).toHtmlEscaped();
}

QString signedBytes(std::int64_t bytes)
{
    if (bytes == 0)
        return QStringLiteral("0 B");
    return (bytes > 0 ? QStringLiteral("+") : QString()) + exactBytesText(bytes);
}

} // namespace

WhatChanged::WhatChanged(CompareState& state, Style& style, QWidget* parent)
    : QTextBrowser(parent)
    , m_state(state)
    , m_style(style)
{
    setOpenLinks(false);
    setFrameShape(QFrame::NoFrame);
    document()->setDocumentMargin(style.metrics().padding);
    setAccessibleName(tr("What changed"));
    connect(this, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) {
        if (link.scheme() == QStringLiteral("group"))
            m_state.setGroup(link.path().toUInt());
    });
    connect(&state, &CompareState::changed, this, &WhatChanged::refresh);
    connect(&style, &Style::changed, this, &WhatChanged::refresh);
}

QSize WhatChanged::sizeHint() const
{
    return {m_style.metrics().rightDock, m_style.metrics().px(300)};
}

QString WhatChanged::colour(Tone tone) const
{
    return m_style.color(tone).name();
}

void WhatChanged::refresh()
{
    const auto comparison = m_state.comparison();
    if (!comparison) {
        clear();
        return;
    }
    document()->setDefaultFont(m_style.font(FontRole::Base));
    document()->setDefaultStyleSheet(
        QStringLiteral("body{color:%1} a{color:%2;text-decoration:none} .second{color:%3} td{padding:1px 0} "
                       "h3{font-size:medium;margin:10px 0 2px 0} p{margin:2px 0 4px 0}")
            .arg(colour(Tone::Text), colour(Tone::Link), colour(Tone::Text2)));
    const int at = verticalScrollBar()->value();
    setHtml(verdicts(*comparison) + findings(*comparison) + settings(*comparison) + notes(*comparison));
    verticalScrollBar()->setValue(at);
}

QString WhatChanged::verdicts(const Comparison& comparison) const
{
    QString html;
    for (const compare::Verdict& verdict : comparison.verdicts) {
        const Tone tone
            = verdict.severity == Severity::Info ? (verdict.better ? Tone::Shrank : Tone::Text) : Tone::Grew;
        html += QStringLiteral("<h3 style='color:%1'>%2</h3>").arg(colour(tone), escaped(verdict.title));
        if (!verdict.detail.empty())
            html += QStringLiteral("<p class='second'>%1</p>").arg(escaped(verdict.detail));
        if (verdict.parts.empty())
            continue;
        html += QStringLiteral("<table width='100%' cellspacing='0'>");
        for (const VerdictPart& part : verdict.parts) {
            const QString text = part.group == CommonGroup::none
                ? escaped(part.text)
                : QStringLiteral("<a href='group:%1'>%2</a>").arg(part.group).arg(escaped(part.text));
            html += QStringLiteral("<tr><td>%1</td><td align='right'>&nbsp;%2</td></tr>")
                        .arg(text, signedBytes(part.bytes));
        }
        html += QStringLiteral("<tr><td><b>%1</b></td><td align='right'><b>&nbsp;%2</b></td></tr></table>")
                    .arg(tr("Sum"), signedBytes(verdict.sum));
    }
    return html;
}

QString WhatChanged::findings(const Comparison& comparison) const
{
    if (comparison.findings.empty())
        return {};
    QString rows;
    for (const FindingChange& change : comparison.findings) {
        const QString where = !change.inA ? tr("new in B") : !change.inB ? tr("gone in B") : tr("in both");
        const QString bytes = change.inA && change.inB
            ? (change.delta() == 0 ? tr("the same") : deltaText(change.delta()))
            : bytesText(change.inA ? change.bytesA : change.bytesB);
        rows += QStringLiteral("<p>%1<br><span class='second'>%2 · %3 · %4</span></p>")
                    .arg(escaped(change.title), where, escaped(change.rule), bytes);
    }
    return QStringLiteral("<h3>%1</h3>%2").arg(tr("Findings"), rows);
}

QString WhatChanged::settings(const Comparison& comparison) const
{
    const compare::SettingChanges& changes = comparison.settings;
    const auto value
        = [](const std::optional<std::string>& text) { return text ? escaped(*text) : tr("not said"); };
    QString html = QStringLiteral("<h3>%1</h3>").arg(tr("Settings that differ"));
    if (changes.differing.empty())
        html += QStringLiteral("<p class='second'>%1</p>")
                    .arg(changes.equal.empty() ? tr("Neither side says anything of its settings.")
                                               : tr("None."));
    for (const SettingChange& each : changes.differing)
        html += QStringLiteral("<p><code>%1</code><br>%2 → <b>%3</b></p>")
                    .arg(escaped(each.key), value(each.a), value(each.b));
    if (!changes.equal.empty()) {
        html += QStringLiteral("<h3>%1</h3><p class='second'>").arg(tr("The same in both"));
        for (std::size_t i = 0; i < changes.equal.size() && i < mostEqual; ++i)
            html += QStringLiteral("<code>%1</code> %2<br>")
                        .arg(escaped(changes.equal[i].key), value(changes.equal[i].a));
        if (changes.equal.size() > mostEqual)
            html += tr("and %1 more").arg(changes.equal.size() - mostEqual);
        html += QStringLiteral("</p>");
    }
    for (const std::string& note : changes.notes)
        html += QStringLiteral("<p class='second'>%1</p>").arg(escaped(note));
    return html;
}

QString WhatChanged::notes(const Comparison& comparison) const
{
    QString html = QStringLiteral("<h3>%1</h3><p>%2</p><p class='second'>%3</p>")
                       .arg(tr("How they are compared"), escaped(comparison.alignment.explanation()),
                           escaped(comparison.matching->rule()));
    if (m_state.table())
        html += QStringLiteral("<p class='second'>%1</p>").arg(escaped(m_state.table()->matchedText()));
    for (const compare::Unmatched& each : comparison.alignment.unmatched())
        html += QStringLiteral("<p class='second'>%1</p>").arg(escaped(each.reason));
    for (const std::string& note : comparison.notes)
        html += QStringLiteral("<p class='second'>%1</p>").arg(escaped(note));
    return html;
}

} // namespace tidemark
