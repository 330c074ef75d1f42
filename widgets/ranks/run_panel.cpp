// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/ranks/run_panel.hpp"

#include "widgets/common/severity_look.hpp"
#include "widgets/common/wrapped_label.hpp"
#include "widgets/common/wrapping_row.hpp"
#include "widgets/style/text.hpp"

#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>
#include <cstdlib>

namespace tidemark {

namespace {

/// Settings are long words: they may break behind their signs.
QString breakable(QString text)
{
    constexpr QChar mayBreak(0x200b);
    const QString signs = QStringLiteral("=:_./@");
    for (qsizetype i = text.size() - 2; i > 0; --i) // figures stay whole
        if (signs.contains(text[i]) && text[i + 1].isLetter() && !text[i - 1].isDigit())
            text.insert(i + 1, mayBreak);
    return text;
}

} // namespace

RunPanel::RunPanel(Style& style, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
    , m_headline(new QLabel(this))
    , m_scroll(new QScrollArea(this))
{
    setAccessibleName(tr("Findings of the whole run"));
    m_headline->setWordWrap(true);
    m_headline->setMargin(style.metrics().padding);
    m_headline->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setWidgetResizable(true);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_headline);
    column->addWidget(m_scroll, 1);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    connect(&style, &Style::changed, this, &RunPanel::fill);
}

void RunPanel::setJob(std::shared_ptr<const SummarisedJob> job)
{
    m_job = std::move(job);
    fill();
}

void RunPanel::setProgress(std::size_t done, std::size_t total)
{
    m_headline->show();
    m_headline->setText(tr("Reading rank %1 of %2; rules over all ranks run when the last one is there.")
                            .arg(countText(static_cast<std::uint64_t>(std::min(done + 1, total))),
                                countText(static_cast<std::uint64_t>(total))));
}

QString RunPanel::headline() const
{
    return m_headline->text();
}

QString RunPanel::plainText() const
{
    return m_lines.join(QLatin1Char('\n'));
}

std::optional<std::size_t> RunPanel::peerOf(std::size_t rank) const
{
    const RoleMap& map = m_job->diagnosis.roles;
    if (rank >= map.roles.size())
        return std::nullopt;
    for (const std::size_t other : map.groups[map.roles[rank].group].members)
        if (other != rank && !m_job->ranks[other].oom && !m_job->ranks[other].fromDigest)
            return other;
    return std::nullopt;
}

void RunPanel::addFinding(const Finding& finding)
{
    auto* card = new QWidget;
    auto* row = new QHBoxLayout(card);
    const int pad = m_style.metrics().padding;
    row->setContentsMargins(pad, pad / 2, pad, pad / 2);
    auto* icon = new QLabel(card);
    icon->setPixmap(m_style.pixmap(severityIcon(finding.severity), severityShapeTone(finding.severity),
        m_style.metrics().icon, devicePixelRatioF()));
    icon->setAccessibleName(severityWord(finding.severity));
    icon->setToolTip(severityWord(finding.severity));
    row->addWidget(icon, 0, Qt::AlignTop);
    auto* texts = new QVBoxLayout;
    texts->setSpacing(2);
    const auto add = [&](const QString& text, FontRole role, Tone tone) {
        auto* label = new WrappedLabel(card);
        label->setFont(m_style.font(role));
        label->showText(breakable(text));
        QPalette palette = label->palette();
        palette.setColor(QPalette::WindowText, m_style.color(tone));
        label->setPalette(palette);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        texts->addWidget(label);
        m_lines << text;
    };
    add(shownText(finding.title), FontRole::Strong, Tone::Text);
    add(shownText(finding.rule)
            + (finding.playbook.empty() ? QString() : QStringLiteral(" · ") + shownText(finding.playbook))
            + QStringLiteral(" · ") + bytesText(finding.bytes),
        FontRole::Small, Tone::Text2);
    if (!finding.explanation.empty())
        add(shownText(finding.explanation), FontRole::Base, Tone::Text);
    for (const Fix& fix : finding.fixes)
        add(QStringLiteral("→ ") + shownText(fix.text), FontRole::Base, Tone::Text);
    std::optional<std::size_t> which;
    for (std::size_t i = 0; finding.rank && i < m_job->ranks.size(); ++i)
        if (m_job->ranks[i].rank == finding.rank)
            which = i;
    if (which) {
        auto* buttons = new WrappingRow(m_style.metrics().px(6));
        auto* open = new QPushButton(tr("Open rank %1").arg(*finding.rank), card);
        connect(open, &QPushButton::clicked, this, [this, rank = *which] { emit openRequested(rank); });
        buttons->addWidget(open);
        if (const auto peer = peerOf(*which)) {
            auto* compare
                = new QPushButton(tr("Compare with %1").arg(shownText(m_job->ranks[*peer].name())), card);
            connect(compare, &QPushButton::clicked, this,
                [this, rank = *which, other = *peer] { emit compareRequested(rank, other); });
            buttons->addWidget(compare);
        }
        texts->addLayout(buttons);
    }
    row->addLayout(texts, 1);
    m_column->addWidget(card);
}

void RunPanel::fill()
{
    auto* page = new QWidget;
    page->setBackgroundRole(QPalette::Base);
    m_column = new QVBoxLayout(page);
    m_column->setContentsMargins(0, 0, 0, 0);
    m_column->setSpacing(2);
    m_lines.clear();
    m_headline->setFont(m_style.font(FontRole::Strong));
    if (m_job) {
        m_headline->setText(shownText(m_job->diagnosis.headline(m_job->ranks)));
        // Where one finding is all there is to say, it says so itself.
        const bool same = !m_job->diagnosis.findings.empty()
            && m_headline->text() == shownText(m_job->diagnosis.findings.front().title);
        m_headline->setVisible(!same);
        if (!same)
            m_lines << m_headline->text();
        for (const Finding& finding : m_job->diagnosis.findings)
            addFinding(finding);
        const auto small = [&](const QString& text) {
            auto* label = new WrappedLabel(page);
            label->setFont(m_style.font(FontRole::Small));
            label->showText(breakable(text));
            // A margin of the label's own would not count in its height.
            auto* row = new QHBoxLayout;
            const int pad = m_style.metrics().padding;
            row->setContentsMargins(pad, pad / 2, pad, pad / 2);
            row->addWidget(label);
            m_column->addLayout(row);
            m_lines << text;
        };
        for (const QualityNote& note : m_job->diagnosis.quality)
            small(shownText(note.sentence));
        constexpr std::size_t mostNamed = 4;
        const auto several = m_job->job.supersededSentences();
        for (std::size_t i = 0; i < std::min(several.size(), mostNamed); ++i)
            small(shownText(several[i]));
        if (several.size() > mostNamed)
            small(tr("%1 more ranks have several files; a tooltip on the rank names them.")
                      .arg(countText(static_cast<std::uint64_t>(several.size() - mostNamed))));
        if (!m_job->diagnosis.roles.sentence.empty())
            small(shownText(m_job->diagnosis.roles.sentence));
        for (const Undecided& each : m_job->diagnosis.undecided)
            small(tr("%1 could not decide: %2").arg(shownText(each.rule), shownText(each.needs)));
    }
    m_column->addStretch(1);
    m_scroll->setWidget(page);
}

} // namespace tidemark
