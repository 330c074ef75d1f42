// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/style/look.hpp"

#include "widgets/style/style.hpp"

#include <QPainter>
#include <QStyleFactory>
#include <QStyleOption>
#include <QToolButton>

namespace tidemark {

Look::Look(const Style& style)
    : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion")))
    , m_style(style)
{ }

int Look::pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const
{
    const Metrics& m = m_style.metrics();
    switch (metric) {
    case PM_SmallIconSize:
    case PM_ToolBarIconSize:
    case PM_ButtonIconSize:
    case PM_TabBarIconSize:
        return m.icon;
    case PM_DockWidgetSeparatorExtent:
    case PM_SplitterWidth:
        return m.splitter;
    case PM_ToolBarItemSpacing:
        return m.unit;
    case PM_ToolBarItemMargin:
        return m.unit;
    case PM_ToolBarFrameWidth:
        return 0;
    case PM_IndicatorWidth:
    case PM_IndicatorHeight:
        return m.px(13);
    case PM_TabBarTabHSpace:
        return m.px(24);
    case PM_TabBarTabVSpace:
        return m.px(8);
    case PM_TabBarTabShiftVertical:
        return 0;
    case PM_TabBarTabOverlap:
        return 0;
    case PM_TabBarBaseOverlap:
        return 1;
    default:
        return QProxyStyle::pixelMetric(metric, option, widget);
    }
}

int Look::styleHint(
    StyleHint hint, const QStyleOption* option, const QWidget* widget, QStyleHintReturn* returnData) const
{
    switch (hint) {
    case SH_ToolTip_WakeUpDelay:
        return 250;
    case SH_DialogButtonBox_ButtonsHaveIcons: // those of the toolkit are black on a dark ground
    case SH_Widget_Animate:
    case SH_Widget_Animation_Duration:
        return 0;
    default:
        return QProxyStyle::styleHint(hint, option, widget, returnData);
    }
}

void Look::drawPrimitive(
    PrimitiveElement element, const QStyleOption* option, QPainter* painter, const QWidget* widget) const
{
    const Metrics& m = m_style.metrics();
    switch (element) {
    case PE_PanelButtonTool: {
        // Only what is checked or under the pointer has a shape.
        const bool enabled = option->state & State_Enabled;
        const bool on = enabled && (option->state & (State_On | State_Sunken));
        const bool hover = (option->state & State_MouseOver) && enabled;
        if (!on && !hover)
            return;
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        painter->setBrush(m_style.color(on ? Tone::SelSoft : Tone::Head));
        painter->setPen(QPen(m_style.color(on ? Tone::Sel : Tone::Line), 1));
        painter->drawRoundedRect(QRectF(option->rect).adjusted(0.5, 0.5, -0.5, -0.5), m.radius, m.radius);
        painter->restore();
        return;
    }
    case PE_IndicatorCheckBox:
    case PE_IndicatorItemViewItemCheck:
        drawCheck(option, painter);
        return;
    case PE_PanelTipLabel:
        painter->fillRect(option->rect, m_style.color(Tone::Base));
        painter->setPen(m_style.color(Tone::Line));
        painter->drawRect(option->rect.adjusted(0, 0, -1, -1));
        return;
    case PE_FrameTabBarBase: {
        const QRect r = option->rect;
        painter->setPen(m_style.color(Tone::Line));
        painter->drawLine(r.bottomLeft(), r.bottomRight());
        return;
    }
    case PE_Frame:
        painter->setPen(m_style.color(Tone::Line));
        painter->setBrush(Qt::NoBrush);
        painter->drawRect(option->rect.adjusted(0, 0, -1, -1));
        return;
    case PE_PanelStatusBar:
    case PE_FrameStatusBarItem:
        return;
    case PE_IndicatorToolBarSeparator: {
        const QRect r = option->rect;
        painter->setPen(m_style.color(Tone::Line));
        painter->drawLine(r.center().x(), r.top() + m.px(8), r.center().x(), r.bottom() - m.px(8));
        return;
    }
    case PE_IndicatorDockWidgetResizeHandle:
        return;
    case PE_IndicatorHeaderArrow:
        // The arrow points to where values get smaller, against the toolkit's habit.
        if (const auto* header = qstyleoption_cast<const QStyleOptionHeader*>(option);
            header && header->sortIndicator != QStyleOptionHeader::None) {
            QStyleOptionHeader turned = *header;
            turned.sortIndicator = header->sortIndicator == QStyleOptionHeader::SortUp
                ? QStyleOptionHeader::SortDown
                : QStyleOptionHeader::SortUp;
            QProxyStyle::drawPrimitive(element, &turned, painter, widget);
            return;
        }
        QProxyStyle::drawPrimitive(element, option, painter, widget);
        return;
    default:
        QProxyStyle::drawPrimitive(element, option, painter, widget);
    }
}

void Look::drawControl(
    ControlElement element, const QStyleOption* option, QPainter* painter, const QWidget* widget) const
{
    switch (element) {
    case CE_TabBarTabShape:
        drawTabShape(option, painter);
        return;
    case CE_HeaderSection:
    case CE_HeaderEmptyArea:
        drawHeaderSection(option, painter);
        return;
    case CE_HeaderLabel:
        if (const auto* header = qstyleoption_cast<const QStyleOptionHeader*>(option)) {
            // Headings stand above the texts of their cells.
            QStyleOptionHeader inset(*header);
            inset.rect.adjust(m_style.metrics().px(3), 0, -m_style.metrics().px(3), 0);
            QProxyStyle::drawControl(element, &inset, painter, widget);
        }
        return;
    case CE_PushButtonBevel:
        drawButton(option, painter);
        return;
    case CE_ToolBar:
        painter->fillRect(option->rect, m_style.color(Tone::Win));
        return;
    case CE_Splitter:
        return;
    default:
        QProxyStyle::drawControl(element, option, painter, widget);
    }
}

void Look::drawCheck(const QStyleOption* option, QPainter* painter) const
{
    const bool enabled = option->state & State_Enabled;
    const bool on = option->state & (State_On | State_NoChange);
    const double side = std::min(option->rect.width(), option->rect.height());
    QRectF box(0, 0, side - 1, side - 1);
    box.moveCenter(QRectF(option->rect).center());
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const bool focus = option->state & State_HasFocus;
    painter->setBrush(m_style.color(on ? (enabled ? Tone::Sel : Tone::Line) : Tone::Base));
    painter->setPen(QPen(m_style.color(on || focus ? (enabled ? Tone::Sel : Tone::Line) : Tone::Dim), 1));
    painter->drawRoundedRect(box, 2, 2);
    if (on) {
        painter->setPen(
            QPen(m_style.color(Tone::SelText), side / 8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        const auto at = [&box](double x, double y) {
            return QPointF(box.left() + x * box.width(), box.top() + y * box.height());
        };
        if (option->state & State_NoChange)
            painter->drawLine(at(0.25, 0.5), at(0.75, 0.5));
        else
            painter->drawPolyline(QPolygonF{at(0.22, 0.52), at(0.43, 0.73), at(0.78, 0.28)});
    }
    painter->restore();
}

void Look::drawButton(const QStyleOption* option, QPainter* painter) const
{
    const auto* button = qstyleoption_cast<const QStyleOptionButton*>(option);
    const bool enabled = option->state & State_Enabled;
    const bool hover = enabled && (option->state & State_MouseOver);
    const bool down = option->state & (State_Sunken | State_On);
    if (button && (button->features & QStyleOptionButton::Flat) && !hover && !down)
        return;
    const QColor ground = option->palette.color(QPalette::Button);
    const bool accent = enabled && ground == m_style.color(Tone::Sel);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    if (accent) {
        painter->setBrush(QColor(mixed(ground.rgb(), m_style.theme().rgb(Tone::Ink),
            down        ? 0.2
                : hover ? 0.1
                        : 0)));
        painter->setPen(QPen(painter->brush().color(), 1));
    } else {
        QLinearGradient fill(0, option->rect.top(), 0, option->rect.bottom());
        fill.setColorAt(0, m_style.color(down ? Tone::Btn2 : hover ? Tone::Base : Tone::Btn1));
        fill.setColorAt(1, m_style.color(Tone::Btn2));
        painter->setBrush(fill);
        painter->setPen(QPen(m_style.color(Tone::Line), 1));
    }
    const int radius = m_style.metrics().radius;
    painter->drawRoundedRect(QRectF(option->rect).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
    if (option->state & State_HasFocus && option->state & State_KeyboardFocusChange) {
        painter->setBrush(Qt::NoBrush);
        painter->setPen(QPen(m_style.color(accent ? Tone::Ink : Tone::Sel), 2));
        painter->drawRoundedRect(QRectF(option->rect).adjusted(1, 1, -1, -1), radius, radius);
    }
    painter->restore();
}

void Look::drawTabShape(const QStyleOption* option, QPainter* painter) const
{
    const bool chosen = option->state & State_Selected;
    const bool hover = option->state & State_MouseOver;
    QRectF box(option->rect);
    box.adjust(0.5, chosen ? 0.5 : 2.5, -0.5, m_style.metrics().radius + 1.0);
    painter->save();
    painter->setClipRect(option->rect);
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setBrush(m_style.color(chosen ? Tone::Base : hover ? Tone::Head : Tone::Head2));
    painter->setPen(QPen(m_style.color(Tone::Line), 1));
    painter->drawRoundedRect(box, m_style.metrics().radius, m_style.metrics().radius);
    if (chosen)
        painter->fillRect(QRectF(box.left(), option->rect.top(), box.width(), 2), m_style.color(Tone::Sel));
    else {
        painter->setPen(QPen(m_style.color(Tone::Line), 1));
        painter->drawLine(QPointF(option->rect.left(), option->rect.bottom() + 0.5),
            QPointF(option->rect.right() + 1, option->rect.bottom() + 0.5));
    }
    painter->restore();
}

void Look::drawHeaderSection(const QStyleOption* option, QPainter* painter) const
{
    const QRect r = option->rect;
    QLinearGradient fill(r.topLeft(), r.bottomLeft());
    fill.setColorAt(0, m_style.color(Tone::Btn1));
    fill.setColorAt(1, m_style.color(Tone::Btn2));
    painter->fillRect(r, fill);
    painter->setPen(m_style.color(Tone::Line2));
    painter->drawLine(r.topRight(), r.bottomRight());
    painter->setPen(m_style.color(Tone::Line));
    painter->drawLine(r.bottomLeft(), r.bottomRight());
}

QSize Look::sizeFromContents(
    ContentsType type, const QStyleOption* option, const QSize& contents, const QWidget* widget) const
{
    QSize size = QProxyStyle::sizeFromContents(type, option, contents, widget);
    const Metrics& m = m_style.metrics();
    if (type == CT_PushButton) {
        size.setHeight(std::max(m.button, contents.height() + m.px(6)));
        size.setWidth(std::max(size.width(), contents.width() + 2 * m.px(10)));
    }
    if (type == CT_ComboBox)
        size.setHeight(std::max(m.button, contents.height() + m.px(8)));
    else if (type == CT_TabBarTab)
        size.setHeight(std::max(m.tab, size.height()));
    else if (type == CT_MenuBarItem)
        size.setHeight(std::max(size.height(), m.px(25)));
    return size;
}

} // namespace tidemark
