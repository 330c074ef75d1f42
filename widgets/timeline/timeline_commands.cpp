// SPDX-License-Identifier: GPL-3.0-or-later
// The half of TimelineView that is commands: zoom, steps, keys and the context menu.
#include "widgets/common/phase_text.hpp"
#include "widgets/common/site_term.hpp"
#include "widgets/style/empty_state.hpp"
#include "widgets/style/text.hpp"
#include "widgets/timeline/timeline_canvas.hpp"
#include "widgets/timeline/timeline_input.hpp"
#include "widgets/timeline/timeline_view.hpp"

#include <QClipboard>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QMenu>

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

constexpr double keyZoom = 1.5;
constexpr double keyPan = 0.15; // of the window
constexpr double air = 0.06; // left and right of what is zoomed to

} // namespace

double TimelineView::zoomAnchor() const
{
    const XWindow& w = m_state.window();
    const double cursor = m_scene.scale.mark(m_state.cursor());
    return cursor >= w.left && cursor <= w.right ? cursor : (w.left + w.right) / 2;
}

void TimelineView::zoomBy(double factor, double anchor)
{
    if (!m_scene.source)
        return;
    const XWindow& w = m_state.window();
    const XWindow all = m_scene.scale.whole();
    const double width
        = std::clamp((w.right - w.left) / factor, m_scene.scale.narrowest(), all.right - all.left);
    const double share = (anchor - w.left) / (w.right - w.left);
    const double left = anchor - share * width;
    setWindow({left, left + width});
}

void TimelineView::panBy(double share)
{
    const XWindow& w = m_state.window();
    const double shift = (w.right - w.left) * share;
    setWindow({w.left + shift, w.right + shift});
}

void TimelineView::zoomIn()
{
    m_input->rememberOnce();
    zoomBy(keyZoom, zoomAnchor());
}

void TimelineView::zoomOut()
{
    m_input->rememberOnce();
    zoomBy(1 / keyZoom, zoomAnchor());
}

void TimelineView::panLeft()
{
    m_input->rememberOnce();
    panBy(-keyPan);
}

void TimelineView::panRight()
{
    m_input->rememberOnce();
    panBy(keyPan);
}

void TimelineView::screenful(int direction)
{
    rememberPlace();
    panBy(direction);
}

void TimelineView::zoomFit()
{
    rememberPlace();
    setWindow(m_scene.scale.whole());
    m_scene.wholeY();
    replot();
}

void TimelineView::zoomToLife(AllocationId id)
{
    if (!m_scene.replay || !valid(id))
        return;
    const AllocationColumns& all = m_scene.replay->timeline.allocations();
    if (index(id) >= all.count())
        return;
    rememberPlace();
    const StateIndex last = m_scene.source->states() - 1;
    setWindow(m_scene.scale.around(all.firstState[index(id)],
        std::min(last, std::max<StateIndex>(1, all.endState[index(id)]) - 1), air));
}

void TimelineView::zoomToRange()
{
    const auto range = m_state.range();
    if (!range)
        return;
    rememberPlace();
    setWindow(m_scene.scale.around(range->first, range->second, 0.01));
}

void TimelineView::zoomToItem(const LaneItem& item)
{
    rememberPlace();
    m_state.setRange(std::pair{item.first, item.last});
    setWindow(m_scene.scale.around(item.first, item.last, 0.02));
}

void TimelineView::zoomToSelection()
{
    // Back only from where the zoom led: after a pan or another choice there is something new to zoom to.
    if (m_zoomed && m_zoomed->selection == m_state.selection() && m_zoomed->range == m_state.range()
        && m_zoomed->axis == m_state.axis() && m_zoomed->to == m_state.window()) {
        const XWindow back = m_zoomed->from;
        m_zoomed.reset();
        rememberPlace();
        setWindow(back);
        return;
    }
    const XWindow before = m_state.window();
    const Selection& selection = m_state.selection();
    if (selection.kind == Selection::Kind::Allocation)
        zoomToLife(selection.allocation);
    else
        zoomToRange();
    m_zoomed.reset();
    if (!(m_state.window() == before))
        m_zoomed = Zoomed{before, m_state.window(), selection, m_state.range(), m_state.axis()};
}

void TimelineView::fitY()
{
    if (!m_scene.yIsWhole())
        m_scene.wholeY();
    else
        m_scene.fitY();
    replot();
}

void TimelineView::setLanesVisible(bool visible)
{
    m_scene.options.lanes = visible;
    replot();
}

bool TimelineView::lanesVisible() const
{
    return m_scene.options.lanes;
}

void TimelineView::stepCursor(int direction, bool extend)
{
    if (!m_scene.source || m_scene.empty())
        return;
    const StateIndex last = m_scene.source->states() - 1;
    const StateIndex from = m_state.cursor();
    const StateIndex to = direction < 0 ? (from > 0 ? from - 1 : 0) : std::min(last, from + 1);
    if (extend) {
        const auto range = m_state.range();
        // The end of the range that the cursor stands on moves, the other one stays.
        const StateIndex fixed = !range ? from : range->first == from ? range->second : range->first;
        m_state.setRange(std::pair{fixed, to});
    }
    m_state.setCursor(to);
}

void TimelineView::stepSameSite(int direction)
{
    if (!m_scene.replay)
        return;
    const auto grouping = m_session.grouping(GroupBy::Site);
    const AllocationColumns& all = m_scene.replay->timeline.allocations();
    const Selection& selection = m_state.selection();
    std::uint32_t group = 0;
    if (selection.kind == Selection::Kind::Allocation)
        group = grouping->of(selection.allocation);
    else if (selection.kind == Selection::Kind::Group && selection.groupBy == GroupBy::Site)
        group = selection.group;
    else
        return;
    // Ids ascend with their first states, predating ones at 0.
    const auto begin = all.firstState.begin();
    const StateIndex cursor = m_state.cursor();
    std::ptrdiff_t at = direction < 0 ? std::lower_bound(begin, all.firstState.end(), cursor) - begin - 1
                                      : std::upper_bound(begin, all.firstState.end(), cursor) - begin;
    const auto count = static_cast<std::ptrdiff_t>(all.count());
    for (; at >= 0 && at < count; at += direction) {
        const AllocationId id{static_cast<std::uint32_t>(at)};
        if (grouping->of(id) != group)
            continue;
        rememberPlace();
        if (selection.kind == Selection::Kind::Allocation)
            m_state.selectAllocation(id);
        m_state.setCursor(all.firstState[index(id)]);
        return;
    }
}

void TimelineView::stepPeak(int direction)
{
    const auto& peaks = m_scene.peaks;
    const StateIndex cursor = m_state.cursor();
    if (direction < 0) {
        const auto after = std::lower_bound(peaks.begin(), peaks.end(), cursor);
        if (after == peaks.begin())
            return;
        rememberPlace();
        m_state.setCursor(*std::prev(after));
    } else {
        const auto next = std::upper_bound(peaks.begin(), peaks.end(), cursor);
        if (next == peaks.end())
            return;
        rememberPlace();
        m_state.setCursor(*next);
    }
}

void TimelineView::stepStep(int direction)
{
    std::optional<std::pair<StateIndex, StateIndex>> found;
    const bool ranged = m_state.range().has_value();
    const StateIndex here = ranged ? m_state.range()->first : m_state.cursor();
    for (const auto& step : m_scene.steps()) {
        if (direction < 0 && step.first < here)
            found = step;
        else if (direction > 0 && !found && (step.first > here || (step.first == here && !ranged)))
            found = step;
    }
    if (!found)
        return;
    rememberPlace();
    m_state.setCursor(found->first);
    m_state.setRange(*found);
}

QString TimelineView::selectionName() const
{
    const Selection& selection = m_state.selection();
    if (!m_scene.replay)
        return {};
    const AllocationColumns& all = m_scene.replay->timeline.allocations();
    if (selection.kind == Selection::Kind::Allocation && index(selection.allocation) < all.count())
        return m_scene.idName(static_cast<std::uint32_t>(index(selection.allocation))) + QStringLiteral(", ")
            + bytesText(all.size[index(selection.allocation)]);
    if (selection.kind == Selection::Kind::Group) {
        const auto grouping = m_session.grouping(selection.groupBy);
        if (selection.group < grouping->count())
            return shownText(grouping->name(selection.group));
    }
    if (selection.kind == Selection::Kind::Set)
        return selection.set->name;
    return {};
}

QString TimelineView::spokenValue() const
{
    if (!m_scene.source || m_scene.empty())
        return m_empty->heading();
    const StateIndex cursor = std::min(m_state.cursor(), m_scene.source->states() - 1);
    const std::int64_t count
        = static_cast<std::int64_t>(m_scene.source->states()) - (m_scene.categories() ? 0 : 1);
    QString text = tr("%1 of %2").arg(m_scene.stateName(cursor), countText(count));
    if (const QString time = m_scene.stateTime(cursor); !time.isEmpty())
        text += QStringLiteral(", ") + time;
    if (const PhaseSpan* span = m_scene.phases ? phaseSpanAt(*m_scene.phases, cursor) : nullptr)
        text += QStringLiteral(", ") + phaseText(span->phase);
    text += tr(", live %1").arg(bytesText(m_scene.source->requested().at(cursor)));
    if (const Series* reserved = m_scene.source->reserved())
        text += tr(", reserved %1").arg(bytesText(reserved->at(cursor)));
    if (const QString selected = selectionName(); !selected.isEmpty())
        text += tr("; selected %1").arg(selected);
    if (m_scene.finding.bytes)
        text += tr("; finding %1, %2 of it here")
                    .arg(shownText(m_scene.finding.finding->title),
                        bytesText(m_scene.finding.bytes->at(cursor)));
    if (m_scene.predicted.bytes)
        text += tr("; predicted %1").arg(bytesText(m_scene.predicted.bytes->at(cursor)));
    if (m_scene.predicted.reserved)
        text += tr("; predicted reserved %1").arg(bytesText(m_scene.predicted.reserved->at(cursor)));
    return text;
}

QString TimelineView::whyNoTimeAxis() const
{
    if (!m_scene.source || m_scene.source->hasTimes())
        return {};
    return tr(
        "The events of this file carry no time: it was written by a version of PyTorch before 2.2, or by "
        "another recorder.");
}

// ---- keys

void TimelineView::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Space) {
        m_input->setSpaceHeld(true);
        return;
    }
    const Qt::KeyboardModifiers modifiers = event->modifiers() & ~Qt::KeypadModifier;
    bool done = false;
    if (event->key() == Qt::Key_Left || event->key() == Qt::Key_Right)
        done = handleArrow(event->key() == Qt::Key_Left ? -1 : 1, modifiers);
    else if (modifiers == Qt::NoModifier)
        done = handlePlainKey(event->key());
    if (!done)
        QWidget::keyPressEvent(event);
}

void TimelineView::keyReleaseEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Space && !event->isAutoRepeat())
        m_input->setSpaceHeld(false);
    QWidget::keyReleaseEvent(event);
}

bool TimelineView::handleArrow(int direction, Qt::KeyboardModifiers modifiers)
{
    if (modifiers == Qt::ControlModifier)
        stepSameSite(direction);
    else if (modifiers == Qt::NoModifier || modifiers == Qt::ShiftModifier)
        stepCursor(direction, modifiers == Qt::ShiftModifier);
    else if (modifiers == Qt::AltModifier)
        direction < 0 ? m_state.goBack() : m_state.goForward();
    else
        return false;
    return true;
}

// Letters are commands of the window, where they can be switched off; here are the keys that are none.
bool TimelineView::handlePlainKey(int key)
{
    switch (key) {
    case Qt::Key_PageUp:
        screenful(-1);
        return true;
    case Qt::Key_PageDown:
        screenful(1);
        return true;
    case Qt::Key_Home:
        zoomFit();
        return true;
    case Qt::Key_Delete:
    case Qt::Key_Backspace:
        return deleteNote();
    case Qt::Key_Escape:
        return escape();
    default:
        return false;
    }
}

// Esc takes back one thing at a time: drag, tool, chosen remark, range, search, selection.
bool TimelineView::escape()
{
    if (m_input->cancel())
        return true;
    if (m_state.tool() != Tool::Pointer)
        m_state.setTool(Tool::Pointer);
    else if (m_notes->chosen())
        m_notes->choose(std::nullopt);
    else if (m_state.range())
        m_state.setRange(std::nullopt);
    else if (m_state.matches())
        emit m_state.searchRequested(QString());
    else if (m_state.selection().kind != Selection::Kind::None)
        m_state.clearSelection();
    else
        return false;
    return true;
}

// ---- context menu

void TimelineView::addAllocationEntries(QMenu& menu, AllocationId id)
{
    const Timeline& timeline = m_scene.replay->timeline;
    const AllocationColumns& all = timeline.allocations();
    menu.addAction(m_style.icon(QStringLiteral("zoom-selection")), tr("Zoom to life"), this,
        [this, id] { zoomToLife(id); });
    if (all.origin[index(id)] == Origin::Traced)
        menu.addAction(
            tr("Go to allocation (%1)").arg(m_scene.stateName(all.firstState[index(id)])), this, [this, id] {
                rememberPlace();
                m_state.setCursor(m_scene.replay->timeline.allocations().firstState[index(id)]);
            });
    if (timeline.endEvent(id))
        menu.addAction(
            tr("Go to free (%1)").arg(m_scene.stateName(all.endState[index(id)])), this, [this, id] {
                rememberPlace();
                m_state.setCursor(m_scene.replay->timeline.allocations().endState[index(id)]);
            });
    const QString site = m_scene.idName(static_cast<std::uint32_t>(index(id)));
    menu.addAction(tr("Select all of this site"), this, [this, id] {
        Selection selection;
        selection.kind = Selection::Kind::Group;
        selection.groupBy = GroupBy::Site;
        selection.group = m_session.grouping(GroupBy::Site)->of(id);
        m_state.select(selection);
    });
    if (all.origin[index(id)] == Origin::Traced && valid(all.stack[index(id)]))
        menu.addAction(m_style.icon(QStringLiteral("search")), tr("Search for this site"), this,
            [this, site] { emit m_state.searchRequested(siteTerm(site)); });
}

void TimelineView::addCopyMenu(QMenu& menu, AllocationId id)
{
    const AllocationColumns& all = m_scene.replay->timeline.allocations();
    const std::size_t i = index(id);
    QMenu* copy = menu.addMenu(m_style.icon(QStringLiteral("copy")), tr("Copy"));
    const auto entry = [&](const QString& title, const QString& text) {
        copy->addAction(title, this, [text] { QGuiApplication::clipboard()->setText(text); });
    };
    const QString end
        = m_scene.replay->timeline.endEvent(id) ? m_scene.stateName(all.endState[i]) : tr("end");
    const QString first
        = all.origin[i] == Origin::Traced ? m_scene.stateName(all.firstState[i]) : tr("before recording");
    entry(tr("Line"),
        QStringList{m_scene.idName(static_cast<std::uint32_t>(i)), bytesText(all.size[i]),
            exactBytesText(all.size[i]), first, end, addressText(all.address[i])}
            .join(QLatin1Char('\t')));
    entry(tr("Bytes"), QString::number(all.size[i]));
    const Snapshot& snapshot = *m_scene.replay->snapshot;
    if (!valid(all.stack[i]) || snapshot.stacks[all.stack[i]].empty())
        return;
    QStringList lines;
    for (const FrameId frame : snapshot.stacks[all.stack[i]]) {
        const Frame& f = snapshot.frames[frame];
        QString line = valid(f.name) ? shownText(snapshot.strings.view(f.name)) : QString();
        if (valid(f.file))
            line += QLatin1Char('\t') + shownText(snapshot.strings.view(f.file)) + QLatin1Char(':')
                + QString::number(f.line);
        lines << line;
    }
    entry(tr("Stack"), lines.join(QLatin1Char('\n')));
}

void TimelineView::openContextMenu(const QPoint& globalPos, const QPointF& pos)
{
    if (!m_scene.source || m_scene.empty())
        return;
    const std::uint32_t under = m_scene.replay ? m_scene.idAt(pos) : pixel::empty;
    const AllocationId id = under == pixel::empty ? AllocationId::none : AllocationId{under};
    QMenu menu(this);
    if (valid(id)) {
        m_state.selectAllocation(id);
        addAllocationEntries(menu, id);
        menu.addSeparator();
    }
    addNoteEntries(menu, id, pos);
    if (m_state.range()) {
        menu.addAction(
            m_style.icon(QStringLiteral("range")), tr("Zoom to range"), this, &TimelineView::zoomToRange);
        menu.addAction(tr("Clear range"), this, [this] { m_state.setRange(std::nullopt); });
    } else {
        menu.addAction(
            m_style.icon(QStringLiteral("zoom-fit")), tr("Whole trace"), this, &TimelineView::zoomFit);
    }
    emit contextMenuOpening(&menu, id);
    if (valid(id)) {
        menu.addSeparator();
        addCopyMenu(menu, id);
    }
    menu.exec(globalPos);
}

} // namespace tidemark
