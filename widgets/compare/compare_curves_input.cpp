// SPDX-License-Identifier: GPL-3.0-or-later
// Mouse and keys of the curves.
#include "widgets/compare/compare_curves.hpp"

#include "widgets/style/text.hpp"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>

#include <cmath>
#include <utility>

namespace tidemark {

namespace {

using compare::Which;

constexpr double zoomStep = 1.25;

} // namespace

void CompareCurves::mousePressEvent(QMouseEvent* event)
{
    if (!m_state.alignment() || event->button() != Qt::LeftButton)
        return;
    m_dragX = event->position().x();
    if (event->modifiers() == Qt::NoModifier && pressNote(event->position()))
        return;
    m_dragWindow = m_state.window();
    m_dragOffset = m_state.offset();
    if (event->modifiers() & Qt::ControlModifier)
        m_drag = Drag::Offset;
    else if (event->modifiers() & Qt::ShiftModifier)
        m_drag = Drag::Pan;
    else {
        m_drag = Drag::Cursor;
        m_state.setCursor(axisOf(m_dragX));
    }
}

void CompareCurves::mouseMoveEvent(QMouseEvent* event)
{
    const double x = event->position().x();
    const double perPixel = (m_dragWindow.right - m_dragWindow.left) / plot().width();
    switch (m_drag) {
    case Drag::Cursor:
        m_state.setCursor(axisOf(x));
        break;
    case Drag::Pan: {
        const double by = (m_dragX - x) * perPixel;
        m_state.setWindow({m_dragWindow.left + by, m_dragWindow.right + by});
        break;
    }
    case Drag::Offset: {
        // In states of B where the drag began: to the right B comes later.
        const auto alignment = m_state.alignment();
        const double from = axisOf(m_dragX);
        const auto before = static_cast<std::int64_t>(alignment->stateOf(Which::B, from));
        const auto after
            = static_cast<std::int64_t>(alignment->stateOf(Which::B, from - (x - m_dragX) * perPixel));
        m_state.setOffset(m_dragOffset + after - before);
        m_dragX = x;
        m_dragOffset = m_state.offset();
        break;
    }
    case Drag::Draw:
    case Drag::Note:
        dragNote(event->position());
        break;
    case Drag::None:
        if (!m_state.alignment())
            break;
        setToolTip(QStringLiteral("%1\n%2").arg(textAt(axisOf(x)),
            tr("Click: cursor · wheel: zoom · Shift+drag: pan · Ctrl+drag: move B against A")));
        break;
    }
}

void CompareCurves::mouseReleaseEvent(QMouseEvent* event)
{
    const Drag was = std::exchange(m_drag, Drag::None);
    if (was == Drag::Draw || was == Drag::Note)
        finishNote(event->position());
}

void CompareCurves::mouseDoubleClickEvent(QMouseEvent* event)
{
    const auto hit = m_notes ? noteHit(noteShapes(), m_style, event->position()) : std::nullopt;
    if (hit && event->button() == Qt::LeftButton)
        editNote(hit->id, false);
    else
        mousePressEvent(event);
}

void CompareCurves::leaveEvent(QEvent*)
{
    setToolTip({});
}

void CompareCurves::zoom(double factor, double anchor)
{
    const XWindow& w = m_state.window();
    m_state.setWindow({anchor - (anchor - w.left) * factor, anchor + (w.right - anchor) * factor});
}

void CompareCurves::wheelEvent(QWheelEvent* event)
{
    if (!m_state.alignment())
        return;
    const double steps = event->angleDelta().y() / 120.0;
    zoom(std::pow(zoomStep, -steps), axisOf(event->position().x()));
    event->accept();
}

bool CompareCurves::event(QEvent* event)
{
    // Its own keys are not the window's commands while it has the focus.
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if ((key->modifiers() & ~Qt::KeypadModifier) == Qt::NoModifier)
            switch (key->key()) {
            case Qt::Key_Left:
            case Qt::Key_Right:
            case Qt::Key_Plus:
            case Qt::Key_Equal:
            case Qt::Key_Minus:
            case Qt::Key_Home:
            case Qt::Key_W:
            case Qt::Key_S:
            case Qt::Key_F:
            case Qt::Key_P:
                event->accept();
                return true;
            default:
                break;
            }
    }
    return QWidget::event(event);
}

void CompareCurves::keyPressEvent(QKeyEvent* event)
{
    const auto alignment = m_state.alignment();
    if (!alignment || (event->modifiers() & ~Qt::KeypadModifier) != Qt::NoModifier) {
        QWidget::keyPressEvent(event);
        return;
    }
    const StateIndex at = alignment->stateOf(Which::A, m_state.cursor());
    switch (event->key()) {
    case Qt::Key_Left:
        if (at > 0)
            m_state.setCursor(alignment->xOf(Which::A, at - 1));
        break;
    case Qt::Key_Right:
        if (at + 1 < alignment->replay(Which::A).states())
            m_state.setCursor(alignment->xOf(Which::A, at + 1));
        break;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
    case Qt::Key_W:
        zoom(1 / zoomStep, m_state.cursor());
        break;
    case Qt::Key_Minus:
    case Qt::Key_S:
        zoom(zoomStep, m_state.cursor());
        break;
    case Qt::Key_Home:
    case Qt::Key_F:
        m_state.setWindow({0, alignment->length()});
        break;
    case Qt::Key_P:
        m_state.setCursor(alignment->xOf(Which::A, m_state.comparison()->peakStateA));
        break;
    default:
        QWidget::keyPressEvent(event);
    }
}

} // namespace tidemark
