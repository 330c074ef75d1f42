// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>

namespace tidemark {

/// Lets work begin while what is under way fits a budget; one piece of work is always let in. Any thread.
class MemoryGate {
public:
    explicit MemoryGate(std::uint64_t budgetBytes)
        : m_budget(budgetBytes)
    { }

    /// Waits for room; false when stopped meanwhile.
    bool enter(std::uint64_t bytes, const std::stop_token& stop)
    {
        std::unique_lock lock(m_mutex);
        const bool in = m_changed.wait(
            lock, stop, [&] { return m_used == 0 || m_used + std::min(bytes, m_budget) <= m_budget; });
        if (in && !stop.stop_requested()) {
            m_used += bytes;
            return true;
        }
        return false;
    }
    void leave(std::uint64_t bytes)
    {
        {
            const std::scoped_lock lock(m_mutex);
            m_used -= bytes;
        }
        m_changed.notify_all();
    }

private:
    const std::uint64_t m_budget;
    std::mutex m_mutex;
    std::condition_variable_any m_changed;
    std::uint64_t m_used = 0;
};

/// Guesses what an opened file takes, and learns from the ones that were opened. Any thread.
class MemoryGuess {
public:
    /// Bytes of memory for a file of this size and name ending.
    std::uint64_t of(const std::string& ending, std::uint64_t fileBytes) const
    {
        const std::scoped_lock lock(m_mutex);
        const auto known = m_factors.find(ending);
        const double factor = known != m_factors.end() ? known->second : isPacked(ending) ? 25 : 2.5;
        return static_cast<std::uint64_t>(factor * static_cast<double>(fileBytes)) + fixedBytes;
    }
    void learn(const std::string& ending, std::uint64_t fileBytes, std::uint64_t unpackedBytes)
    {
        if (fileBytes == 0)
            return;
        const double factor
            = perUnpackedByte * static_cast<double>(unpackedBytes) / static_cast<double>(fileBytes);
        const std::scoped_lock lock(m_mutex);
        double& known = m_factors[ending];
        known = std::max(known, factor);
    }

private:
    static bool isPacked(const std::string& ending)
    {
        return ending == ".gz" || ending == ".zst" || ending == ".zstd" || ending == ".zip";
    }
    /// Measured with bench_job: pickles of 10⁵ and 6 · 10⁵ events, packed or not, take 0.7 to 0.8 times
    /// their unpacked bytes while they are opened and diagnosed. Other files may take more: JSON, stacks that
    /// hardly repeat. Twice the bytes is a guess on the safe side, and so are the factors above.
    static constexpr double perUnpackedByte = 2;
    static constexpr std::uint64_t fixedBytes = 4U << 20;

    mutable std::mutex m_mutex;
    std::map<std::string, double> m_factors;
};

} // namespace tidemark
