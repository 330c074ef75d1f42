// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dock_title.hpp"

#include <QDockWidget>
#include <QPainter>
#include <QToolButton>

namespace tidemark {

DockTitle::DockTitle(
    QDockWidget& dock, QWidget& view, const QString& icon, const Style& style, QWidget* extra)
    : QWidget(&dock)
    , m_dock(dock)
    , m_view(view)
    , m_icon(icon)
    , m_style(style)
    , m_extra(extra)
    , m_float(new QToolButton(this))
    , m_close(new QToolButton(this))
{
    m_float->setIcon(style.icon(QStringLiteral("float"), Tone::Text2));
    m_float->setAccessibleName(tr("Float or dock %1").arg(dock.windowTitle()));
    m_close->setIcon(style.icon(QStringLiteral("clear"), Tone::Text2));
    m_close->setAccessibleName(tr("Close %1").arg(dock.windowTitle()));
    for (QToolButton* button : {m_float, m_close}) {
        button->setToolTip(button->accessibleName());
        button->setFocusPolicy(Qt::NoFocus);
        button->setAutoRaise(true);
    }
    if (m_extra) {
        m_extra->setParent(this);
        m_extra->show();
    }
    connect(m_float, &QToolButton::clicked, this, [this] { m_dock.setFloating(!m_dock.isFloating()); });
    connect(m_close, &QToolButton::clicked, &m_dock, &QDockWidget::close);
    connect(&view, &QWidget::windowTitleChanged, this, [this] { update(); });
    connect(&style, &Style::changed, this, [this] {
        updateGeometry();
        update();
    });
}

QSize DockTitle::sizeHint() const
{
    return {m_style.metrics().px(160), m_style.metrics().dockTitle};
}

QSize DockTitle::minimumSizeHint() const
{
    return {m_style.metrics().px(80), m_style.metrics().dockTitle};
}

void DockTitle::resizeEvent(QResizeEvent*)
{
    const Metrics& m = m_style.metrics();
    const int side = m.px(20);
    const int top = (height() - side) / 2;
    int x = width() - m.px(4) - side;
    for (QToolButton* button : {m_close, m_float}) {
        button->setIconSize(QSize(m.px(12), m.px(12)));
        button->setGeometry(x, top, side, side);
        x -= side;
    }
    if (m_extra) {
        const QSize size = m_extra->sizeHint();
        const int height_ = std::min(size.height(), height() - 2);
        m_extra->setGeometry(
            x + side - m.px(4) - size.width(), (height() - height_) / 2, size.width(), height_);
    }
}

void DockTitle::setCompact(bool compact)
{
    m_compact = compact;
    update();
}

void DockTitle::paintEvent(QPaintEvent*)
{
    const Metrics& m = m_style.metrics();
    QPainter painter(this);
    painter.fillRect(rect(), m_style.color(Tone::Head));
    painter.setPen(m_style.color(Tone::Line));
    painter.drawLine(0, height() - 1, width(), height() - 1);
    const QFont small = m_style.font(FontRole::Small);
    const QFont strong = m_style.font(FontRole::Strong);
    const QFontMetrics strongMetrics(strong);
    const int baseline = (height() + strongMetrics.ascent() - strongMetrics.descent()) / 2;
    const int right = (m_extra ? m_extra->x() : m_float->x()) - m.px(6);
    int x = m.px(8);
    if (!m_compact) {
        const int side = m.smallIcon;
        painter.drawPixmap(QPointF(x, (height() - side) / 2.0),
            m_style.pixmap(m_icon, Tone::Text, side, devicePixelRatioF()));
        x += side + m.px(6);
        painter.setFont(strong);
        painter.setPen(m_style.color(Tone::Text));
        const QString name = strongMetrics.elidedText(m_dock.windowTitle(), Qt::ElideRight, right - x);
        painter.drawText(x, baseline, name);
        x += strongMetrics.horizontalAdvance(name) + m.px(8);
    }
    painter.setFont(small);
    if (const QString part = m_dock.property(partProperty).toString(); !part.isEmpty() && right > x) {
        const QFontMetrics smallMetrics(small);
        painter.setPen(m_style.color(Tone::Text));
        const QString shown = smallMetrics.elidedText(part, Qt::ElideRight, right - x);
        painter.drawText(x, baseline, shown);
        x += smallMetrics.horizontalAdvance(shown) + m.px(8);
    }
    painter.setPen(m_style.color(Tone::Text2));
    if (right > x)
        painter.drawText(
            x, baseline, QFontMetrics(small).elidedText(m_view.windowTitle(), Qt::ElideRight, right - x));
}

} // namespace tidemark
