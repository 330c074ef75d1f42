// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLayout>
#include <QWidget>

#include <algorithm>
#include <vector>

namespace tidemark {

/// Controls side by side, on as many lines as the width asks for; hidden ones take no room.
class WrappingRow : public QLayout {
public:
    explicit WrappingRow(int gap, QWidget* parent = nullptr)
        : QLayout(parent)
        , m_gap(gap)
    { }
    ~WrappingRow() override
    {
        for (QLayoutItem* item : m_items)
            delete item;
    }
    WrappingRow(const WrappingRow&) = delete;
    WrappingRow& operator=(const WrappingRow&) = delete;

    void addItem(QLayoutItem* item) override { m_items.push_back(item); }
    int count() const override { return static_cast<int>(m_items.size()); }
    QLayoutItem* itemAt(int at) const override
    {
        return at >= 0 && at < count() ? m_items[static_cast<std::size_t>(at)] : nullptr;
    }
    QLayoutItem* takeAt(int at) override
    {
        QLayoutItem* item = itemAt(at);
        if (item)
            m_items.erase(m_items.begin() + at);
        return item;
    }
    Qt::Orientations expandingDirections() const override { return {}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override { return place(QRect(0, 0, width, 0), false); }
    QSize minimumSize() const override
    {
        QSize least;
        for (const QLayoutItem* item : m_items)
            if (!item->isEmpty())
                least = least.expandedTo(item->minimumSize());
        const QMargins m = contentsMargins();
        return least + QSize(m.left() + m.right(), m.top() + m.bottom());
    }
    QSize sizeHint() const override { return minimumSize(); }
    void setGeometry(const QRect& rect) override
    {
        QLayout::setGeometry(rect);
        place(rect, true);
    }

private:
    int place(const QRect& rect, bool apply) const
    {
        const QMargins m = contentsMargins();
        const QRect room = rect.marginsRemoved(m);
        int x = room.left();
        int y = room.top();
        int tall = 0;
        for (QLayoutItem* item : m_items) {
            if (item->isEmpty())
                continue;
            const QSize size = item->sizeHint();
            if (x > room.left() && x + size.width() > room.left() + room.width()) {
                x = room.left();
                y += tall + m_gap / 2;
                tall = 0;
            }
            if (apply)
                item->setGeometry(
                    QRect(QPoint(x, y), QSize(std::min(size.width(), room.width()), size.height())));
            x += size.width() + m_gap;
            tall = std::max(tall, size.height());
        }
        return y + tall + m.bottom() - rect.top();
    }

    int m_gap;
    std::vector<QLayoutItem*> m_items;
};

} // namespace tidemark
