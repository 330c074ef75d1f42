// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/live/live_table_view.hpp"

#include "widgets/common/footer.hpp"
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
    , m_refresher(*this, [this] { refresh(false); })
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
    connect(&session, &Session::diagnosisChanged, this, [this] {
        makeGroupButtons();
        schedule();
    });
    connect(&style, &Style::changed, this, &LiveTableView::restyle);
    connect(&view, &ViewState::cursorChanged, this, [this] {
        if (!m_atPeak)
            schedule();
    });
    connect(&view, &ViewState::colourByChanged, this, &LiveTableView::schedule);
    connect(&view, &ViewState::emphasisChanged, this, [this] {
        if ((m_view.emphasis() != nullptr) != m_filtered) {
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
            width = std::max(width, m_view.emphasis() ? part : size);
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
    m_table->horizontalHeader()->setSortIndicator(static_cast<int>(m_sortColumn), m_sortOrder);
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

void LiveTableView::refresh(bool now)
{
    m_refresher.done();
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
    const GroupBy by = wanted.by == GroupBy::None ? GroupBy::Site : wanted.by;
    const LookupWish lookups{{by}, {m_view.colourBy()}};
    if (!now && !m_session.isPrepared(lookups)) {
        m_session.prepare(*this, lookups, [this] { schedule(); });
        return;
    }
    wanted.column = m_sortColumn;
    wanted.descending = m_sortOrder == Qt::DescendingOrder;
    wanted.rows.replay = replay;
    wanted.rows.grouping = m_session.grouping(by);
    wanted.rows.colouring = m_session.colouring(m_view.colourBy());
    wanted.rows.matches = m_view.emphasis();
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
    // A finding fades what does not belong to it; a search without a match says so.
    const bool hidden = table.filtered && table.matchedAllocations == 0 && !m_view.shownFinding();
    if (table.allocations == 0 || hidden)
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

} // namespace tidemark
