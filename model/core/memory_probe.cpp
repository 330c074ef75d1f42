// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/memory_probe.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace tidemark {

namespace {

/// The first number of a file; absent for none ("max").
std::optional<std::uint64_t> numberIn(const std::string& path)
{
    std::ifstream file(path);
    std::uint64_t number = 0;
    return file >> number ? std::optional(number) : std::nullopt;
}

std::optional<MemoryState> machineMemory()
{
    std::ifstream file("/proc/meminfo");
    MemoryState state;
    std::string key;
    std::string unit;
    for (std::uint64_t kib = 0; file >> key >> kib; std::getline(file, unit)) {
        if (key == "MemTotal:")
            state.total = kib * 1024;
        else if (key == "MemAvailable:")
            state.available = kib * 1024;
        if (state.total != 0 && state.available != 0)
            return state;
    }
    return std::nullopt;
}

/// Limit and use of a control group. What is only cached from files counts as free: it is given back.
std::optional<MemoryState> groupMemory(
    const std::string& limitFile, const std::string& useFile, const std::string& statFile, const char* cached)
{
    const auto limit = numberIn(limitFile);
    const auto used = numberIn(useFile);
    // Version 1 says "no limit" by a number beyond any memory.
    if (!limit || !used || *limit > std::numeric_limits<std::uint64_t>::max() / 4)
        return std::nullopt;
    std::uint64_t reclaimable = 0;
    std::ifstream stat(statFile);
    std::string key;
    for (std::uint64_t value = 0; stat >> key >> value;)
        if (key == cached)
            reclaimable = value;
    const std::uint64_t held = *used - std::min(*used, reclaimable);
    return MemoryState{*limit, *limit - std::min(*limit, held)};
}

std::optional<MemoryState> controlGroup()
{
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        if (line.starts_with("0::")) {
            const std::string folder = "/sys/fs/cgroup" + line.substr(3);
            if (auto state = groupMemory(folder + "/memory.max", folder + "/memory.current",
                    folder + "/memory.stat", "inactive_file"))
                return state;
        }
        if (line.find(":memory:") != std::string::npos)
            if (auto state = groupMemory("/sys/fs/cgroup/memory/memory.limit_in_bytes",
                    "/sys/fs/cgroup/memory/memory.usage_in_bytes", "/sys/fs/cgroup/memory/memory.stat",
                    "total_inactive_file"))
                return state;
    }
    return std::nullopt;
}

} // namespace

std::optional<MemoryState> systemMemory()
{
    const auto machine = machineMemory();
    const auto group = controlGroup();
    if (!machine || !group)
        return machine ? machine : group;
    return MemoryState{
        std::min(machine->total, group->total), std::min(machine->available, group->available)};
}

std::uint64_t memoryReserve(const MemoryState& state)
{
    constexpr std::uint64_t MiB = 1ULL << 20;
    return std::clamp(state.total / 20, 64 * MiB, 1024 * MiB);
}

} // namespace tidemark
