// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/snapshot/snapshot.hpp"

#include "model/core/units.hpp"

namespace tidemark {

namespace {

constexpr std::array<const char*, 14> actionWords{"alloc", "free_requested", "free_completed", "free",
    "segment_alloc", "segment_free", "segment_map", "segment_unmap", "oom", "snapshot", "user_defined",
    "annotate", "workspace_snapshot", "unknown"};

/// Stream values above this are cudaStream_t pointers rather than numbers somebody counted.
constexpr std::int64_t pointerLike = 0x10000;

} // namespace

const char* actionName(Action action)
{
    return actionWords[static_cast<std::size_t>(action)];
}

std::string deviceName(int ordinal)
{
    if (ordinal == -1)
        return "pinned host memory";
    if (ordinal == cpuOrdinal)
        return "CPU";
    return "GPU " + std::to_string(ordinal);
}

std::string poolName(const Snapshot& snapshot, PoolId pool)
{
    if (!valid(pool) || pool == PoolId{0})
        return "default pool";
    const auto& [first, second] = snapshot.pools[index(pool)];
    return "pool (" + std::to_string(first) + ", " + std::to_string(second) + ")";
}

std::string streamName(const Snapshot& snapshot, StreamId stream)
{
    if (!valid(stream))
        return "unknown stream";
    const std::int64_t value = snapshot.streams[index(stream)];
    if (value == 0)
        return "default stream";
    if (value > 0 && value < pointerLike)
        return "stream " + std::to_string(value);
    return "stream " + formatAddress(static_cast<std::uint64_t>(value));
}

} // namespace tidemark
