// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/worker.hpp"

namespace tidemark {

Worker::Worker()
    : m_thread([this](const std::stop_token& end) { loop(end); })
{ }

Worker::~Worker()
{
    cancel();
    m_thread.request_stop();
}

void Worker::submit(Task task)
{
    const std::lock_guard lock(m_mutex);
    m_current.request_stop();
    m_waiting = std::move(task);
    m_wake.notify_one();
}

void Worker::cancel()
{
    const std::lock_guard lock(m_mutex);
    m_current.request_stop();
    m_waiting.reset();
}

void Worker::loop(const std::stop_token& end)
{
    while (true) {
        Task task;
        std::stop_token stop;
        {
            std::unique_lock lock(m_mutex);
            if (!m_wake.wait(lock, end, [this] { return m_waiting.has_value(); }))
                return;
            task = std::move(*m_waiting);
            m_waiting.reset();
            m_current = std::stop_source();
            stop = m_current.get_token();
        }
        task(stop);
    }
}

} // namespace tidemark
