// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/key_overlay.hpp"

#include <QKeyEvent>
#include <QMenu>
#include <QMenuBar>
#include <QPainter>

namespace tidemark {

namespace {

constexpr int columnWidth = 300;
constexpr int keysWidth = 92;

void collect(const QMenu& menu, const QString& title, std::vector<KeyOverlay::Row>& out)
{
    for (const QAction* action : menu.actions()) {
        if (action->menu()) {
            collect(*action->menu(), title, out);
            continue;
        }
        QStringList keys;
        for (const QKeySequence& key : action->shortcuts())
            keys << key.toString(QKeySequence::NativeText);
        QString text = action->text();
        text.remove(QLatin1Char('&'));
        if (!keys.isEmpty())
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
    for (const QAction* top : m_menus.actions()) {
        QString title = top->text();
        title.remove(QLatin1Char('&'));
        if (top->menu())
            collect(*top->menu(), title, out);
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

void KeyOverlay::paintEvent(QPaintEvent*)
{
    const Metrics& m = m_style.metrics();
    QPainter painter(this);
    QColor veil = m_style.color(Tone::Base);
    veil.setAlpha(246);
    painter.fillRect(rect(), veil);

    const std::vector<Row> all = rows();
    const QFont base = m_style.font(FontRole::Base);
    const QFont strong = m_style.font(FontRole::Strong);
    const QFont title = m_style.font(FontRole::Title);
    const int margin = m.px(32);
    const int top = margin + QFontMetrics(title).height() + m.px(16);
    const int columns = std::max(1, (width() - 2 * margin) / m.px(columnWidth));
    // Headings take a row and a gap each: the columns are filled as long as they are even.
    int lines = static_cast<int>(all.size());
    QString last;
    for (const Row& row : all)
        if (row.menu != last) {
            last = row.menu;
            lines += 2;
        }
    const int perColumn = std::max(4, (lines + columns - 1) / columns + 1);
    const int step
        = std::min(m.px(22), std::max(QFontMetrics(base).height(), (height() - top - margin) / perColumn));

    painter.setFont(title);
    painter.setPen(m_style.color(Tone::Text));
    painter.drawText(margin, margin + QFontMetrics(title).ascent(), tr("Keys"));
    painter.setFont(base);
    painter.setPen(m_style.color(Tone::Text2));
    painter.drawText(margin + m.px(70), margin + QFontMetrics(title).ascent(), tr("any key closes this"));

    int column = 0;
    int line = 0;
    last.clear();
    for (const Row& row : all) {
        if (row.menu != last) {
            last = row.menu;
            if (line > 0)
                ++line;
            if (line + 2 >= perColumn) {
                ++column;
                line = 0;
            }
            painter.setFont(strong);
            painter.setPen(m_style.color(Tone::Text));
            painter.drawText(margin + column * m.px(columnWidth),
                top + line * step + QFontMetrics(strong).ascent(), row.menu);
            ++line;
        } else if (line >= perColumn) {
            ++column;
            line = 0;
        }
        const int x = margin + column * m.px(columnWidth);
        const int y = top + line * step + QFontMetrics(base).ascent();
        painter.setFont(base);
        painter.setPen(m_style.color(Tone::Link));
        painter.drawText(x, y, row.keys);
        painter.setPen(m_style.color(Tone::Text));
        const int left = std::max(m.px(keysWidth), QFontMetrics(base).horizontalAdvance(row.keys) + m.px(8));
        painter.drawText(x + left, y,
            QFontMetrics(base).elidedText(row.text, Qt::ElideRight, m.px(columnWidth - 12) - left));
        ++line;
    }
}

} // namespace tidemark
