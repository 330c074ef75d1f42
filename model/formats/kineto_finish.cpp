// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/limits.hpp"
#include "model/core/units.hpp"
#include "model/formats/kineto.hpp"

#include "model/snapshot/range_fold.hpp"

#include "model/core/byte_sum.hpp"
#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <set>
#include <utility>

namespace tidemark {

namespace {

/// Times below this many nanoseconds (the year 2001) do not count from 1970 but from an unknown start.
constexpr std::int64_t earliestUnixNs = 1'000'000'000'000'000'000;
/// Memory events between two looks at whether to stop: each may cost as much as the ranges are nested.
constexpr std::size_t stepsBetweenPolls = 1024;

std::int64_t floorMicroseconds(std::int64_t ns)
{
    return ns >= 0 ? ns / 1000 : -((-(ns + 1)) / 1000) - 1;
}

std::int64_t timeUs(std::int64_t ns, std::int64_t base)
{
    std::int64_t sum = 0;
    if (ns == noTime || __builtin_add_overflow(ns, base, &sum))
        return noTime;
    return floorMicroseconds(sum);
}

/// |bytes| of an event; the one value without a counterpart counts as nothing.
std::int64_t magnitude(std::int64_t bytes)
{
    return bytes >= 0 ? bytes : bytes == std::numeric_limits<std::int64_t>::min() ? 0 : -bytes;
}

/// Follows one device's memory events: which allocation a free ends, and how far the recorder's own total is
/// from what its events add up to.
class Pairing {
public:
    /// Gives events of recorders that name no address a made-up one: a free ends the latest live allocation
    /// of its size.
    std::uint64_t addressOf(const KinetoMemory& m)
    {
        if (m.hasAddress)
            return m.address;
        const std::uint64_t size = sane(magnitude(m.bytes));
        auto& stack = m_bySize[size];
        if (m.bytes < 0 && !stack.empty()) {
            const std::uint64_t address = stack.back();
            stack.pop_back();
            return address;
        }
        const std::uint64_t address = m_nextAddress;
        m_nextAddress += (size + granule - 1) / granule * granule;
        if (m.bytes > 0)
            stack.push_back(address);
        return address;
    }

    void follow(const KinetoMemory& m, std::uint64_t address)
    {
        if (!m.oom) {
            const std::int64_t size = magnitude(m.bytes);
            const auto [entry, added] = m_live.try_emplace(address, -1);
            if (m.bytes > 0) {
                m_delta = wrappingAdd(m_delta, size - std::max<std::int64_t>(entry->second, 0));
                entry->second = size;
            } else if (entry->second >= 0) {
                m_delta = wrappingAdd(m_delta, -entry->second);
                entry->second = -1;
            } else if (added) {
                m_delta = wrappingAdd(m_delta, -size);
                m_predating = wrappingAdd(m_predating, size);
            }
            m_top = std::max(m_top, address + sane(size));
        }
        if (m.hasAllocated) {
            const std::int64_t rest = wrappingSubtract(m.totalAllocated, m_delta);
            m_lowest = std::min(m_lowest, rest);
            m_highest = std::max(m_highest, rest);
        }
    }

    /// Bytes that the recorder counts as allocated throughout although no event mentions them.
    std::int64_t unmentioned() const
    {
        return m_lowest > m_highest ? 0 : std::max<std::int64_t>(wrappingSubtract(m_lowest, m_predating), 0);
    }
    /// By how much the recorder's total moves without an event.
    std::int64_t drift() const { return m_lowest > m_highest ? 0 : wrappingSubtract(m_highest, m_lowest); }
    std::uint64_t freeAddress(std::uint64_t size) const
    {
        const std::uint64_t after = (m_top | (granule - 1)) + 1;
        return after > m_top && after + size > after ? after : granule;
    }

private:
    static constexpr std::uint64_t granule = 512;
    std::unordered_map<std::uint64_t, std::int64_t> m_live; // −1: seen, not live
    std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> m_bySize;
    std::uint64_t m_nextAddress = granule * 8;
    std::uint64_t m_top = 0;
    std::int64_t m_delta = 0;
    std::int64_t m_predating = 0;
    std::int64_t m_lowest = std::numeric_limits<std::int64_t>::max();
    std::int64_t m_highest = std::numeric_limits<std::int64_t>::min();
};

EventRow row(const KinetoMemory& m, std::uint64_t address, std::int64_t base)
{
    EventRow r;
    r.action = m.oom ? Action::Oom : m.bytes > 0 ? Action::Alloc : Action::Free;
    r.address = m.oom ? 0 : address;
    r.size = magnitude(m.bytes);
    r.hasSize = true;
    r.timeUs = timeUs(m.timeNs, base);
    r.stack = m.stack;
    return r;
}

/// The ranges of one thread that cover the moment a sweep in time has come to, outermost first.
class OpenRanges {
public:
    explicit OpenRanges(std::vector<KinetoRange>& ranges)
        : m_ranges(ranges)
    {
        std::ranges::stable_sort(m_ranges, [](const KinetoRange& a, const KinetoRange& b) {
            return a.startNs != b.startNs ? a.startNs < b.startNs : a.endNs > b.endNs;
        });
    }

    void moveTo(std::int64_t time)
    {
        for (; m_next < m_ranges.size() && m_ranges[m_next].startNs <= time; ++m_next) {
            const KinetoRange& added = m_ranges[m_next];
            closeBefore(added.startNs);
            // With times in whole microseconds neighbours touch: what ends where the next begins is over.
            while (!m_open.empty() && top().endNs == added.startNs && added.endNs > top().endNs)
                m_open.erase(std::prev(m_open.end()));
            m_open.insert(m_open.end(), m_next);
            m_ends.emplace(added.endNs, m_next);
            m_changed = true;
        }
        closeBefore(time);
    }

    StackId stack(StackTable& stacks)
    {
        if (!std::exchange(m_changed, false))
            return m_stack;
        m_frames.clear();
        StackId callStack = StackId::none;
        for (auto at = m_open.rbegin(); at != m_open.rend() && m_frames.size() < limits::maxStackFrames;
             ++at) {
            m_frames.push_back(m_ranges[*at].frame);
            if (!valid(callStack))
                callStack = m_ranges[*at].callStack;
        }
        if (valid(callStack))
            for (const FrameId frame : stacks[callStack])
                if (m_frames.size() < limits::maxStackFrames)
                    m_frames.push_back(frame);
        m_stack = m_frames.empty() ? StackId::none : stacks.intern(m_frames);
        return m_stack;
    }

private:
    const KinetoRange& top() const { return m_ranges[*m_open.rbegin()]; }

    void closeBefore(std::int64_t time)
    {
        for (; !m_ends.empty() && m_ends.top().first < time; m_ends.pop())
            m_changed |= m_open.erase(m_ends.top().second) > 0;
    }

    using End = std::pair<std::int64_t, std::size_t>;
    std::vector<KinetoRange>& m_ranges;
    std::set<std::size_t> m_open; ///< positions, which are in the order of their starts
    std::priority_queue<End, std::vector<End>, std::greater<>> m_ends;
    std::vector<FrameId> m_frames;
    StackId m_stack = StackId::none;
    std::size_t m_next = 0;
    bool m_changed = true;
};

} // namespace

std::optional<Error> assignOwners(std::vector<std::vector<KinetoRange>>& ranges,
    std::vector<KinetoMemory>& memory, std::span<const std::uint32_t> order, StackTable& stacks,
    const Job& job)
{
    std::vector<std::vector<std::uint32_t>> byThread(ranges.size());
    for (const std::uint32_t i : order)
        if (memory[i].timeNs != noTime)
            byThread[memory[i].thread].push_back(i);
    std::size_t steps = 0;
    for (std::size_t thread = 0; thread < ranges.size(); ++thread) {
        if (byThread[thread].empty() || ranges[thread].empty())
            continue;
        OpenRanges open(ranges[thread]);
        for (const std::uint32_t i : byThread[thread]) {
            if (++steps % stepsBetweenPolls == 0 && job.stopped())
                return Error{ErrorCode::Cancelled, "Stopped.", std::nullopt};
            if (stacks.frames() > limits::maxStackCells * 4)
                return Error{ErrorCode::TooLarge,
                    "The operators of this trace are nested so deeply that the stacks of its memory events "
                    "would take more memory than a trace is worth.",
                    std::nullopt};
            open.moveTo(memory[i].timeNs);
            memory[i].stack = open.stack(stacks);
        }
    }
    return std::nullopt;
}

std::optional<Error> KinetoCollector::finish(const ReadOptions& options, const Job& job)
{
    // The trace-event format lets events stand in any order; their times are what counts.
    std::vector<std::uint32_t> order(m_memory.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto time = [this](std::uint32_t i) { return m_memory[i].timeNs; };
    const bool timed = std::ranges::find(m_memory, noTime, &KinetoMemory::timeNs) == m_memory.end();
    if (timed && !std::ranges::is_sorted(order, {}, time)) {
        for (std::size_t i = 1; i < m_memory.size(); ++i)
            m_unsorted += m_memory[i].timeNs < m_memory[i - 1].timeNs ? 1 : 0;
        std::ranges::stable_sort(order, {}, time);
    }
    if (auto error = assignOwners(m_ranges, m_memory, order, m_builder.stacks(), job))
        return error;
    m_ranges.clear();
    if (job.stopped())
        return Error{ErrorCode::Cancelled, "Stopped.", std::nullopt};

    m_builder.source().kind = SourceKind::KinetoTrace;
    std::vector<std::vector<std::uint32_t>> byDevice(m_devices.size());
    for (const std::uint32_t i : order)
        byDevice[m_memory[i].device].push_back(i);
    noteFormat();
    for (std::uint32_t which = 0; which < m_devices.size(); ++which)
        if (auto error = addDevice(which, byDevice[which], options, job))
            return error;
    m_builder.setDeviceSlots(m_devices.size());
    addAnnotations();
    return std::nullopt;
}

std::optional<Error> KinetoCollector::addDevice(
    std::uint32_t which, std::span<const std::uint32_t> rows, const ReadOptions& options, const Job& job)
{
    if (rows.empty())
        return std::nullopt;
    if (rows.size() > limits::maxEvents)
        return Error{
            ErrorCode::TooLarge, "The trace holds more memory events than can be shown.", std::nullopt};
    const int ordinal = m_devices[which].ordinal;
    EventBuffer buffer;
    std::vector<std::int64_t> reserved;
    bool anyReserved = false;
    Pairing kept;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i % pollInterval == 0 && job.stopped())
            return Error{ErrorCode::Cancelled, "Stopped.", std::nullopt};
        const KinetoMemory& m = m_memory[rows[i]];
        const std::uint64_t address = m.oom ? 0 : kept.addressOf(m);
        kept.follow(m, address);
        m_builder.append(buffer, row(m, address, m_baseNs.value_or(0)));
        anyReserved = anyReserved || (m.hasReserved && m.totalReserved > 0);
        reserved.push_back(m.hasReserved || reserved.empty() ? m.totalReserved : reserved.back());
    }
    RangeFold fold;
    const auto [first, last] = rangeOf(options, rows.size());
    if (options.ranged())
        cutToRange(buffer, fold, rows.size(), first, last);
    const auto before = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(first, rows.size()));
    const auto behind = before + static_cast<std::ptrdiff_t>(buffer.count());
    m_builder.addTrace(ordinal, std::move(buffer));
    DeviceTrace& device = m_builder.device(ordinal);
    std::optional<std::int64_t> reservedAtStart;
    if (anyReserved) {
        if (before > 0)
            reservedAtStart = reserved[static_cast<std::size_t>(before) - 1];
        reserved.erase(reserved.begin() + behind, reserved.end());
        reserved.erase(reserved.begin(), reserved.begin() + before);
        device.statedReserved = std::move(reserved);
    }
    device.firstEventInFile = static_cast<std::uint32_t>(before);
    noteTotals(ordinal, kept.unmentioned(), kept.drift());
    if (const auto size = kept.unmentioned(); size > 0) {
        // One stand-in for all of it keeps the curve equal to the recorder's total.
        Block block;
        block.address = kept.freeAddress(static_cast<std::uint64_t>(size));
        block.size = block.requested = size;
        block.state = BlockState::Allocated;
        device.blocks.push_back(block);
    }
    if (options.ranged()) {
        const auto outside = fold.finish(device);
        outside->reservedAtStart = reservedAtStart;
        device.outside = outside;
    }
    return std::nullopt;
}

void KinetoCollector::noteTotals(int ordinal, std::int64_t unmentioned, std::int64_t drift)
{
    std::string sentence;
    if (unmentioned > 0)
        sentence = formatBytes(unmentioned)
            + " were allocated before the profile began and are not broken down: they stand as one block at "
              "the "
              "bottom, so that the curve equals the recorder's own total.";
    if (drift > 0)
        sentence += std::string(sentence.empty() ? "" : " ") + "The recorder's own total moves by up to "
            + formatBytes(drift)
            + " without an event: memory of threads that were not profiled is missing from the curve.";
    if (!sentence.empty())
        m_builder.note(Quality::OtherRecorder, ordinal, {}, sentence);
}

void KinetoCollector::noteFormat()
{
    std::string sentence
        = "Recorded by torch.profiler, not by the allocator: segments, streams, pools and requested sizes "
          "are not "
          "in this file (sizes are rounded to blocks, a free is its request), so the segment map and "
          "fragmentation cannot be shown. For those, record a memory snapshot.";
    const auto missing = static_cast<std::uint64_t>(
        std::ranges::count_if(m_memory, [](const KinetoMemory& m) { return !m.oom && !m.hasAddress; }));
    if (missing > 0)
        sentence += " " + formatCount(static_cast<std::int64_t>(missing))
            + " events carry no address, as in traces of 2021: each free is taken to end the latest live "
              "allocation of its size on its device, and the addresses shown are made up.";
    if (m_unsorted > 0)
        sentence += " The events were not in the order of their times and were put into it.";
    if (m_unplaced > 0)
        sentence += " " + formatCount(static_cast<std::int64_t>(m_unplaced))
            + " memory events without a size or with an impossible device were left out.";
    const auto earliest
        = std::ranges::find_if(m_memory, [](const KinetoMemory& m) { return m.timeNs != noTime; });
    if (!m_baseNs && earliest != m_memory.end() && earliest->timeNs < earliestUnixNs)
        sentence += " Its times count from an unknown start, not from 1970.";
    m_builder.note(Quality::OtherRecorder, std::nullopt, {}, sentence);
}

/// Begin and end marks in the order of time, so that ranges of one name nest as they did.
void KinetoCollector::addAnnotations()
{
    std::ranges::stable_sort(m_annotated, [](const Annotated& a, const Annotated& b) {
        return a.startNs != b.startNs ? a.startNs < b.startNs : a.endNs > b.endNs;
    });
    const auto later = [](const Annotated* a, const Annotated* b) { return a->endNs > b->endNs; };
    std::vector<const Annotated*> open; // a heap, the earliest end on top
    const auto add = [this](const Annotated& mark, bool start) {
        const std::int64_t ns = start ? mark.startNs : mark.endNs;
        m_builder.addAnnotation(
            {start, mark.name, everyDevice, timeUs(ns, m_baseNs.value_or(0)), std::nullopt});
    };
    const auto closeUntil = [&](std::int64_t time) {
        while (!open.empty() && open.front()->endNs <= time) {
            std::ranges::pop_heap(open, later);
            add(*open.back(), false);
            open.pop_back();
        }
    };
    for (const Annotated& mark : m_annotated) {
        closeUntil(mark.startNs);
        add(mark, true);
        open.push_back(&mark);
        std::ranges::push_heap(open, later);
    }
    closeUntil(std::numeric_limits<std::int64_t>::max());
}

} // namespace tidemark
