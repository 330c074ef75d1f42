// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/segments/segment_table_view.hpp"

#include "widgets/common/copy_table.hpp"
#include "widgets/common/moment_text.hpp"
#include "widgets/live/live_table_delegate.hpp"
#include "widgets/style/empty_state.hpp"
#include "widgets/style/style.hpp"
#include "widgets/style/text.hpp"

#include <QHeaderView>
#include <QLabel>
#include <QStackedLayout>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace tidemark {

SegmentTableView::SegmentTableView(Session& session, ViewState& state, Style& style, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_state(state)
    , m_style(style)
    , m_model(new SegmentTableModel(this))
    , m_delegate(new LiveTableDelegate(style, this))
    , m_table(new CopyTable([this] { return m_model->copyText(); }, this))
    , m_empty(new EmptyState(style, this))
    , m_stack(new QStackedLayout)
    , m_foot(new QLabel(this))
    , m_refresher(*this, [this] { refresh(); })
    , m_task([this](Made&& made) { take(std::move(made)); })
{
    m_delegate->setShareColumn(-1);
    m_table->setModel(m_model);
    m_table->setItemDelegate(m_delegate);
    m_table->setSortingEnabled(true);
    m_table->horizontalHeader()->setSectionsClickable(true);
    m_table->setAccessibleName(tr("Segments"));
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->horizontalHeader()->setSortIndicator(SegmentTableModel::Size, Qt::DescendingOrder);
    m_empty->setAutoFillBackground(true);
    m_empty->setBackgroundRole(QPalette::Base);
    m_foot->setAutoFillBackground(true);
    m_foot->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    m_stack->addWidget(m_table);
    m_stack->addWidget(m_empty);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(m_stack, 1);
    column->addWidget(m_foot);
    const auto schedule = [this] { m_refresher.schedule(); };
    const auto forget = [this] {
        m_task.cancel();
        m_model->show(nullptr, nullptr);
        m_refresher.schedule();
    };
    connect(&session, &Session::opened, this, forget);
    connect(&session, &Session::deviceChanged, this, forget);
    connect(&state, &ViewState::cursorChanged, this, schedule);
    connect(&state, &ViewState::selectionChanged, this, &SegmentTableView::followSelection);
    connect(&style, &Style::changed, this, &SegmentTableView::restyle);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
        [this](const QModelIndex& at) {
            if (m_following || !at.isValid())
                return;
            Selection selection;
            selection.kind = Selection::Kind::Segment;
            selection.address = m_model->segment(at.row()).address;
            selection.size = m_model->segment(at.row()).size;
            m_state.select(selection);
        });
    restyle();
}

SegmentTableView::~SegmentTableView()
{
    m_table->selectionModel()->disconnect(this);
}

void SegmentTableView::restyle()
{
    const Metrics& metrics = m_style.metrics();
    m_table->setFont(m_style.font(FontRole::Base));
    m_table->verticalHeader()->setMinimumSectionSize(metrics.row);
    m_table->verticalHeader()->setDefaultSectionSize(metrics.row);
    QHeaderView* const header = m_table->horizontalHeader();
    header->setFixedHeight(metrics.header);
    const QFontMetrics font(m_style.font(FontRole::Base));
    const auto wide
        = [&](const char* text) { return font.horizontalAdvance(QLatin1String(text)) + 2 * metrics.px(9); };
    const std::pair<int, int> widths[] = {{SegmentTableModel::Address, wide("0x7f0000000000")},
        {SegmentTableModel::Size, wide("1,023 MiB")}, {SegmentTableModel::Live, wide("Blocks hold ")},
        {SegmentTableModel::Free, wide("1,023 MiB")}, {SegmentTableModel::LargestHole, wide("Largest hole ")},
        {SegmentTableModel::Blocks, wide("Blocks ")}, {SegmentTableModel::Kind, wide("large, expandable")},
        {SegmentTableModel::Stream, wide("Stream ")}, {SegmentTableModel::Pool, wide("(0, 100)")}};
    for (const auto& [section, width] : widths)
        header->resizeSection(section, width);
    m_foot->setFont(m_style.font(FontRole::Small));
    m_foot->setFixedHeight(metrics.header);
    m_foot->setContentsMargins(metrics.padding, 0, metrics.padding, 0);
    m_foot->setBackgroundRole(QPalette::AlternateBase);
    m_table->viewport()->update();
}

void SegmentTableView::refresh()
{
    m_refresher.done();
    const auto replay = m_session.replay();
    if (!replay || !replay->segments.known()) {
        m_task.cancel();
        m_model->show(nullptr, nullptr);
        showEmpty();
        return;
    }
    m_task.request([replay, state = std::min(m_state.cursor(), replay->states() - 1)](const Job&) {
        return Made{
            replay, std::make_shared<const SegmentState>(replay->segments.stateAt(state, replay->timeline))};
    });
}

void SegmentTableView::take(Made&& made)
{
    if (made.replay != m_session.replay())
        return;
    m_following = true;
    m_model->show(made.replay, made.state);
    const QHeaderView* const header = m_table->horizontalHeader();
    m_model->sort(header->sortIndicatorSection(), header->sortIndicatorOrder());
    m_following = false;
    const SegmentState& state = *made.state;
    if (state.segments.empty()) {
        showEmpty();
        return;
    }
    m_table->setColumnHidden(SegmentTableModel::Pool, made.replay->snapshot->pools.size() < 2);
    m_stack->setCurrentWidget(m_table);
    setWindowTitle(atMomentText(*made.replay, state.state));
    m_foot->setText(tr("Σ %1 segments, %2 reserved, blocks hold %3, %4 free")
                        .arg(countText(std::uint64_t{state.segments.size()}), bytesText(state.reserved),
                            bytesText(state.live + state.waiting), bytesText(state.free)));
    followSelection();
}

void SegmentTableView::followSelection()
{
    if (m_following || !m_model->state())
        return;
    const Selection& selection = m_state.selection();
    m_following = true;
    const int row = selection.kind == Selection::Kind::Segment ? m_model->rowOf(selection.address) : -1;
    if (row >= 0) {
        m_table->selectRow(row);
        m_table->scrollTo(m_model->index(row, 0));
    } else {
        m_table->clearSelection();
    }
    m_following = false;
}

void SegmentTableView::showEmpty()
{
    EmptyState::Content content;
    content.icon = QStringLiteral("segments");
    const auto replay = m_session.replay();
    if (!m_session.rank()) {
        content.heading = tr("Nothing is open");
        content.sentence = tr("Open a memory snapshot to see its segments.");
    } else if (!replay || !replay->segments.known()) {
        content.heading = tr("This file lists no segments");
        content.sentence = tr("Reserved memory and its holes are unknown.");
    } else {
        content.heading = tr("Nothing is reserved here");
        content.sentence = tr("No segment exists %1.").arg(atMomentText(*replay, m_state.cursor()));
    }
    m_empty->setContent(std::move(content));
    m_stack->setCurrentWidget(m_empty);
    m_foot->clear();
    setWindowTitle({});
}

QString SegmentTableView::emptyHeading() const
{
    return m_stack->currentWidget() == m_empty ? m_empty->heading() : QString();
}

QString SegmentTableView::footText() const
{
    return m_foot->text();
}

} // namespace tidemark
