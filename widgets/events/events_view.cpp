// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/events/events_view.hpp"

#include "widgets/common/copy_table.hpp"
#include "widgets/common/moment_text.hpp"
#include "widgets/common/site_term.hpp"
#include "widgets/live/live_table_delegate.hpp"
#include "widgets/style/empty_state.hpp"
#include "widgets/style/style.hpp"
#include "widgets/style/text.hpp"

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QStackedLayout>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace tidemark {

namespace {

/// More rows than this are not copied at once.
constexpr qsizetype mostCopied = 100000;

} // namespace

EventsView::EventsView(Session& session, ViewState& state, Style& style, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_state(state)
    , m_style(style)
    , m_model(new EventsModel(this))
    , m_delegate(new LiveTableDelegate(style, this))
    , m_table(new CopyTable([this] { return copyText(); }, this))
    , m_empty(new EmptyState(style, this))
    , m_stack(new QStackedLayout)
    , m_foot(new QLabel(this))
    , m_refresher(*this, [this] { refresh(); })
    , m_task([this](Found&& found) {
        if (found.rows && found.replay == m_session.replay() && found.matches == m_state.matches())
            showRows(std::move(found.rows));
    })
{
    m_delegate->setShareColumn(-1);
    m_table->setModel(m_model);
    m_table->setItemDelegate(m_delegate);
    m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_table->setAccessibleName(tr("Events"));
    m_table->setContextMenuPolicy(Qt::CustomContextMenu);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->installEventFilter(this);
    m_empty->setAutoFillBackground(true);
    m_empty->setBackgroundRole(QPalette::Base);
    m_stack->addWidget(m_table);
    m_stack->addWidget(m_empty);
    m_foot->setAutoFillBackground(true);
    m_foot->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(m_stack, 1);
    column->addWidget(m_foot);
    const auto schedule = [this] { m_refresher.schedule(); };
    const auto forget = [this] {
        m_task.cancel();
        m_model->show(nullptr, nullptr, nullptr, nullptr);
        m_refresher.schedule();
    };
    connect(&session, &Session::opened, this, forget);
    connect(&session, &Session::deviceChanged, this, forget);
    connect(&session, &Session::siteModeChanged, this, schedule);
    connect(&state, &ViewState::matchesChanged, this, schedule);
    connect(&state, &ViewState::colourByChanged, this, schedule);
    connect(&state, &ViewState::cursorChanged, this, [this] {
        if (isVisible())
            followCursor();
        else
            m_refresher.schedule();
    });
    connect(&style, &Style::changed, this, &EventsView::restyle);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &EventsView::chosen);
    // The row of the cursor is current already.
    connect(m_table, &QTableView::clicked, this, &EventsView::chosen);
    connect(m_table, &QTableView::doubleClicked, this, &EventsView::jump);
    connect(m_table, &QTableView::customContextMenuRequested, this, &EventsView::contextMenu);
    restyle();
}

EventsView::~EventsView()
{
    m_table->selectionModel()->disconnect(this);
}

void EventsView::restyle()
{
    const Metrics& metrics = m_style.metrics();
    m_table->setFont(m_style.font(FontRole::Base));
    m_table->verticalHeader()->setMinimumSectionSize(metrics.row);
    m_table->verticalHeader()->setDefaultSectionSize(metrics.row);
    QHeaderView* const header = m_table->horizontalHeader();
    header->setFixedHeight(metrics.header);
    const QFontMetrics font(m_style.font(FontRole::Base));
    const auto wide = [&](const char* text, int extra = 0) {
        return font.horizontalAdvance(QLatin1String(text)) + 2 * metrics.px(7) + metrics.unit + extra;
    };
    const int swatch = metrics.swatch + metrics.px(7);
    const std::pair<int, int> widths[] = {{EventsModel::Event, wide("00,000,000", swatch)},
        {EventsModel::Time, wide("+000.0 ms")}, {EventsModel::Action, wide("free_completed")},
        {EventsModel::Size, wide("1,023 MiB")}, {EventsModel::Live, wide("1,023 MiB")},
        {EventsModel::Reserved, wide("Reserved after")}, {EventsModel::Address, wide("0x7f0000000000")},
        {EventsModel::Stream, wide("Stream")}, {EventsModel::Pool, wide("(0, 100)")}};
    for (const auto& [section, width] : widths)
        header->resizeSection(section, width);
    m_foot->setFont(m_style.font(FontRole::Small));
    m_foot->setFixedHeight(metrics.header);
    m_foot->setContentsMargins(metrics.padding, 0, metrics.padding, 0);
    m_foot->setBackgroundRole(QPalette::AlternateBase);
    m_refresher.schedule();
}

void EventsView::refresh()
{
    m_refresher.done();
    const auto replay = m_session.replay();
    if (!replay || replay->device().events.count() == 0) {
        m_task.cancel();
        m_model->show(nullptr, nullptr, nullptr, nullptr);
        showEmpty();
        return;
    }
    const auto matches = m_state.matches();
    if (!matches) {
        m_task.cancel();
        showRows(nullptr);
        return;
    }
    m_foot->setText(tr("looking for the events of the filter…"));
    m_task.request([replay, matches](const Job& job) {
        return Found{replay, matches, matchingEvents(*replay, *matches, job)};
    });
}

void EventsView::showRows(EventsModel::Rows rows)
{
    const auto replay = m_session.replay();
    m_following = true;
    m_model->show(replay, m_session.sites(), m_session.colouring(m_state.colourBy()), std::move(rows));
    m_following = false;
    if (m_model->rowCount() == 0) {
        showEmpty();
        return;
    }
    m_stack->setCurrentWidget(m_table);
    // Columns that would be empty leave their room to the call sites.
    m_table->setColumnHidden(EventsModel::Time, !replay->originUs());
    m_table->setColumnHidden(EventsModel::Reserved, !replay->segments.known());
    m_table->setColumnHidden(EventsModel::Pool, replay->snapshot->pools.size() < 2);
    const QString all = countText(static_cast<std::uint64_t>(m_model->events()));
    m_foot->setText(m_state.matches()
            ? tr("%1 of %2 events are about the filter's matches")
                  .arg(countText(static_cast<std::int64_t>(m_model->rowCount())), all)
            : tr("%1 events · Enter jumps to the other end of an allocation's life").arg(all));
    followCursor();
}

void EventsView::showEmpty()
{
    EmptyState::Content content;
    content.icon = QStringLiteral("table");
    const auto replay = m_session.replay();
    if (!m_session.rank()) {
        content.heading = tr("Nothing is open");
        content.sentence = tr("Open a memory snapshot to see its events.");
    } else if (replay && replay->device().events.count() > 0) {
        content.heading
            = tr("The filter hides all %1 events").arg(countText(replay->device().events.count()));
        content.actions = {{tr("Clear the filter"), QStringLiteral("clear"),
            [this] { emit m_state.searchRequested(QString()); }, true}};
    } else {
        content.heading = tr("This file has no events");
        content.sentence = tr("Record the history of allocations to see what happened:");
        content.code = EmptyState::recordingLines();
    }
    m_empty->setContent(std::move(content));
    m_stack->setCurrentWidget(m_empty);
    m_foot->clear();
    setWindowTitle({});
}

QString EventsView::emptyHeading() const
{
    return m_stack->currentWidget() == m_empty ? m_empty->heading() : QString();
}

QString EventsView::footText() const
{
    return m_foot->text();
}

void EventsView::followCursor()
{
    const auto replay = m_session.replay();
    if (!replay || m_model->replay() != replay.get() || m_model->rowCount() == 0)
        return;
    setWindowTitle(atMomentText(*replay, m_state.cursor()));
    if (m_following)
        return;
    const int row = m_state.cursor() == 0 ? -1 : m_model->rowOf(m_state.cursor() - 1);
    m_following = true;
    const QModelIndex at = m_model->index(std::max(row, 0), 0);
    if (row >= 0)
        m_table->setCurrentIndex(at);
    else
        m_table->clearSelection();
    m_table->scrollTo(at, QAbstractItemView::EnsureVisible);
    m_following = false;
}

void EventsView::chosen(const QModelIndex& at)
{
    if (m_following || !at.isValid())
        return;
    const std::uint32_t event = m_model->event(at.row());
    const AllocationId id = m_model->replay()->timeline.allocationOf(static_cast<EventIndex>(event));
    m_following = true;
    m_state.setCursor(event + 1);
    if (valid(id))
        m_state.selectAllocation(id);
    m_following = false;
    setWindowTitle(atMomentText(*m_model->replay(), m_state.cursor()));
}

void EventsView::jump()
{
    const QModelIndex at = m_table->currentIndex();
    if (!at.isValid())
        return;
    const std::uint32_t event = m_model->event(at.row());
    const Timeline& timeline = m_model->replay()->timeline;
    const AllocationId id = timeline.allocationOf(static_cast<EventIndex>(event));
    if (!valid(id))
        return;
    const auto begin = timeline.allocEvent(id);
    const auto end = timeline.endEvent(id);
    const auto other = begin && index(*begin) != event ? begin : end;
    if (!other || index(*other) == event)
        return;
    m_state.pushHistory();
    m_state.setCursor(stateOf(static_cast<Moment>(index(*other))));
}

QString EventsView::copyText() const
{
    QModelIndexList rows = m_table->selectionModel()->selectedRows();
    std::sort(rows.begin(), rows.end());
    QStringList lines{EventsModel::header()};
    for (const QModelIndex& at : rows.mid(0, mostCopied))
        lines << m_model->line(at.row());
    return lines.join(QLatin1Char('\n'));
}

bool EventsView::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_table && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Return || key == Qt::Key_Enter) {
            jump();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

void EventsView::contextMenu(QPoint position)
{
    const QModelIndex at = m_table->indexAt(position);
    if (!at.isValid())
        return;
    const std::uint32_t event = m_model->event(at.row());
    const AllocationId id = m_model->replay()->timeline.allocationOf(static_cast<EventIndex>(event));
    QMenu menu(this);
    if (valid(id)) {
        menu.addAction(tr("Jump to the other end of its life"), this, &EventsView::jump);
        menu.addAction(m_style.icon(QStringLiteral("zoom-selection")), tr("Zoom to life"), this,
            [this, id] { emit m_state.zoomToLifeRequested(id); });
        const QString site = at.siblingAtColumn(EventsModel::Site).data().toString();
        menu.addAction(m_style.icon(QStringLiteral("filter")), tr("Filter by this site"), this,
            [this, site] { emit m_state.searchRequested(siteTerm(site)); });
        menu.addSeparator();
    }
    menu.addAction(m_style.icon(QStringLiteral("copy")), tr("Copy rows"), this,
        [this] { QGuiApplication::clipboard()->setText(copyText()); });
    menu.exec(m_table->viewport()->mapToGlobal(position));
}

} // namespace tidemark
