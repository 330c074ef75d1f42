// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
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

enum class Action : std::uint8_t;

/// Events that have just been read, of one trace and in order: a look at what is coming before any of it is
/// replayed.
struct ArrivedEvents {
    std::size_t trace = 0; ///< counts the traces of the file from 0
    std::size_t first = 0; ///< the event the rows begin with; one that was there before takes its place
    std::span<const Action> actions;
    std::span<const std::int64_t> sizes; ///< as many
};

/// What long work is given by its caller: a way to be stopped and a way to tell how far it is.
/// Threads: `progress` is called on the working thread and must be cheap; work polls `stopped()` at least
/// every 65,536 rows and returns ErrorCode::Cancelled soon after it turns true.
struct Job {
    std::stop_token stop;
    std::function<void(const Progress&)> progress;
    /// Called while a snapshot is read, as `progress`.
    std::function<void(const ArrivedEvents&)> arrived = {};

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
