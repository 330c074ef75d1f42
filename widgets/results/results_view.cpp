// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/results/results_view.hpp"

#include "widgets/common/copy_table.hpp"
#include "widgets/common/footer.hpp"
#include "widgets/live/live_table_delegate.hpp"
#include "widgets/style/empty_state.hpp"
#include "widgets/style/style.hpp"
#include "widgets/style/text.hpp"

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QStackedLayout>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace tidemark {

namespace {

/// More rows than this are not copied at once.
constexpr qsizetype mostCopied = 100000;

} // namespace

ResultsView::ResultsView(Session& session, ViewState& state, Style& style, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_state(state)
    , m_style(style)
    , m_model(new ResultsModel(this))
    , m_delegate(new LiveTableDelegate(style, this))
    , m_table(new CopyTable([this] { return copyText(); }, this))
    , m_empty(new EmptyState(style, this))
    , m_stack(new QStackedLayout)
    , m_footer(new Footer(style, this))
    , m_foot(new QLabel(m_footer))
    , m_previous(new QToolButton(m_footer))
    , m_next(new QToolButton(m_footer))
    , m_refresher(*this, [this] { refresh(); })
    , m_task([this](Found&& found) { take(std::move(found)); })
{
    m_delegate->setShareColumn(-1);
    m_table->setModel(m_model);
    m_table->setItemDelegate(m_delegate);
    m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_table->setAccessibleName(tr("Results of the filter"));
    m_table->setContextMenuPolicy(Qt::CustomContextMenu);
    QHeaderView* const header = m_table->horizontalHeader();
    header->setStretchLastSection(true);
    header->setSectionsClickable(true);
    header->setSortIndicatorShown(true);
    header->setSortIndicator(m_sortColumn, m_sortOrder);
    m_empty->setAutoFillBackground(true);
    m_empty->setBackgroundRole(QPalette::Base);
    m_stack->addWidget(m_table);
    m_stack->addWidget(m_empty);
    m_foot->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    m_previous->setAccessibleName(tr("Previous result"));
    m_previous->setToolTip(tr("Previous result (Shift+Enter in the filter field)"));
    m_next->setAccessibleName(tr("Next result"));
    m_next->setToolTip(tr("Next result (Enter in the filter field)"));
    for (QToolButton* button : {m_previous, m_next})
        button->setAutoRaise(true);
    auto* row = new QHBoxLayout(m_footer);
    row->setContentsMargins(0, 1, 0, 0);
    row->setSpacing(0);
    row->addWidget(m_foot, 1);
    row->addWidget(m_previous);
    row->addWidget(m_next);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(m_stack, 1);
    column->addWidget(m_footer);

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
    connect(&state, &ViewState::selectionChanged, this, &ResultsView::followSelection);
    connect(&style, &Style::changed, this, &ResultsView::restyle);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &ResultsView::chosen);
    connect(m_table, &QTableView::clicked, this, &ResultsView::chosen);
    connect(m_table, &QTableView::doubleClicked, this,
        [this](const QModelIndex& at) { emit m_state.zoomToLifeRequested(m_model->id(at.row())); });
    connect(m_table, &QTableView::customContextMenuRequested, this, &ResultsView::contextMenu);
    connect(header, &QHeaderView::sortIndicatorChanged, this, [this](int section, Qt::SortOrder order) {
        m_sortColumn = section;
        m_sortOrder = order;
        m_refresher.schedule();
    });
    connect(m_previous, &QToolButton::clicked, this, [this] { step(-1); });
    connect(m_next, &QToolButton::clicked, this, [this] { step(1); });
    restyle();
}

ResultsView::~ResultsView()
{
    m_table->selectionModel()->disconnect(this);
}

void ResultsView::sortBy(ResultsModel::Column column, Qt::SortOrder order)
{
    m_table->horizontalHeader()->setSortIndicator(column, order);
}

void ResultsView::restyle()
{
    const Metrics& metrics = m_style.metrics();
    m_table->setFont(m_style.font(FontRole::Base));
    m_table->verticalHeader()->setMinimumSectionSize(metrics.row);
    m_table->verticalHeader()->setDefaultSectionSize(metrics.row);
    QHeaderView* const header = m_table->horizontalHeader();
    header->setFixedHeight(metrics.header);
    const QFontMetrics font(m_style.font(FontRole::Base));
    const auto wide = [&](const QString& text, int extra = 0) {
        return font.horizontalAdvance(text) + 2 * metrics.px(7) + metrics.unit + extra;
    };
    const int swatch = metrics.swatch + metrics.px(7);
    const std::pair<int, int> widths[] = {{ResultsModel::Made, wide(QStringLiteral("00,000,000"), swatch)},
        {ResultsModel::Freed, wide(QStringLiteral("00,000,000"))},
        {ResultsModel::Life, wide(QStringLiteral("at least 00.0 ms"))},
        {ResultsModel::Size, wide(QStringLiteral("1,023 MiB"))},
        {ResultsModel::Address, wide(QStringLiteral("0x7f0000000000"))},
        {ResultsModel::Stream, wide(QStringLiteral("Stream ▾"))}};
    for (const auto& [section, width] : widths)
        header->resizeSection(section, width);
    m_foot->setFont(m_style.font(FontRole::Small));
    m_footer->setFixedHeight(metrics.header);
    m_foot->setContentsMargins(metrics.padding, 0, metrics.padding, 0);
    m_previous->setIcon(m_style.icon(QStringLiteral("peak-prev")));
    m_next->setIcon(m_style.icon(QStringLiteral("peak-next")));
    m_refresher.schedule();
}

void ResultsView::refresh()
{
    m_refresher.done();
    const auto replay = m_session.replay();
    const auto matches = m_state.matches();
    if (!replay || !matches) {
        m_task.cancel();
        m_model->show(nullptr, nullptr, nullptr, nullptr);
        showEmpty();
        return;
    }
    m_task.request([replay, matches, sites = m_session.sites(), column = m_sortColumn,
                       down = m_sortOrder == Qt::DescendingOrder](const Job& job) {
        return Found{replay, matches, resultRows(*replay, *sites, *matches, column, down, job)};
    });
}

void ResultsView::take(Found&& found)
{
    if (!found.rows || found.replay != m_session.replay() || found.matches != m_state.matches())
        return;
    m_following = true;
    m_model->show(found.replay, m_session.sites(), m_session.colouring(m_state.colourBy()), found.rows);
    m_following = false;
    if (m_model->rowCount() == 0) {
        showEmpty();
        return;
    }
    m_stack->setCurrentWidget(m_table);
    followSelection();
    updateFoot();
}

void ResultsView::updateFoot()
{
    const int rows = m_model->rowCount();
    m_previous->setEnabled(rows > 0);
    m_next->setEnabled(rows > 0);
    if (rows == 0) {
        m_foot->clear();
        setWindowTitle({});
        return;
    }
    const QModelIndex at = m_table->currentIndex();
    const QString sum
        = tr("%1 allocations, %2 in all")
              .arg(countText(static_cast<std::int64_t>(rows)), bytesText(m_model->rows()->bytes));
    m_foot->setText(
        at.isValid() ? tr("%1 of %2").arg(countText(static_cast<std::int64_t>(at.row() + 1)), sum) : sum);
    setWindowTitle(countText(static_cast<std::int64_t>(rows)));
}

void ResultsView::showEmpty()
{
    EmptyState::Content content;
    content.icon = QStringLiteral("filter");
    if (!m_session.rank()) {
        content.heading = tr("Nothing is open");
        content.sentence = tr("Open a memory snapshot to look for allocations in it.");
    } else if (!m_state.matches()) {
        content.heading = tr("No filter");
        content.sentence = tr("Type into the filter field what to look for:");
        content.code = QStringLiteral("size>64M age<1s\nsite:forward and not stream:0\nrole:saved label:mlp");
    } else {
        content.heading = tr("Nothing matches the filter");
        content.actions = {{tr("Clear the filter"), QStringLiteral("clear"),
            [this] { emit m_state.searchRequested(QString()); }, true}};
    }
    m_empty->setContent(std::move(content));
    m_stack->setCurrentWidget(m_empty);
    updateFoot();
}

QString ResultsView::emptyHeading() const
{
    return m_stack->currentWidget() == m_empty ? m_empty->heading() : QString();
}

QString ResultsView::footText() const
{
    return m_foot->text();
}

void ResultsView::followSelection()
{
    if (m_following || m_model->rowCount() == 0)
        return;
    const Selection& selection = m_state.selection();
    const int row = selection.kind == Selection::Kind::Allocation ? m_model->rowOf(selection.allocation) : -1;
    m_following = true;
    if (row >= 0) {
        const QModelIndex at = m_model->index(row, 0);
        m_table->setCurrentIndex(at);
        m_table->scrollTo(at, QAbstractItemView::EnsureVisible);
    } else {
        m_table->setCurrentIndex({});
        m_table->clearSelection();
    }
    m_following = false;
    updateFoot();
}

void ResultsView::chosen(const QModelIndex& at)
{
    if (m_following || !at.isValid())
        return;
    const AllocationId id = m_model->id(at.row());
    m_following = true;
    m_state.setCursor(m_model->replay()->timeline.allocations().firstState[index(id)]);
    m_state.selectAllocation(id);
    m_following = false;
    updateFoot();
}

bool ResultsView::step(int direction)
{
    const int rows = m_model->rowCount();
    if (rows == 0)
        return false;
    const int now = m_table->currentIndex().isValid() ? m_table->currentIndex().row()
        : direction > 0                               ? -1
                                                      : rows;
    m_state.pushHistory();
    m_table->setCurrentIndex(m_model->index((now + direction + rows) % rows, 0));
    return true;
}

QString ResultsView::copyText() const
{
    QModelIndexList rows = m_table->selectionModel()->selectedRows();
    std::sort(rows.begin(), rows.end());
    QStringList lines{ResultsModel::header()};
    for (const QModelIndex& at : rows.mid(0, mostCopied))
        lines << m_model->line(at.row());
    return lines.join(QLatin1Char('\n'));
}

void ResultsView::contextMenu(QPoint position)
{
    const QModelIndex at = m_table->indexAt(position);
    if (!at.isValid())
        return;
    const AllocationId id = m_model->id(at.row());
    QMenu menu(this);
    menu.addAction(m_style.icon(QStringLiteral("zoom-selection")), tr("Zoom to life"), this,
        [this, id] { emit m_state.zoomToLifeRequested(id); });
    menu.addAction(m_style.icon(QStringLiteral("copy")), tr("Copy rows"), this,
        [this] { QGuiApplication::clipboard()->setText(copyText()); });
    menu.exec(m_table->viewport()->mapToGlobal(position));
}

} // namespace tidemark
