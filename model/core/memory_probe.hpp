// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace tidemark {

/// Memory of the machine, or of the group of processes this one is limited to.
struct MemoryState {
    std::uint64_t total = 0; ///< bytes this process could have at most
    std::uint64_t available = 0; ///< bytes it could still take without anybody being ended
};
using MemoryProbe = std::function<std::optional<MemoryState>()>;

/// What the system says: MemAvailable of /proc/meminfo, and the limit of the control group where there is one
/// (cgroup v2 and v1), the smaller of both. Absent where neither can be read. Cost: some tens of µs. Any
/// thread.
std::optional<MemoryState> systemMemory();

/// Opening a file stops when less than this is left: a twentieth of the whole, at least 64 MiB and at most
/// 1 GiB.
std::uint64_t memoryReserve(const MemoryState& state);

} // namespace tidemark
