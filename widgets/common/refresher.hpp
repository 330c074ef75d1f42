// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QEvent>
#include <QWidget>

#include <functional>
#include <utility>

namespace tidemark {

/// Refreshes a view once after a burst of changes (a file opens, a jump moves window and cursor), and only
/// while it can be seen: a hidden view catches up when it is shown. GUI thread; a member of the view it
/// serves.
class Refresher : public QObject {
public:
    Refresher(QWidget& view, std::function<void()> refresh)
        : QObject(&view)
        , m_view(view)
        , m_refresh(std::move(refresh))
    {
        view.installEventFilter(this);
    }

    /// Something the view shows has changed.
    void schedule()
    {
        m_due = true;
        if (std::exchange(m_queued, true))
            return;
        QMetaObject::invokeMethod(
            this,
            [this] {
                m_queued = false;
                if (m_due && m_view.isVisible())
                    m_refresh();
            },
            Qt::QueuedConnection);
    }
    /// The view has just been refreshed, by whomever.
    void done() { m_due = false; }
    /// A hidden view is to be refreshed when it is next shown.
    void markDue() { m_due = true; }

    bool eventFilter(QObject* watched, QEvent* event) override
    {
        if (watched == &m_view && event->type() == QEvent::Show && m_due)
            schedule();
        return QObject::eventFilter(watched, event);
    }

private:
    QWidget& m_view;
    std::function<void()> m_refresh;
    bool m_queued = false;
    bool m_due = true;
};

} // namespace tidemark
