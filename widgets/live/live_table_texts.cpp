// SPDX-License-Identifier: GPL-3.0-or-later
// What the live table says around its rows: the groupings it offers, its title, its sum, why it is empty.
#include "widgets/common/moment_text.hpp"
#include "widgets/live/live_table_view.hpp"
#include "widgets/style/controls.hpp"
#include "widgets/style/empty_state.hpp"
#include "widgets/style/style.hpp"
#include "widgets/style/text.hpp"

#include <QHBoxLayout>
#include <QLabel>
#include <QStackedLayout>
#include <QToolButton>

#include <algorithm>

namespace tidemark {

namespace {

QString buttonText(GroupBy by)
{
    switch (by) {
    case GroupBy::Site:
        return LiveTableView::tr("Site");
    case GroupBy::Stack:
        return LiveTableView::tr("Stack");
    case GroupBy::Size:
        return LiveTableView::tr("Size class");
    case GroupBy::ExactSize:
        return LiveTableView::tr("Size");
    case GroupBy::Stream:
        return LiveTableView::tr("Stream");
    case GroupBy::Pool:
        return LiveTableView::tr("Pool");
    case GroupBy::Category:
        return LiveTableView::tr("Category");
    case GroupBy::Label:
        return LiveTableView::tr("Module");
    case GroupBy::Role:
        return LiveTableView::tr("Role");
    case GroupBy::None:
        return LiveTableView::tr("Each");
    }
    return {};
}

} // namespace

void LiveTableView::makeGroupButtons()
{
    // Only groupings that part this file's memory: one stream or one pool would be one row.
    m_choices = {GroupBy::Site, GroupBy::Stack, GroupBy::ExactSize};
    if (m_session.labels())
        m_choices = {GroupBy::Site, GroupBy::Label, GroupBy::Role, GroupBy::Stack, GroupBy::ExactSize};
    if (const auto replay = m_session.replay()) {
        if (replay->requestedByStream.size() > 1)
            m_choices.push_back(GroupBy::Stream);
        if (replay->requestedByPool.size() > 1)
            m_choices.push_back(GroupBy::Pool);
        if (!replay->device().events.category.empty())
            m_choices.push_back(GroupBy::Category);
    }
    m_choices.push_back(GroupBy::None);
    if (m_by != GroupBy::Size && std::find(m_choices.begin(), m_choices.end(), m_by) == m_choices.end())
        m_by = GroupBy::Site;
    QStringList texts;
    for (const GroupBy by : m_choices)
        texts << buttonText(by);
    delete m_groups;
    m_groups = new Segmented(m_style, texts, m_footer);
    m_groups->setLogicalHeight(18);
    m_groups->setFont(m_style.font(FontRole::Small));
    m_groups->setAccessibleName(tr("Group by"));
    m_groups->setPartToolTip(
        static_cast<int>(m_choices.size()) - 1, tr("Every allocation on a row of its own"));
    static_cast<QHBoxLayout*>(m_footer->layout())->insertWidget(2, m_groups);
    connect(m_groups, &Segmented::chosen, this,
        [this](int part) { setGroupBy(m_choices[static_cast<std::size_t>(part)]); });
    updateGroupButtons();
}

void LiveTableView::updateGroupButtons()
{
    const bool stacks = hasStacks();
    const GroupBy shown = effectiveGroup();
    for (std::size_t i = 0; i < m_choices.size(); ++i) {
        const int part = static_cast<int>(i);
        if (m_choices[i] == GroupBy::Site || m_choices[i] == GroupBy::Stack) {
            m_groups->setPartEnabled(part, stacks);
            m_groups->setPartToolTip(part, stacks ? QString() : tr("This file has no stacks to group by"));
        }
        if (m_choices[i] == shown)
            m_groups->setCurrent(part);
    }
}

void LiveTableView::updateTitle()
{
    const LiveRows& rows = m_model->rows();
    if (!rows.table) {
        setWindowTitle({});
        return;
    }
    const StateIndex state = rows.table->state;
    QString title = m_atPeak && rows.replay->states() > 1
        ? tr("at the peak, ") + momentText(*rows.replay, state)
        : atMomentText(*rows.replay, state);
    if (m_view.shownFinding())
        title += tr(" · finding shown");
    if (m_view.matches())
        title += tr(" · filtered");
    setWindowTitle(title);
}

QString LiveTableView::sumText() const
{
    return sumText(false);
}

QString LiveTableView::sumText(bool brief) const
{
    const LiveRows& rows = m_model->rows();
    if (!rows.table)
        return {};
    const LiveTable& table = *rows.table;
    const QString noun = table.allocations == 1 ? tr(" allocation, ") : tr(" allocations, ");
    QString text = QStringLiteral("Σ ");
    if (table.filtered)
        text += countText(table.matchedAllocations) + tr(" of ") + countText(table.allocations) + noun
            + partText(table.matchedBytes, table.bytes);
    else
        text += countText(table.allocations) + noun + bytesText(table.bytes);
    const auto difference = static_cast<std::int64_t>(table.bytes) - table.curve;
    const QString curve = brief     ? tr("curve")
        : rows.replay->states() > 1 ? tr("curve ") + atMomentText(*rows.replay, table.state)
                                    : tr("live at the end of the file");
    if (difference == 0)
        return text + QStringLiteral(" = ") + curve;
    return text + QStringLiteral(" ≠ ") + curve + tr(", difference ") + deltaText(difference);
}

void LiveTableView::updateSum()
{
    const LiveRows& rows = m_model->rows();
    if (!rows.table) {
        m_sum->clear();
        return;
    }
    const QString text = sumText();
    m_sum->setToolTip(text);
    m_sum->setAccessibleName(text);
    fitFooter();
}

void LiveTableView::fitFooter()
{
    const LiveRows& rows = m_model->rows();
    if (!rows.table)
        return;
    // The sum matters more than the word before the buttons, and that more than which moment it is.
    const int buttons = m_groups && !m_forPicture ? m_groups->sizeHint().width() : 0;
    const int controls = m_button->parentWidget() == m_footer && !m_forPicture ? m_button->width() : 0;
    const int room = m_footer->width() - buttons - controls - 3 * m_style.metrics().padding;
    QFont strong = m_sum->font();
    strong.setWeight(QFont::DemiBold);
    const QFontMetrics metrics(strong);
    const int whole = metrics.horizontalAdvance(sumText(false));
    m_groupLabel->setVisible(
        !m_forPicture && whole + m_groupLabel->sizeHint().width() + m_style.metrics().padding <= room);
    const QString text = sumText(whole > room);
    const bool wrong = static_cast<std::int64_t>(rows.table->bytes) != rows.table->curve;
    const qsizetype split = text.indexOf(wrong ? QStringLiteral(" ≠ ") : QStringLiteral(" = "));
    const QString colour = m_style.color(wrong ? Tone::Crit : Tone::Text2).name();
    m_sum->setText(QStringLiteral("<b>%1</b><span style='color:%2'>%3</span>")
                       .arg(text.left(split).toHtmlEscaped(), colour, text.mid(split).toHtmlEscaped()));
}

QString LiveTableView::emptyHeading() const
{
    return m_stack->currentWidget() == m_empty ? m_empty->heading() : QString();
}

void LiveTableView::showEmpty()
{
    EmptyState::Content content;
    content.icon = QStringLiteral("table");
    const auto replay = m_session.replay();
    const auto rank = m_session.rank();
    if (!rank) {
        content.heading = tr("Nothing is open");
        content.sentence = tr("Open a memory snapshot to see who holds its memory.");
        content.actions = {{tr("Open another file…"), QStringLiteral("open"),
            [this] { emit m_view.openFileRequested(); }, true}};
    } else if (!replay) {
        content.heading = tr("This kind of file has no single allocations");
        content.sentence = rank->snapshot->categories
            ? tr("A profiler's memory timeline holds bytes per category over time.")
            : tr("It holds neither events nor segments of any device.");
        content.caption = tr("A snapshot lists every allocation with its stack:");
        content.code = EmptyState::recordingLines();
    } else if (m_model->rows().table && m_model->rows().table->allocations > 0) {
        const LiveTable& table = *m_model->rows().table;
        content.heading = table.allocations == 1
            ? tr("The filter hides the only allocation")
            : tr("The filter hides all %1 allocations").arg(countText(table.allocations));
        content.sentence = tr("%1 are live %2, but none matches.")
                               .arg(bytesText(table.bytes), atMomentText(*replay, table.state));
        content.actions = {{tr("Clear filter"), QStringLiteral("clear"),
            [this] {
                emit m_view.searchRequested({});
                m_view.setMatches(nullptr);
            },
            true}};
    } else {
        const StateIndex peak = replay->timeline.requested().total().maxState;
        const std::int64_t most = replay->timeline.requested().total().max;
        const StateIndex here = m_model->rows().table ? m_model->rows().table->state : 0;
        content.heading = tr("Nothing is live here");
        content.sentence = tr("No allocation is alive %1.").arg(atMomentText(*replay, here));
        if (most > 0)
            content.actions = {{tr("Go to the peak"), QStringLiteral("peak"),
                [this, peak] {
                    m_view.pushHistory();
                    m_view.setCursor(peak);
                },
                true}};
    }
    m_empty->setContent(std::move(content));
    m_stack->setCurrentWidget(m_empty);
    updateSum();
    updateTitle();
}

} // namespace tidemark
