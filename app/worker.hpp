// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

namespace tidemark {

/// One thread that does the newest task it was given: a new one asks the running one to stop and takes the
/// place of any that waits. Nobody ever waits for a task, except the destructor, which stops and joins.
class Worker {
public:
    /// Must return soon after the token is set, and must not throw.
    using Task = std::function<void(std::stop_token)>;

    Worker();
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    void submit(Task task);
    /// Asks the running task to stop and drops the waiting one. Returns at once.
    void cancel();

private:
    void loop(const std::stop_token& end);

    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::optional<Task> m_waiting;
    std::stop_source m_current;
    std::jthread m_thread; // last: it uses all of the above
};

} // namespace tidemark
