// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"

#include <QFutureWatcher>
#include <QObject>
#include <QThreadPool>
#include <QtConcurrent>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace tidemark {

/// Answers the newest of many questions on a thread of its own: while one is being worked on, later ones
/// replace each other, so that a dragged cursor is followed as fast as answers come and never queues up.
/// Answers are handed over on the GUI thread. GUI thread only; the destructor stops the work and waits for
/// it.
template <typename T>
class LatestTask {
public:
    using Work = std::function<T(const Job&)>;
    using Done = std::function<void(T&&)>;

    explicit LatestTask(Done done)
        : m_done(std::move(done))
    {
        m_pool.setMaxThreadCount(1);
        QObject::connect(&m_watcher, &QFutureWatcherBase::finished, &m_watcher, [this] { finished(); });
    }
    ~LatestTask()
    {
        m_watcher.disconnect();
        m_next.reset();
        m_stop.request_stop();
        m_pool.waitForDone();
    }
    LatestTask(const LatestTask&) = delete;
    LatestTask& operator=(const LatestTask&) = delete;

    bool busy() const { return m_running; }

    void request(Work work)
    {
        if (m_running)
            m_next = std::move(work);
        else
            start(std::move(work));
    }

    /// Whatever was asked for is of no interest any more.
    void cancel()
    {
        m_next.reset();
        if (!m_running)
            return;
        m_drop = true;
        m_stop.request_stop();
    }

private:
    void start(Work work)
    {
        m_running = true;
        m_drop = false;
        m_stop = {};
        m_watcher.setFuture(QtConcurrent::run(&m_pool, [work = std::move(work), stop = m_stop.get_token()] {
            return std::make_shared<T>(work(Job{stop, {}}));
        }));
    }

    void finished()
    {
        m_running = false;
        const std::shared_ptr<T> answer = m_watcher.result();
        const bool drop = m_drop;
        if (m_next)
            start(*std::exchange(m_next, std::nullopt));
        if (!drop)
            m_done(std::move(*answer));
    }

    Done m_done;
    QThreadPool m_pool;
    QFutureWatcher<std::shared_ptr<T>> m_watcher;
    std::stop_source m_stop;
    std::optional<Work> m_next;
    bool m_running = false;
    bool m_drop = false;
};

} // namespace tidemark
