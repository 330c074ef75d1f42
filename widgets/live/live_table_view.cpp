// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/live/live_table_view.hpp"

#include "widgets/common/moment_text.hpp"
#include "widgets/live/live_table_delegate.hpp"
#include "widgets/style/controls.hpp"
#include "widgets/style/empty_state.hpp"
#include "widgets/style/style.hpp"
#include "widgets/style/text.hpp"

#include <QElapsedTimer>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QStackedLayout>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace tidemark {

namespace {

constexpr double inlineBudgetMs = 6;
constexpr std::uint32_t inlineRows = 50000;
constexpr std::size_t fewestRows = 4;
/// A table without type-ahead: letters are commands everywhere (help/window.md).
class Table : public QTableView {
public:
    using QTableView::QTableView;
    void keyboardSearch(const QString&) override { }
};

/// Footer ground with a line above.
class Footer : public QWidget {
public:
    explicit Footer(const Style& style, QWidget* parent)
        : QWidget(parent)
        , m_style(style)
    { }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        painter.fillRect(rect(), m_style.color(Tone::Alt));
        painter.setPen(m_style.color(Tone::Line));
        painter.drawLine(0, 0, width(), 0);
    }

private:
    const Style& m_style;
};

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
    case GroupBy::None:
        return LiveTableView::tr("Each");
    }
    return {};
}

} // namespace

/// What a worker needs to make the rows; a value.
struct LiveTableView::Wanted {
    LiveRows rows; ///< without table and order, or with the table when only the order changes
    GroupBy by = GroupBy::Site;
    StateIndex state = 0;
    LiveColumn column = LiveColumn::Live;
    bool descending = true;

    Built make(const Job& job) const
    {
        QElapsedTimer clock;
        clock.start();
        Built built;
        built.rows = rows;
        if (!built.rows.table)
            built.rows.table = std::make_shared<const LiveTable>(buildLiveTable(
                *rows.replay, *rows.grouping, by, state, rows.matches.get(), rows.colouring.get(), job));
        built.rows.order
            = liveOrder(*rows.replay, *built.rows.table, *rows.grouping, column, descending, job);
        built.costMs = static_cast<double>(clock.nsecsElapsed()) / 1e6;
        return built;
    }
};

LiveTableView::LiveTableView(Session& session, ViewState& view, Style& style, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_view(view)
    , m_style(style)
    , m_model(new LiveTableModel(this))
    , m_delegate(new LiveTableDelegate(style, this))
    , m_table(new Table(this))
    , m_empty(new EmptyState(style, this))
    , m_stack(new QStackedLayout)
    , m_footer(new Footer(style, this))
    , m_sum(new QLabel(m_footer))
    , m_groupLabel(new QLabel(tr("group by"), m_footer))
    , m_button(new QToolButton(m_footer))
    , m_menu(new QMenu(m_button))
    , m_task([this](Built&& built) { take(std::move(built)); })
{
    m_table->setModel(m_model);
    m_table->setItemDelegate(m_delegate);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setShowGrid(false);
    m_table->setAlternatingRowColors(true);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setWordWrap(false);
    m_table->setTabKeyNavigation(false);
    m_table->setCornerButtonEnabled(false);
    m_table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_table->setAccessibleName(tr("Live allocations"));
    m_table->setContextMenuPolicy(Qt::CustomContextMenu);
    m_table->installEventFilter(this);
    m_table->viewport()->installEventFilter(this);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    QHeaderView* const header = m_table->horizontalHeader();
    header->setSectionsMovable(true);
    header->setFirstSectionMovable(false);
    header->setSectionsClickable(true);
    header->setHighlightSections(false);
    header->setSortIndicatorShown(true);
    header->setContextMenuPolicy(Qt::CustomContextMenu);
    header->setMinimumSectionSize(36);
    for (const LiveColumn column : {LiveColumn::Oldest, LiveColumn::BlockSize, LiveColumn::Waste,
             LiveColumn::Stream, LiveColumn::Pool, LiveColumn::Address})
        header->hideSection(static_cast<int>(column));

    m_sum->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_sum->setTextFormat(Qt::RichText);
    m_sum->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_groupLabel->setForegroundRole(QPalette::PlaceholderText);
    m_button->setIcon(style.icon(QStringLiteral("more")));
    m_button->setAutoRaise(true);
    connect(m_button, &QToolButton::clicked, this, [this] {
        m_menu->clear();
        fillMenu(*m_menu);
        m_menu->popup(m_button->mapToGlobal(QPoint(0, m_button->height())));
    });
    m_button->setToolTip(tr("Moment and columns of the table"));
    m_button->setAccessibleName(tr("Table menu"));
    auto* const foot = new QHBoxLayout(m_footer);
    foot->addWidget(m_sum, 1);
    foot->addWidget(m_groupLabel);
    foot->addWidget(m_button);

    m_empty->setAutoFillBackground(true);
    m_empty->setBackgroundRole(QPalette::Base);
    m_stack->addWidget(m_table);
    m_stack->addWidget(m_empty);
    auto* const column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(m_stack, 1);
    column->addWidget(m_footer);

    connect(&session, &Session::opened, this, &LiveTableView::reset);
    connect(&session, &Session::deviceChanged, this, &LiveTableView::reset);
    connect(&session, &Session::siteModeChanged, this, &LiveTableView::schedule);
    connect(&style, &Style::changed, this, &LiveTableView::restyle);
    connect(&view, &ViewState::cursorChanged, this, [this] {
        if (!m_atPeak)
            schedule();
    });
    connect(&view, &ViewState::colourByChanged, this, &LiveTableView::schedule);
    connect(&view, &ViewState::matchesChanged, this, [this] {
        if ((m_view.matches() != nullptr) != m_filtered) {
            m_filtered = !m_filtered;
            setColumnWidths();
        }
        schedule();
    });
    connect(&view, &ViewState::selectionChanged, this, &LiveTableView::followSelection);
    connect(header, &QHeaderView::sectionClicked, this, [this](int section) {
        const auto clicked = static_cast<LiveColumn>(section);
        const bool again = clicked == m_sortColumn;
        const bool down = again ? m_sortOrder == Qt::AscendingOrder
                                : !LiveTableModel::isText(clicked) || clicked == LiveColumn::Share;
        sortBy(clicked, down ? Qt::DescendingOrder : Qt::AscendingOrder);
    });
    connect(header, &QHeaderView::customContextMenuRequested, this, [this](QPoint point) {
        QMenu menu(this);
        fillMenu(menu);
        menu.exec(m_table->horizontalHeader()->mapToGlobal(point));
    });
    connect(m_table, &QTableView::customContextMenuRequested, this, &LiveTableView::contextMenu);
    connect(m_table, &QTableView::doubleClicked, this, &LiveTableView::onDoubleClicked);
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this,
        &LiveTableView::onSelectionChanged);
    restyle();
    reset();
}

LiveTableView::~LiveTableView()
{
    // The view's own answers to selection would reach half-destroyed members.
    m_table->selectionModel()->disconnect(this);
}

QWidget* LiveTableView::headerControls() const
{
    return m_button;
}

void LiveTableView::setGroupBy(GroupBy by)
{
    m_by = by;
    updateGroupButtons();
    schedule();
}

void LiveTableView::setAtPeak(bool atPeak)
{
    if (atPeak == m_atPeak)
        return;
    m_atPeak = atPeak;
    schedule();
}

void LiveTableView::setColumnShown(LiveColumn column, bool shown)
{
    m_table->horizontalHeader()->setSectionHidden(static_cast<int>(column), !shown);
    fitKeyColumn();
}

bool LiveTableView::isColumnShown(LiveColumn column) const
{
    return !m_table->horizontalHeader()->isSectionHidden(static_cast<int>(column));
}

void LiveTableView::sortBy(LiveColumn column, Qt::SortOrder order)
{
    m_sortColumn = column;
    m_sortOrder = order;
    showSortOrder();
    schedule();
}

void LiveTableView::setExpanded(bool expanded)
{
    m_expanded = expanded;
    updateLimit();
}

void LiveTableView::reset()
{
    m_task.cancel();
    m_replay = m_session.replay();
    m_hasStacks.reset();
    m_lastCostMs = 0;
    m_expanded = false;
    m_model->clear();
    makeGroupButtons();
    schedule();
}

void LiveTableView::restyle()
{
    const Metrics& metrics = m_style.metrics();
    m_table->verticalHeader()->setMinimumSectionSize(metrics.row);
    m_table->verticalHeader()->setDefaultSectionSize(metrics.row);
    m_table->horizontalHeader()->setFixedHeight(metrics.header);
    m_table->setFont(m_style.font(FontRole::Base));
    m_sum->setFont(m_style.font(FontRole::Small));
    m_groupLabel->setFont(m_style.font(FontRole::Small));
    if (m_groups)
        m_groups->setFont(m_style.font(FontRole::Small));
    m_footer->setFixedHeight(metrics.header);
    m_footer->layout()->setContentsMargins(metrics.padding, 1, metrics.unit, 0);
    m_footer->layout()->setSpacing(metrics.unit);
    m_button->setIconSize(QSize(metrics.smallIcon, metrics.smallIcon));
    m_button->setFixedSize(metrics.px(20), metrics.px(20));
    setColumnWidths();
    updateSum();
    m_table->viewport()->update();
    schedule();
}

void LiveTableView::setColumnWidths()
{
    const Metrics& metrics = m_style.metrics();
    QHeaderView* const header = m_table->horizontalHeader();
    header->setSectionResizeMode(QHeaderView::Interactive);
    constexpr std::array<int, LiveTableModel::columns> widths{240, 84, 118, 60, 74, 104, 84, 84, 96, 92, 124};
    // "1,000 MiB", and with a filter "1,000 MiB of 5.54 GiB", are shown whole.
    const QFontMetrics font(m_style.font(FontRole::Base));
    const int size = font.horizontalAdvance(QStringLiteral("1,023 MiB")) + 2 * metrics.padding;
    const int part = font.horizontalAdvance(QStringLiteral("1,023 MiB of 00.00 GiB")) + 2 * metrics.padding;
    for (std::size_t i = 0; i < widths.size(); ++i) {
        int width = metrics.px(widths[i]);
        if (i == static_cast<std::size_t>(LiveColumn::Live))
            width = std::max(width, m_view.matches() ? part : size);
        else if (i == static_cast<std::size_t>(LiveColumn::Largest))
            width = std::max(width, size);
        header->resizeSection(static_cast<int>(i), width);
    }
    fitKeyColumn();
    showSortOrder();
}

void LiveTableView::fitKeyColumn()
{
    // The names get what the figures leave, but never too little to be read; then the table scrolls sideways.
    QHeaderView* const header = m_table->horizontalHeader();
    int others = 0;
    for (int i = 1; i < LiveTableModel::columns; ++i)
        if (!header->isSectionHidden(i))
            others += header->sectionSize(i);
    const int room = m_table->viewport()->width() - others;
    header->resizeSection(static_cast<int>(LiveColumn::Key), std::max(m_style.metrics().px(150), room));
}

void LiveTableView::showSortOrder()
{
    // The arrow points to where values get smaller, against Qt's habit.
    m_table->horizontalHeader()->setSortIndicator(static_cast<int>(m_sortColumn),
        m_sortOrder == Qt::DescendingOrder ? Qt::AscendingOrder : Qt::DescendingOrder);
}

void LiveTableView::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    if (m_dirty)
        schedule();
}

void LiveTableView::schedule()
{
    m_dirty = true;
    if (m_scheduled)
        return;
    m_scheduled = true;
    QMetaObject::invokeMethod(
        this,
        [this] {
            m_scheduled = false;
            if (m_dirty && isVisible())
                refresh(false);
        },
        Qt::QueuedConnection);
}

void LiveTableView::flush()
{
    refresh(true);
}

void LiveTableView::setForPicture()
{
    m_forPicture = true;
    m_button->hide();
    m_groups->hide();
    m_groupLabel->hide();
    m_table->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
}

bool LiveTableView::hasStacks() const
{
    if (!m_hasStacks) {
        const auto replay = m_session.replay();
        const auto sites = m_session.sites();
        m_hasStacks = false;
        if (replay && sites) {
            const auto& stacks = replay->timeline.allocations().stack;
            m_hasStacks = std::any_of(stacks.begin(), stacks.end(),
                [&](StackId stack) { return valid(stack) && valid(sites->of(stack)); });
        }
    }
    return *m_hasStacks;
}

GroupBy LiveTableView::effectiveGroup() const
{
    return (m_by == GroupBy::Site || m_by == GroupBy::Stack) && !hasStacks() ? GroupBy::ExactSize : m_by;
}

void LiveTableView::makeGroupButtons()
{
    // Only groupings that part this file's memory: one stream or one pool would be one row.
    m_choices = {GroupBy::Site, GroupBy::Stack, GroupBy::ExactSize};
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

void LiveTableView::refresh(bool now)
{
    m_dirty = false;
    const auto replay = m_session.replay();
    if (!replay) {
        m_task.cancel();
        m_model->clear();
        showEmpty();
        return;
    }
    Wanted wanted;
    wanted.by = effectiveGroup();
    wanted.state = m_atPeak ? replay->timeline.requested().total().maxState
                            : std::min(m_view.cursor(), replay->states() - 1);
    wanted.column = m_sortColumn;
    wanted.descending = m_sortOrder == Qt::DescendingOrder;
    wanted.rows.replay = replay;
    wanted.rows.grouping = m_session.grouping(wanted.by == GroupBy::None ? GroupBy::Site : wanted.by);
    wanted.rows.colouring = m_session.colouring(m_view.colourBy());
    wanted.rows.matches = m_view.matches();
    const LiveRows& shown = m_model->rows();
    if (shown.table && shown.replay == replay && shown.grouping == wanted.rows.grouping
        && shown.colouring == wanted.rows.colouring && shown.matches == wanted.rows.matches
        && shown.table->by == wanted.by && shown.table->state == wanted.state)
        wanted.rows.table = shown.table;
    const bool slow = m_lastCostMs > inlineBudgetMs
        || (m_lastCostMs == 0 && replay->timeline.liveCountAt(wanted.state) > inlineRows);
    if (now || !slow) {
        m_task.cancel();
        take(wanted.make({}));
        return;
    }
    m_task.request([wanted](const Job& job) { return wanted.make(job); });
}

void LiveTableView::take(Built&& built)
{
    if (built.rows.replay != m_session.replay())
        return;
    m_lastCostMs = built.costMs;
    m_delegate->setSequential(built.rows.colouring->sequential);
    const int scroll = m_table->verticalScrollBar()->value();
    m_following = true;
    m_model->setRows(std::move(built.rows));
    m_following = false;
    updateLimit();
    m_table->verticalScrollBar()->setValue(scroll);
    const LiveTable& table = *m_model->rows().table;
    if (table.allocations == 0 || (table.filtered && table.matchedAllocations == 0))
        showEmpty();
    else
        m_stack->setCurrentWidget(m_table);
    followSelection();
    updateSum();
    updateTitle();
}

void LiveTableView::updateLimit()
{
    const int row = m_table->verticalHeader()->defaultSectionSize();
    const int height = m_table->viewport()->height();
    const auto fitting = static_cast<std::size_t>(std::max(1, height / std::max(1, row)));
    m_following = true;
    if (m_expanded)
        m_model->setLimit(std::nullopt);
    else
        m_model->setLimit(std::max(fewestRows, fitting > 0 ? fitting - 1 : 0));
    m_following = false;
    followSelection();
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
    if (rows.table->filtered)
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
