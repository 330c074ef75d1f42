// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/snapshot/builder.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace tidemark::test {

/// A block as the toy allocator knows it; kind of memory by (stream, pool, small).
struct ToyBlock {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::uint64_t requested = 0;
    BlockState state = BlockState::Inactive;
};

struct ToySegment {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::int64_t stream = 0;
    int pool = 0;
    bool small = false;
    bool expandable = false;
    std::vector<ToyBlock> blocks;
};

using ToyState = std::vector<ToySegment>;

struct ToyWish {
    std::uint64_t seed = 1;
    std::uint32_t steps = 200;
    bool expandable = false;
    bool pools = false; ///< a private pool beside the default one
    bool streams = false;
    /// Events cut off at the front, as when recording starts late.
    std::uint32_t skip = 0;
    std::uint64_t maxSplit = 0; ///< 0 = none
    std::uint32_t divisions = 0; ///< roundup_power2_divisions of every size class
    std::uint64_t padding = 0;
    bool poolOnEvents = true;
};

/// What a small caching allocator did, with the truth after every event: a straightforward imitation that
/// shares no code with the replay.
struct ToyRun {
    std::shared_ptr<const Snapshot> snapshot;
    /// By state of the trace; the last one is what the snapshot lists.
    std::vector<ToyState> states;
};

ToyRun toyRun(const ToyWish& wish);

} // namespace tidemark::test
