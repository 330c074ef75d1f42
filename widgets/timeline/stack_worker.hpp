// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/timeline/stack_picture.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace tidemark {

/// Draws stack pictures on a thread of its own: the latest request wins, the one at work is stopped. Requests
/// come from one thread. The destructor stops and joins.
class StackWorker {
public:
    /// Called on the working thread with the request's number and its picture.
    using Done = std::function<void(std::uint64_t, std::shared_ptr<const StackPicture>)>;

    explicit StackWorker(Done done);
    ~StackWorker();

    /// Numbers ascend; pictures of earlier requests may still arrive once, later ones replace them.
    std::uint64_t request(StackRequest request);
    /// Forgets what waits and stops what runs.
    void cancel();

private:
    void run(const std::stop_token& stop);

    Done m_done;
    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::optional<StackRequest> m_next;
    std::uint64_t m_number = 0;
    std::stop_source m_current;
    std::chrono::steady_clock::time_point m_lastDone;
    std::jthread m_thread;
};

} // namespace tidemark
