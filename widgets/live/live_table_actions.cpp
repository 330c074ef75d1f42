// SPDX-License-Identifier: GPL-3.0-or-later
// What the user does with the live table: selection, menus, keys, copying.
#include "widgets/live/live_table_view.hpp"

#include "model/lens/facts.hpp"
#include "widgets/common/axis_position.hpp"
#include "widgets/common/moment_text.hpp"
#include "widgets/common/site_term.hpp"
#include "widgets/style/style.hpp"
#include "widgets/style/text.hpp"

#include <QActionGroup>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QTableView>

#include <algorithm>

namespace tidemark {

namespace {

/// A group's life fills this share of the window.
constexpr double zoomMargin = 0.04;

} // namespace

bool LiveTableView::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_table->viewport() && event->type() == QEvent::Resize) {
        // Not from inside the resize: the view is still working on its own geometry.
        QMetaObject::invokeMethod(
            this,
            [this] {
                updateLimit();
                fitKeyColumn();
                fitFooter();
            },
            Qt::QueuedConnection);
    }
    if (watched == m_table && event->type() == QEvent::ShortcutOverride
        && static_cast<QKeyEvent*>(event)->matches(QKeySequence::Copy)) {
        event->accept();
        return true;
    }
    if (watched == m_table && event->type() == QEvent::KeyPress) {
        const auto* const key = static_cast<QKeyEvent*>(event);
        if (key->matches(QKeySequence::Copy)) {
            QGuiApplication::clipboard()->setText(copyText());
            return true;
        }
        if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
            onActivated(m_table->currentIndex());
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

void LiveTableView::onActivated(const QModelIndex& index)
{
    if (m_model->isFold(index.row())) {
        const int row = index.row();
        setExpanded(true);
        m_table->setCurrentIndex(m_model->index(row, 0));
        return;
    }
    onSelectionChanged();
}

void LiveTableView::onDoubleClicked(const QModelIndex& index)
{
    if (m_model->isFold(index.row())) {
        onActivated(index);
        return;
    }
    const auto figures = m_model->figures(index.row());
    if (!figures)
        return;
    if (m_model->rows().table->by == GroupBy::None)
        emit m_view.zoomToLifeRequested(figures->largestId);
    else
        zoomToGroup(figures->group);
}

void LiveTableView::zoomToGroup(std::uint32_t group)
{
    const LiveRows& rows = m_model->rows();
    const auto [first, last] = groupSpan(*rows.replay, *rows.grouping, group);
    if (last < first)
        return;
    const double left = axisPosition(m_session, m_view.axis(), first);
    const double right = m_view.axis() == XAxis::Time
        ? axisPosition(m_session, XAxis::Time, last) + 1
        : axisPosition(m_session, m_view.axis(), static_cast<double>(last) + 1);
    const double margin = (right - left) * zoomMargin;
    m_view.pushHistory();
    m_view.setWindow({left - margin, right + margin});
}

void LiveTableView::onSelectionChanged()
{
    if (m_following || m_model->isEmpty())
        return;
    const QModelIndexList rows = m_table->selectionModel()->selectedRows();
    if (rows.isEmpty()) {
        emit m_view.hoverTextChanged({});
        return;
    }
    if (rows.size() > 1) {
        LiveFigures sum;
        for (const QModelIndex& row : rows) {
            const LiveFigures each = m_model->sumOf(row.row());
            sum.bytes += each.bytes;
            sum.allocations += each.allocations;
        }
        const std::uint64_t all = m_model->rows().table->bytes;
        emit m_view.hoverTextChanged(
            tr("%1 rows selected: %2 allocations, %3, %4 of live")
                .arg(countText(static_cast<std::int64_t>(rows.size())), countText(sum.allocations),
                    bytesText(sum.bytes),
                    percentText(all ? static_cast<double>(sum.bytes) / static_cast<double>(all) : 0)));
    }
    const auto figures = m_model->figures(m_table->currentIndex().row());
    if (!figures || !m_table->selectionModel()->isRowSelected(m_table->currentIndex().row()))
        return;
    m_following = true;
    if (m_model->rows().table->by == GroupBy::None) {
        m_view.selectAllocation(figures->largestId);
    } else {
        Selection selection;
        selection.kind = Selection::Kind::Group;
        selection.group = figures->group;
        selection.groupBy = m_model->rows().table->by;
        m_view.select(selection);
    }
    m_following = false;
    if (rows.size() == 1)
        emit m_view.hoverTextChanged(m_model->nameOf(*figures) + QStringLiteral("  ")
            + bytesText(figures->bytes) + QStringLiteral(" · ") + countText(figures->allocations)
            + (figures->allocations == 1 ? tr(" allocation") : tr(" allocations")));
}

void LiveTableView::followSelection()
{
    if (m_following || m_model->isEmpty() || m_model->rows().replay != m_session.replay())
        return;
    const LiveRows& rows = m_model->rows();
    const GroupBy by = rows.table->by;
    const Selection& selection = m_view.selection();
    int row = -1;
    if (selection.kind == Selection::Kind::Group && selection.groupBy == by)
        row = m_model->rowOf(selection.group);
    if (selection.kind == Selection::Kind::Allocation && valid(selection.allocation)
        && rows.replay->timeline.isLive(selection.allocation, rows.table->state)) {
        const std::uint32_t group = by == GroupBy::None
            ? static_cast<std::uint32_t>(index(selection.allocation))
            : rows.grouping->of(selection.allocation);
        row = m_model->rowOf(group);
    }
    m_following = true;
    if (row < 0) {
        m_table->clearSelection();
    } else if (!m_table->selectionModel()->isRowSelected(row)) {
        m_table->selectionModel()->setCurrentIndex(
            m_model->index(row, 0), QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
        m_table->scrollTo(m_model->index(row, 0));
    }
    m_following = false;
}

std::vector<int> LiveTableView::shownColumns() const
{
    std::vector<int> columns;
    const QHeaderView* const header = m_table->horizontalHeader();
    for (int visual = 0; visual < header->count(); ++visual)
        if (const int logical = header->logicalIndex(visual); !header->isSectionHidden(logical))
            columns.push_back(logical);
    return columns;
}

QString LiveTableView::copyText() const
{
    if (m_model->isEmpty())
        return {};
    std::vector<int> rows;
    for (const QModelIndex& index : m_table->selectionModel()->selectedRows())
        rows.push_back(index.row());
    if (rows.empty())
        for (int row = 0; row < m_model->rowCount(); ++row)
            rows.push_back(row);
    std::sort(rows.begin(), rows.end());
    const std::vector<int> columns = shownColumns();
    QString text = LiveTableModel::copyHeader(columns, m_model->rows().table->by) + QLatin1Char('\n');
    for (const int row : rows)
        text += m_model->copyLine(row, columns) + QLatin1Char('\n');
    return text;
}

void LiveTableView::addColumnActions(QMenu& menu)
{
    const GroupBy by = m_model->isEmpty() ? m_by : m_model->rows().table->by;
    for (int i = 1; i < LiveTableModel::columns; ++i) {
        const auto column = static_cast<LiveColumn>(i);
        QAction* const action = menu.addAction(LiveTableModel::columnTitle(column, by));
        action->setCheckable(true);
        action->setChecked(isColumnShown(column));
        connect(
            action, &QAction::triggered, this, [this, column](bool shown) { setColumnShown(column, shown); });
    }
}

void LiveTableView::fillMenu(QMenu& menu)
{
    menu.addSection(tr("At"));
    auto* const moments = new QActionGroup(&menu);
    for (const bool peak : {false, true}) {
        QAction* const action = menu.addAction(peak ? tr("Peak") : tr("Cursor"));
        action->setCheckable(true);
        action->setChecked(m_atPeak == peak);
        moments->addAction(action);
        connect(action, &QAction::triggered, this, [this, peak] { setAtPeak(peak); });
    }
    menu.addSection(tr("Rows"));
    QAction* const all = menu.addAction(tr("Show small rows"));
    all->setCheckable(true);
    all->setChecked(m_expanded);
    connect(all, &QAction::triggered, this, &LiveTableView::setExpanded);
    menu.addSection(tr("Columns"));
    addColumnActions(menu);
}

void LiveTableView::contextMenu(QPoint position)
{
    const QModelIndex index = m_table->indexAt(position);
    QMenu menu(this);
    if (const auto figures = index.isValid() ? m_model->figures(index.row()) : std::nullopt) {
        menu.addAction(m_style.icon(QStringLiteral("zoom-selection")), tr("Zoom to life"), this,
            [this, index] { onDoubleClicked(index); });
        const AllocationId largest = figures->largestId;
        menu.addAction(
            tr("Select the largest allocation"), this, [this, largest] { m_view.selectAllocation(largest); });
        const QString name = m_model->nameOf(*figures);
        const GroupBy by = m_model->rows().table->by;
        if (by == GroupBy::Site || by == GroupBy::None)
            menu.addAction(m_style.icon(QStringLiteral("filter")), tr("Filter by this site"), this,
                [this, name] { emit m_view.searchRequested(siteTerm(name)); });
        menu.addSeparator();
    }
    if (m_expanded)
        menu.addAction(tr("Fold small rows"), this, [this] { setExpanded(false); });
    menu.addAction(m_style.icon(QStringLiteral("copy")),
        m_table->selectionModel()->hasSelection() ? tr("Copy rows") : tr("Copy all rows"), this,
        [this] { QGuiApplication::clipboard()->setText(copyText()); });
    menu.exec(m_table->viewport()->mapToGlobal(position));
}

} // namespace tidemark
