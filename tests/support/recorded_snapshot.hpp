// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tidemark::test {

inline constexpr std::uint32_t noStack = UINT32_MAX;

struct RecordedFrame {
    std::string name;
    std::string file;
    int line = 0;
};

struct RecordedEvent {
    std::string action;
    /// Free bytes of the device for "oom".
    std::uint64_t address = 0;
    std::int64_t size = 0;
    std::int64_t stream = 0;
    std::int64_t timeUs = 0;
    /// Index into RecordedSnapshot::stacks, or noStack: the event then has no `frames`.
    std::uint32_t stack = noStack;
};

struct RecordedBlock {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::uint64_t requested = 0;
    std::string state;
    std::uint32_t stack = noStack;
};

struct RecordedSegment {
    std::uint64_t address = 0;
    std::uint64_t totalSize = 0;
    std::int64_t stream = 0;
    bool small = false;
    std::pair<std::int64_t, std::int64_t> pool{0, 0};
    bool expandable = false;
    std::uint32_t stack = noStack;
    std::vector<RecordedBlock> blocks;
};

struct RecordedMark {
    bool start = false;
    std::string name;
    std::int64_t timeUs = 0;
};

/// What PyTorch would hand out for device 0, ready to be written to a file. For tests and for the bundled
/// sample.
struct RecordedSnapshot {
    std::vector<RecordedFrame> frames;
    /// Indices into frames, innermost first.
    std::vector<std::vector<std::uint32_t>> stacks;
    std::vector<RecordedEvent> events;
    std::vector<RecordedSegment> segments;
    std::vector<RecordedMark> marks;
    /// PYTORCH_CUDA_ALLOC_CONF.
    std::string allocatorConfig;
};

/// The snapshot as `pickle.dump(torch.cuda.memory._snapshot())` of PyTorch 2.6 under Python 3.11 lays it out:
/// protocol 4, keys in its order, frames and stacks shared.
std::string writePickle(const RecordedSnapshot& snapshot);

/// The bytes in a gzip container without name or time.
std::string gzipped(const std::string& bytes);
/// Unpacks what gzipped() made; empty when damaged.
std::string gunzipped(const std::string& bytes);

} // namespace tidemark::test
