// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

namespace tidemark {

/// The stages a file goes through, as shown while loading (help/window.md).
enum class Stage { Open, Read, Replay, Findings };

/// How far a long piece of work has come. `total` is 0 when it cannot be known (a compressed stream).
struct Progress {
    Stage stage = Stage::Open;
    std::uint64_t done = 0;
    std::uint64_t total = 0;
};

/// What long work is given by its caller: a way to be stopped and a way to tell how far it is.
/// Threads: `progress` is called on the working thread and must be cheap; work polls `stopped()` at least
/// every 65,536 rows and returns ErrorCode::Cancelled soon after it turns true.
struct Job {
    std::stop_token stop;
    std::function<void(const Progress&)> progress;

    bool stopped() const { return stop.stop_requested(); }
    void report(Stage stage, std::uint64_t done, std::uint64_t total) const
    {
        if (progress)
            progress({stage, done, total});
    }
};

/// Rows between two polls of Job::stopped.
inline constexpr std::uint32_t pollInterval = 65536;

} // namespace tidemark
