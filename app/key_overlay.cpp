// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/key_overlay.hpp"

#include <QKeyEvent>
#include <QMenu>
#include <QMenuBar>
#include <QPainter>

#include <algorithm>
#include <set>

namespace tidemark {

namespace {

constexpr int keysWidth = 92;
constexpr int columnGap = 24;
constexpr int slack = 4; ///< what letters of a smaller size are wider than expected
constexpr double smallestScale = 0.45; ///< of the text, in a window too small for all of it

/// The keys of a menu; an action that stands in two menus is told once.
void collect(const QMenu& menu, const QString& title, std::set<const QAction*>& told,
    std::vector<KeyOverlay::Row>& out)
{
    for (const QAction* action : menu.actions()) {
        if (action->menu()) {
            collect(*action->menu(), title, told, out);
            continue;
        }
        QStringList keys;
        for (const QKeySequence& key : action->shortcuts())
            keys << key.toString(QKeySequence::NativeText);
        QString text = action->text();
        text.remove(QLatin1Char('&'));
        if (!keys.isEmpty() && told.insert(action).second)
            out.push_back({title, text, keys.join(QStringLiteral(", "))});
    }
}

} // namespace

KeyOverlay::KeyOverlay(const QMenuBar& menus, const Style& style, QWidget* window)
    : QWidget(window)
    , m_menus(menus)
    , m_style(style)
{
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Keys"));
    hide();
}

std::vector<KeyOverlay::Row> KeyOverlay::rows() const
{
    std::vector<Row> out;
    std::set<const QAction*> told;
    for (const QAction* top : m_menus.actions()) {
        QString title = top->text();
        title.remove(QLatin1Char('&'));
        if (top->menu())
            collect(*top->menu(), title, told, out);
    }
    return out;
}

void KeyOverlay::toggle()
{
    if (isVisible()) {
        hide();
        return;
    }
    setGeometry(parentWidget()->rect());
    raise();
    show();
    setFocus();
}

bool KeyOverlay::event(QEvent* event)
{
    // No command fires while the map is up; its key closes the map first.
    if (event->type() == QEvent::ShortcutOverride) {
        event->accept();
        return true;
    }
    return QWidget::event(event);
}

void KeyOverlay::mousePressEvent(QMouseEvent*)
{
    hide();
}

void KeyOverlay::keyPressEvent(QKeyEvent*)
{
    hide();
}

void KeyOverlay::focusOutEvent(QFocusEvent*)
{
    hide();
}

QFont KeyOverlay::font(FontRole role, double scale) const
{
    QFont out = m_style.font(role);
    out.setPointSizeF(out.pointSizeF() * scale);
    return out;
}

int KeyOverlay::keysRoom(const QString& keys, double scale) const
{
    return std::max(static_cast<int>(m_style.metrics().px(keysWidth) * scale),
        QFontMetrics(font(FontRole::Base, scale)).horizontalAdvance(keys) + m_style.metrics().px(8));
}

double KeyOverlay::scaleFor(const QRect& area) const
{
    double scale = 1;
    for (; scale > smallestScale; scale -= 0.1) {
        const std::vector<Cell> all = cellsAt(area, scale);
        if (all.empty() || all.front().area.height() >= QFontMetrics(font(FontRole::Base, scale)).height())
            break;
    }
    return scale;
}

std::vector<KeyOverlay::Cell> KeyOverlay::cells(const QRect& area) const
{
    return cellsAt(area, scaleFor(area));
}

std::vector<KeyOverlay::Cell> KeyOverlay::cellsAt(const QRect& area, double scale) const
{
    const std::vector<Row> all = rows();
    const QFontMetrics base(font(FontRole::Base, scale));
    int wide = 0;
    for (const Row& row : all)
        wide = std::max(wide, keysRoom(row.keys, scale) + base.horizontalAdvance(row.text) + slack);
    wide += m_style.metrics().px(columnGap);
    const int most = std::max(1, area.width() / wide);
    // The fewest lines that hold everything; each column begins with the heading of what it goes on with.
    std::vector<Cell> out;
    int lines = 4;
    for (;; ++lines) {
        out.clear();
        int column = 0;
        int line = 0;
        QString last;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const bool fresh = all[i].menu != last;
            if (line > 0 && line + (fresh ? 3 : 1) > lines) {
                ++column;
                line = 0;
            } else if (fresh && line > 0) {
                ++line;
            }
            if (fresh || line == 0) {
                out.push_back({all[i].menu, {}, QRect(column, line, 1, 1), !fresh});
                ++line;
            }
            out.push_back({all[i].text, all[i].keys, QRect(column, line, 1, 1), false});
            ++line;
            last = all[i].menu;
        }
        if (column < most)
            break;
    }
    const int step = std::max(1, std::min(m_style.metrics().px(22), area.height() / lines));
    for (Cell& cell : out)
        cell.area = QRect(area.left() + cell.area.x() * wide, area.top() + cell.area.y() * step,
            wide - m_style.metrics().px(columnGap), step);
    return out;
}

void KeyOverlay::paintEvent(QPaintEvent*)
{
    const Metrics& m = m_style.metrics();
    QPainter painter(this);
    QColor veil = m_style.color(Tone::Base);
    veil.setAlpha(246);
    painter.fillRect(rect(), veil);

    const QFont base = m_style.font(FontRole::Base);
    const QFont title = m_style.font(FontRole::Title);
    const int margin = m.px(24);
    const int line = margin + QFontMetrics(title).ascent();
    painter.setFont(title);
    painter.setPen(m_style.color(Tone::Text));
    painter.drawText(margin, line, tr("Keys"));
    const int beside = margin + QFontMetrics(title).horizontalAdvance(tr("Keys")) + m.px(16);
    painter.setFont(base);
    painter.setPen(m_style.color(Tone::Text2));
    painter.drawText(beside, line, tr("any key closes this"));

    const int top = margin + QFontMetrics(title).height() + m.px(10);
    const QRect area = rect().adjusted(margin, top, -margin, -m.px(8));
    const double scale = scaleFor(area);
    for (const Cell& cell : cellsAt(area, scale))
        paintCell(painter, cell, scale);
}

void KeyOverlay::paintCell(QPainter& painter, const Cell& cell, double scale) const
{
    if (cell.keys.isEmpty()) {
        painter.setFont(font(FontRole::Strong, scale));
        painter.setPen(m_style.color(Tone::Text));
        painter.drawText(cell.area, Qt::AlignLeft | Qt::AlignVCenter,
            cell.continued ? tr("%1, continued").arg(cell.text) : cell.text);
        return;
    }
    painter.setFont(font(FontRole::Base, scale));
    painter.setPen(m_style.color(Tone::Link));
    painter.drawText(cell.area, Qt::AlignLeft | Qt::AlignVCenter, cell.keys);
    const QRect room = cell.area.adjusted(keysRoom(cell.keys, scale), 0, 0, 0);
    painter.setPen(m_style.color(Tone::Text));
    painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(cell.text, Qt::ElideRight, room.width()));
}

} // namespace tidemark
