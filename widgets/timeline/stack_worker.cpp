// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/timeline/stack_worker.hpp"

namespace tidemark {

namespace {
// While requests come faster than pictures, one is finished this often, so that a long drag shows news.
constexpr std::chrono::milliseconds longestDrought{150};
} // namespace

StackWorker::StackWorker(Done done)
    : m_done(std::move(done))
    , m_lastDone(std::chrono::steady_clock::now())
    , m_thread([this](const std::stop_token& stop) { run(stop); })
{ }

StackWorker::~StackWorker()
{
    cancel();
    m_thread.request_stop();
    m_wake.notify_all();
}

std::uint64_t StackWorker::request(StackRequest request)
{
    const std::lock_guard lock(m_mutex);
    m_next = std::move(request);
    if (std::chrono::steady_clock::now() - m_lastDone < longestDrought)
        m_current.request_stop();
    m_wake.notify_all();
    return ++m_number;
}

void StackWorker::cancel()
{
    const std::lock_guard lock(m_mutex);
    m_next.reset();
    m_current.request_stop();
}

void StackWorker::run(const std::stop_token& stop)
{
    std::shared_ptr<const StackPicture> last;
    while (!stop.stop_requested()) {
        StackRequest request;
        std::uint64_t number = 0;
        Job job;
        {
            std::unique_lock lock(m_mutex);
            if (!m_wake.wait(lock, stop, [this] { return m_next.has_value(); }))
                return;
            request = std::move(*m_next);
            m_next.reset();
            number = m_number;
            m_current = std::stop_source();
            job.stop = m_current.get_token();
        }
        auto picture = drawStack(request, last, job);
        if (!picture)
            continue;
        last = picture;
        {
            const std::lock_guard lock(m_mutex);
            m_lastDone = std::chrono::steady_clock::now();
        }
        m_done(number, std::move(picture));
    }
}

} // namespace tidemark
