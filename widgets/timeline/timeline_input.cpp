// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/timeline/timeline_input.hpp"

#include "widgets/timeline/timeline_notes.hpp"
#include "widgets/timeline/timeline_painters.hpp"
#include "widgets/timeline/timeline_view.hpp"

#include <QContextMenuEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

constexpr double slack = 4; // pixels a press may move and still be a click
constexpr double grabWidth = 5;
constexpr int tipDelay = 250;
constexpr int gesturePause = 900;
constexpr double wheelZoom = 1.2; // per notch
constexpr double wheelPan = 0.08; // of the window per notch

} // namespace

TimelineInput::TimelineInput(TimelineView& view, TimelineScene& scene, QWidget& canvas)
    : m_view(view)
    , m_scene(scene)
    , m_canvas(canvas)
{
    m_tip.setSingleShot(true);
    m_tip.setInterval(tipDelay);
    connect(&m_tip, &QTimer::timeout, this, &TimelineInput::showTip);
    canvas.installEventFilter(this);
}

bool TimelineInput::eventFilter(QObject*, QEvent* event)
{
    switch (event->type()) {
    case QEvent::MouseButtonPress:
        press(static_cast<QMouseEvent*>(event));
        return true;
    case QEvent::MouseButtonDblClick:
        doubleClick(static_cast<QMouseEvent*>(event));
        return true;
    case QEvent::MouseMove:
        move(static_cast<QMouseEvent*>(event));
        return true;
    case QEvent::MouseButtonRelease:
        release(static_cast<QMouseEvent*>(event));
        return true;
    case QEvent::Wheel:
        wheel(static_cast<QWheelEvent*>(event));
        return true;
    case QEvent::Leave:
        if (m_drag == Drag::None)
            forgetHover();
        return false;
    case QEvent::ContextMenu: {
        const auto* menu = static_cast<QContextMenuEvent*>(event);
        m_view.openContextMenu(menu->globalPos(), menu->pos());
        return true;
    }
    default:
        return false;
    }
}

TimelineInput::Area TimelineInput::areaAt(const QPointF& pos) const
{
    const TimelineGeometry& g = m_scene.geometry;
    if (!m_scene.source || m_scene.empty())
        return Area::None;
    if (QRectF(g.plot).contains(pos))
        return Area::Plot;
    if (QRectF(g.axis).contains(pos))
        return Area::Axis;
    if (QRectF(g.overview).adjusted(-grabWidth, 0, grabWidth, 0).contains(pos))
        return Area::Overview;
    if (QRectF(g.legend).contains(pos))
        return Area::Legend;
    const auto inside = [&](const QRect& r) { return QRectF(r).contains(pos); };
    if (std::any_of(g.lanes.begin(), g.lanes.end(), inside))
        return Area::Lanes;
    if (inside(g.finding))
        return Area::Finding;
    if (std::any_of(g.pools.begin(), g.pools.end(), inside))
        return Area::Pools;
    return Area::None;
}

TimelineInput::Drag TimelineInput::overviewPartAt(const QPointF& pos) const
{
    const QRectF box = overviewBox(m_scene);
    const double reach = box.width() > 3 * grabWidth ? grabWidth : 0;
    if (pos.x() <= box.left() + reach && pos.x() >= box.left() - grabWidth - 2)
        return Drag::OverviewLeft;
    if (pos.x() >= box.right() - reach && pos.x() <= box.right() + grabWidth + 2)
        return Drag::OverviewRight;
    return Drag::OverviewMove;
}

TimelineInput::Drag TimelineInput::rangeEdgeAt(const QPointF& pos) const
{
    const auto range = m_scene.state.range();
    if (!range)
        return Drag::None;
    const double left = m_scene.xPixel(m_scene.scale.begin(range->first));
    const double right = m_scene.xPixel(m_scene.scale.end(range->second));
    if (right - left < 2 * grabWidth)
        return Drag::None;
    if (std::abs(pos.x() - left) <= grabWidth - 1)
        return Drag::RangeLeft;
    return std::abs(pos.x() - right) <= grabWidth - 1 ? Drag::RangeRight : Drag::None;
}

void TimelineInput::press(QMouseEvent* event)
{
    m_view.setFocus(Qt::MouseFocusReason);
    QToolTip::hideText();
    m_tip.stop();
    const QPointF pos = event->position();
    m_pressed = m_last = pos;
    m_modifiers = event->modifiers();
    m_startWindow = m_scene.state.window();
    m_startBottom = m_scene.bottom;
    m_startTop = m_scene.top;
    const Area area = areaAt(pos);
    if (event->button() == Qt::MiddleButton && (area == Area::Plot || area == Area::Lanes)) {
        m_drag = Drag::PanPending;
        return;
    }
    if (event->button() != Qt::LeftButton)
        return;
    if (m_floating) {
        m_drag = Drag::Draw;
        return;
    }
    switch (area) {
    case Area::Plot:
        pressPlot(event);
        break;
    case Area::Axis:
    case Area::Pools:
    case Area::Finding:
        m_view.rememberPlace();
        m_drag = Drag::Scrub;
        dragTo(pos);
        break;
    case Area::Overview:
        pressOverview(pos);
        break;
    case Area::Lanes:
        clickLane(pos);
        break;
    case Area::Legend:
        clickLegend(pos, event->modifiers());
        break;
    case Area::None:
        break;
    }
}

void TimelineInput::pressPlot(QMouseEvent* event)
{
    const QPointF pos = event->position();
    if (m_space) {
        m_drag = Drag::Pan;
        m_canvas.setCursor(Qt::ClosedHandCursor);
        m_view.rememberPlace();
        return;
    }
    switch (m_scene.state.tool()) {
    case Tool::Pointer:
        break;
    case Tool::Note:
        m_drag = Drag::Pending;
        return;
    case Tool::Ruler:
        startDrawing(report::AnnotationKind::Ruler, pos);
        return;
    case Tool::Box:
        startDrawing(report::AnnotationKind::Box, pos);
        return;
    case Tool::Arrow:
        startDrawing(report::AnnotationKind::Arrow, pos);
        return;
    }
    if (!event->modifiers() && pressNote(pos))
        return;
    if (event->modifiers() & Qt::ControlModifier) {
        m_drag = Drag::Box;
        return;
    }
    m_anchor = m_scene.scale.stateAt(m_scene.xAt(pos.x()));
    if (event->modifiers() & Qt::ShiftModifier) {
        // The end of the range that is farther away stays.
        const auto range = m_scene.state.range();
        const StateIndex here = m_scene.stateShownAt(pos.x());
        if (range) {
            const auto distance = [&](StateIndex s) { return s > here ? s - here : here - s; };
            m_anchor = distance(range->first) > distance(range->second) ? range->first : range->second;
        } else {
            m_anchor = m_scene.state.cursor();
        }
        m_drag = Drag::Range;
        m_scene.state.setRange(std::pair{m_anchor, here});
        return;
    }
    const Drag edge = rangeEdgeAt(pos);
    m_drag = edge == Drag::None ? Drag::Pending : edge;
}

void TimelineInput::pressOverview(const QPointF& pos)
{
    m_view.rememberPlace();
    m_drag = overviewPartAt(pos);
    const QRectF box = overviewBox(m_scene);
    if (m_drag == Drag::OverviewMove && (pos.x() < box.left() || pos.x() > box.right())) {
        const double half = (m_startWindow.right - m_startWindow.left) / 2;
        const double middle = overviewAt(m_scene, pos.x());
        m_view.setWindow({middle - half, middle + half});
        m_startWindow = m_scene.state.window();
    }
}

void TimelineInput::move(QMouseEvent* event)
{
    const QPointF pos = event->position();
    if (m_drag == Drag::None) {
        if (m_floating && m_scene.openNote) {
            m_scene.openNote->to = pointAnchorAt(m_scene, pos);
            m_view.replotOverlay();
        }
        hover(pos);
        return;
    }
    dragTo(pos);
    m_last = pos;
}

void TimelineInput::dragTo(const QPointF& pos)
{
    const QPointF moved = pos - m_pressed;
    const bool far = std::hypot(moved.x(), moved.y()) > slack;
    ViewState& state = m_scene.state;
    const StateIndex here = m_scene.scale.stateAt(m_scene.xAt(
        std::clamp<double>(pos.x(), m_scene.geometry.plot.left(), m_scene.geometry.plot.right())));
    switch (m_drag) {
    case Drag::Pending:
        if (!far || m_scene.state.tool() == Tool::Note)
            return;
        m_drag = Drag::Range;
        [[fallthrough]];
    case Drag::Range:
        state.setRange(std::pair{m_anchor, here});
        break;
    case Drag::RangeLeft:
        if (state.range())
            state.setRange(std::pair{std::min(here, state.range()->second), state.range()->second});
        break;
    case Drag::RangeRight:
        if (state.range())
            state.setRange(std::pair{state.range()->first, std::max(here, state.range()->first)});
        break;
    case Drag::PanPending:
        if (!far)
            return;
        m_view.rememberPlace();
        m_canvas.setCursor(Qt::ClosedHandCursor);
        m_drag = Drag::Pan;
        [[fallthrough]];
    case Drag::Pan:
        panTo(pos);
        break;
    case Drag::Box:
        m_scene.rubber = QRectF(m_pressed, pos).normalized().intersected(m_scene.geometry.plot);
        m_view.replotOverlay();
        break;
    case Drag::Draw:
        if (m_scene.openNote)
            m_scene.openNote->to = pointAnchorAt(m_scene, pos);
        m_view.replotOverlay();
        break;
    case Drag::Note:
        if (far)
            dragNote(pos);
        break;
    case Drag::Scrub:
        state.setCursor(m_scene.stateShownAt(pos.x()));
        break;
    case Drag::OverviewMove: {
        const double shift = overviewAt(m_scene, pos.x()) - overviewAt(m_scene, m_pressed.x());
        m_view.setWindow({m_startWindow.left + shift, m_startWindow.right + shift});
        break;
    }
    case Drag::OverviewLeft:
        m_view.setWindow(
            {std::min(overviewAt(m_scene, pos.x()), m_startWindow.right - m_scene.scale.narrowest()),
                m_startWindow.right});
        break;
    case Drag::OverviewRight:
        m_view.setWindow({m_startWindow.left,
            std::max(overviewAt(m_scene, pos.x()), m_startWindow.left + m_scene.scale.narrowest())});
        break;
    case Drag::None:
        break;
    }
}

void TimelineInput::panTo(const QPointF& pos)
{
    const QRect& plot = m_scene.geometry.plot;
    const double dx = (pos.x() - m_pressed.x()) / plot.width() * (m_startWindow.right - m_startWindow.left);
    m_view.setWindow({m_startWindow.left - dx, m_startWindow.right - dx});
    if (m_scene.yIsWhole())
        return;
    const double span = m_startTop - m_startBottom;
    const double dy = (pos.y() - m_pressed.y()) / plot.height() * span;
    const double bottom = std::max(0.0, m_startBottom + dy);
    m_view.setY(bottom, bottom + span);
}

void TimelineInput::release(QMouseEvent* event)
{
    const Drag drag = std::exchange(m_drag, Drag::None);
    const QPointF pos = event->position();
    switch (drag) {
    case Drag::Pending:
        if (m_scene.state.tool() == Tool::Note)
            noteAt(pos);
        else
            click(pos, event->modifiers());
        break;
    case Drag::PanPending:
        if (const std::uint32_t id = m_scene.idAt(pos); id != pixel::empty && m_scene.replay)
            m_view.zoomToLife(AllocationId{id});
        else if (const auto item = laneItemAt(m_scene, pos))
            m_view.zoomToItem(*item);
        break;
    case Drag::Box:
        finishBox();
        break;
    case Drag::Draw:
        finishDrawing(pos);
        break;
    case Drag::Note:
        finishNote();
        break;
    default:
        break;
    }
    shapeCursor(pos);
    hover(pos);
}

void TimelineInput::click(const QPointF& pos, Qt::KeyboardModifiers)
{
    m_view.notes().choose(std::nullopt);
    const std::uint32_t id = m_scene.idAt(pos);
    const StateIndex state = m_scene.stateShownAt(pos.x());
    if (state != m_scene.state.cursor())
        m_view.rememberPlace();
    if (m_scene.replay)
        m_scene.state.selectAllocation(id == pixel::empty ? AllocationId::none : AllocationId{id});
    m_scene.state.setCursor(state);
}

void TimelineInput::doubleClick(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    const QPointF pos = event->position();
    switch (areaAt(pos)) {
    case Area::Plot:
        if (const auto hit = noteUnder(pos))
            editNote(hit->id, false);
        else if (const std::uint32_t id = m_scene.idAt(pos); id != pixel::empty && m_scene.replay)
            m_view.zoomToLife(AllocationId{id});
        break;
    case Area::Lanes:
        if (const auto item = laneItemAt(m_scene, pos))
            m_view.zoomToItem(*item);
        break;
    case Area::Overview:
    case Area::Axis:
        m_view.zoomFit();
        break;
    default:
        break;
    }
}

void TimelineInput::wheel(QWheelEvent* event)
{
    const QPointF pos = event->position();
    const Area area = areaAt(pos);
    if (area == Area::None || area == Area::Legend) {
        event->ignore();
        return;
    }
    QToolTip::hideText();
    const double vertical = event->angleDelta().y() / 120.0;
    const double sideways = event->angleDelta().x() / 120.0;
    rememberOnce();
    if (event->modifiers() & Qt::ShiftModifier) {
        m_view.panBy(-(vertical != 0 ? vertical : sideways) * wheelPan);
    } else if (event->modifiers() & Qt::ControlModifier) {
        zoomY(std::pow(wheelZoom, vertical != 0 ? vertical : sideways), m_scene.bytesAt(pos.y()));
    } else {
        if (std::abs(sideways) > std::abs(vertical))
            m_view.panBy(-sideways * wheelPan);
        else if (vertical != 0)
            m_view.zoomBy(std::pow(wheelZoom, vertical),
                area == Area::Overview ? overviewAt(m_scene, pos.x()) : m_scene.xAt(pos.x()));
    }
    m_gesture.restart();
    event->accept();
}

void TimelineInput::zoomY(double factor, double anchor)
{
    const double bottom = anchor - (anchor - m_scene.bottom) / factor;
    m_view.setY(bottom, bottom + (m_scene.top - m_scene.bottom) / factor);
}

void TimelineInput::rememberOnce()
{
    if (!m_gesture.isValid() || m_gesture.elapsed() > gesturePause)
        m_view.rememberPlace();
    m_gesture.restart();
}

void TimelineInput::finishBox()
{
    const auto box = std::exchange(m_scene.rubber, std::nullopt);
    m_view.replotOverlay();
    if (!box || box->width() < slack || box->height() < slack)
        return;
    m_view.rememberPlace();
    const double bottom = m_scene.bytesAt(box->bottom());
    const double top = m_scene.bytesAt(box->top());
    m_view.setWindow({m_scene.xAt(box->left()), m_scene.xAt(box->right())});
    m_view.setY(bottom, top);
}

void TimelineInput::clickLane(const QPointF& pos)
{
    if (const auto item = laneItemAt(m_scene, pos)) {
        m_scene.state.setRange(std::pair{item->first, item->last});
        return;
    }
    m_view.rememberPlace();
    m_scene.state.setCursor(m_scene.stateShownAt(pos.x()));
}

bool TimelineInput::cancel()
{
    if (m_drag == Drag::None && !m_floating)
        return false;
    m_drag = Drag::None;
    m_floating = false;
    m_scene.openNote.reset();
    m_scene.rubber.reset();
    m_canvas.unsetCursor();
    m_view.replotOverlay();
    return true;
}

void TimelineInput::setSpaceHeld(bool held)
{
    m_space = held;
    if (m_drag == Drag::None)
        shapeCursor(m_hover.value_or(QPointF(-1, -1)));
}

void TimelineInput::shapeCursor(const QPointF& pos)
{
    const Area area = areaAt(pos);
    if (area == Area::Plot && m_space)
        m_canvas.setCursor(Qt::OpenHandCursor);
    else if (area == Area::Plot && (m_scene.state.tool() != Tool::Pointer || m_floating))
        m_canvas.setCursor(Qt::CrossCursor);
    else if (area == Area::Plot && noteUnder(pos))
        m_canvas.setCursor(Qt::PointingHandCursor);
    else if (area == Area::Plot && rangeEdgeAt(pos) != Drag::None)
        m_canvas.setCursor(Qt::SizeHorCursor);
    else if (area == Area::Overview && overviewPartAt(pos) != Drag::OverviewMove)
        m_canvas.setCursor(Qt::SizeHorCursor);
    else if (area == Area::Legend)
        m_canvas.setCursor(Qt::PointingHandCursor);
    else
        m_canvas.unsetCursor();
}

} // namespace tidemark
