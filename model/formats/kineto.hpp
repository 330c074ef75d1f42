// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"
#include "model/formats/json_pull.hpp"
#include "model/formats/reader.hpp"
#include "model/snapshot/builder.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tidemark {

/// A span of time on one CPU thread during which an operator, a module or a Python function ran.
struct KinetoRange {
    std::int64_t startNs = 0;
    std::int64_t endNs = 0;
    FrameId frame = FrameId::none;
    /// Python frames that traces of 2021 keep as a text in the operator.
    StackId callStack = StackId::none;
};

/// One [memory] or [OutOfMemory] event as written.
struct KinetoMemory {
    std::int64_t timeNs = noTime;
    std::int64_t bytes = 0;
    std::uint64_t address = 0;
    std::int64_t totalAllocated = 0;
    std::int64_t totalReserved = 0;
    std::uint32_t thread = 0;
    std::uint32_t device = 0;
    bool oom = false;
    bool hasAddress = false;
    bool hasAllocated = false;
    bool hasReserved = false;
    StackId stack = StackId::none;
};

/// The part of a Kineto (Chrome) trace that speaks of memory, gathered while its events stream by in any
/// order (torch/csrc/autograd/profiler_kineto.cpp and Kineto's output_json.cpp; help/format.md). Memory:
/// about 72 bytes a memory event and 24 bytes an operator or Python range.
class KinetoCollector {
public:
    explicit KinetoCollector(SnapshotBuilder& builder);

    /// Reads one item of `traceEvents`; the puller stands on its first token. False when the text failed.
    bool readEvent(JsonPull& json);
    /// `baseTimeNanoseconds` of the trace: what its times count from.
    void setBaseNs(std::int64_t base) { m_baseNs = base; }

    std::uint64_t events() const { return m_events; }
    std::uint64_t memoryEvents() const { return m_memory.size(); }

    /// Turns what was gathered into the devices and annotations of the snapshot.
    std::optional<Error> finish(const ReadOptions& options, const Job& job);

private:
    struct Device {
        int ordinal = 0;
        int type = 0;
        std::int64_t id = 0;
    };
    struct Annotated {
        std::int64_t startNs;
        std::int64_t endNs;
        StringId name;
    };

    bool readArgs(JsonPull& json);
    bool readNumberArg(JsonPull& json, std::string_view key);
    void keepEvent();
    void keepMemory();
    void keepRange();
    std::uint32_t thread();
    std::optional<std::uint32_t> device();
    FrameId rangeFrame();
    StackId callStack();

    std::optional<Error> addDevice(
        std::uint32_t which, std::span<const std::uint32_t> rows, const ReadOptions& options, const Job& job);
    void noteTotals(int ordinal, std::int64_t unmentioned, std::int64_t drift);
    void addAnnotations();
    void noteFormat();

    SnapshotBuilder& m_builder;
    std::optional<std::int64_t> m_baseNs;
    std::uint64_t m_events = 0;
    std::uint64_t m_unplaced = 0;
    std::uint64_t m_unsorted = 0;

    std::vector<KinetoMemory> m_memory;
    std::vector<std::vector<KinetoRange>> m_ranges; // per thread
    std::vector<Annotated> m_annotated;
    std::vector<Device> m_devices;
    std::unordered_map<std::string, std::uint32_t> m_threads;
    std::unordered_map<StringId, FrameId> m_frames;
    std::unordered_map<std::string, StackId> m_callStacks;

    /// The event being read; its texts are reused.
    struct Current {
        std::string name, category, pid, tid, callStack;
        std::optional<std::int64_t> tsNs, durNs;
        std::optional<std::int64_t> deviceType, deviceId;
        KinetoMemory memory;
        bool hasBytes = false;
        char phase = 0;
    } m_now;
};

/// Innermost first: the frames of the ranges that cover each memory event on its thread, as its stack. Sorts
/// the ranges; `memory` is taken in the order of `order` (by time). Cost: O(n log n) in the ranges, and the
/// frames of the stacks. Gives why it ended early: stopped, or stacks beyond limits::maxStackCells.
std::optional<Error> assignOwners(std::vector<std::vector<KinetoRange>>& ranges,
    std::vector<KinetoMemory>& memory, std::span<const std::uint32_t> order, StackTable& stacks,
    const Job& job);

/// The frame behind a profiler event's name: "train.py(52): step" has a file and a line, "aten::mm" and
/// "nn.Module: Linear_0" have not.
Frame kinetoFrame(std::string_view name, StringTable& strings);

/// Nanoseconds from a decimal number of microseconds, exact to the last digit; absent when out of range.
std::optional<std::int64_t> nanosecondsFromMicroseconds(std::string_view literal);

} // namespace tidemark
