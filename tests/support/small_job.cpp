// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/small_job.hpp"

#include <fstream>
#include <stdexcept>

namespace tidemark::test {

namespace {

constexpr std::uint64_t base = 0x7f0000000000ULL;
constexpr std::uint64_t mib = 1U << 20;

/// Climbs once more, frees every second piece or none, and asks for two pieces that are not there.
RecordedSnapshot failing(RecordedSnapshot s, int blocks, std::uint64_t bytes, bool frees)
{
    std::int64_t time = s.events.back().timeUs + 10;
    const auto address = [&](int i) { return base + bytes * static_cast<std::uint64_t>(i); };
    const auto size = static_cast<std::int64_t>(bytes);
    for (int i = 0; i < blocks; ++i)
        s.events.push_back({"alloc", address(i), size, 0, time += 10, 0});
    s.segments.front().blocks.clear();
    for (int i = 0; i < blocks; ++i) {
        const bool freed = frees && i % 2 == 1;
        if (freed)
            for (const char* action : {"free_requested", "free_completed"})
                s.events.push_back({action, address(i), size, 0, time += 10, 0});
        RecordedBlock block{address(i), bytes, bytes, "active_allocated", 0};
        if (freed)
            block = {address(i), bytes, 0, "inactive", noStack};
        s.segments.front().blocks.push_back(block);
    }
    s.events.push_back({"oom", mib, 2 * size, 0, time += 10, 0});
    return s;
}

} // namespace

RecordedSnapshot climbingRank(int blocks, std::uint64_t bytes, int rounds, bool steps)
{
    RecordedSnapshot s;
    s.frames = {{"forward", "/app/net.py", 12}};
    s.stacks = {{0}};
    const std::uint64_t total = bytes * static_cast<std::uint64_t>(blocks);
    std::int64_t time = 1'000'000;
    s.events.push_back({"segment_alloc", base, static_cast<std::int64_t>(total), 0, time, noStack});
    for (int round = 0; round < rounds; ++round) {
        const std::string name = "ProfilerStep#" + std::to_string(round + 1);
        if (steps)
            s.marks.push_back({true, name, time + 1});
        for (int i = 0; i < blocks; ++i)
            s.events.push_back({"alloc", base + bytes * static_cast<std::uint64_t>(i),
                static_cast<std::int64_t>(bytes), 0, time += 10, 0});
        for (int i = 0; i < blocks; ++i)
            for (const char* action : {"free_requested", "free_completed"})
                s.events.push_back({action, base + bytes * static_cast<std::uint64_t>(i),
                    static_cast<std::int64_t>(bytes), 0, time += 10, 0});
        if (steps)
            s.marks.push_back({false, name, time + 1});
    }
    s.segments = {{base, total, 0, false, {0, 0}, false, noStack, {{base, total, 0, "inactive", noStack}}}};
    return s;
}

RecordedSnapshot fragmentedRank(int blocks, std::uint64_t bytes, int rounds, bool steps)
{
    return failing(climbingRank(blocks, bytes, rounds, steps), blocks, bytes, true);
}

RecordedSnapshot fullRank(int blocks, std::uint64_t bytes, int rounds, bool steps)
{
    return failing(climbingRank(blocks, bytes, rounds, steps), blocks, bytes, false);
}

void writeJobFile(const std::filesystem::path& file, const std::string& bytes)
{
    std::filesystem::create_directories(file.parent_path());
    std::ofstream out(file, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush())
        throw std::runtime_error("cannot write " + file.string());
}

void writeSmallJob(const std::filesystem::path& folder, int ranks, int failing, int blocks)
{
    const std::string plain = writePickle(climbingRank(blocks, 64 * mib, 3, true));
    for (int rank = 0; rank < ranks; ++rank)
        if (rank != failing)
            writeJobFile(folder / ("snapshot_" + std::to_string(rank) + ".pickle"), plain);
    if (failing >= 0)
        writeJobFile(folder / ("snapshot_oom_rank-" + std::to_string(failing) + ".pickle"),
            writePickle(fragmentedRank(blocks, 64 * mib, 2, true)));
}

} // namespace tidemark::test
