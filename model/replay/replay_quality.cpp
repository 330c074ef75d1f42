// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/replay_quality.hpp"

#include "model/core/counted.hpp"
#include "model/core/limits.hpp"
#include "model/core/units.hpp"
#include "model/snapshot/outside_range.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace tidemark {

namespace {

std::string bytes(std::uint64_t count)
{
    return formatBytes(static_cast<std::int64_t>(count));
}

bool isFree(Action action)
{
    return action == Action::FreeRequested || action == Action::FreeCompleted || action == Action::Free;
}

/// A ring's capacity is a number somebody typed: one or two digits and zeros, or a power of two.
bool looksTyped(std::uint64_t count)
{
    if (count < 1000)
        return false;
    if ((count & (count - 1)) == 0)
        return true;
    std::uint64_t digits = count;
    while (digits % 10 == 0)
        digits /= 10;
    return digits < 100;
}

/// Writes the notes of one device, one function a subject.
class Examiner {
public:
    Examiner(const Snapshot& snapshot, const DeviceTrace& device, const Timeline& timeline,
        const SegmentHistory& segments)
        : m_snapshot(snapshot)
        , m_device(device)
        , m_timeline(timeline)
        , m_segments(segments)
        , m_events(device.events)
    {
        for (const Action action : m_events.action)
            ++m_actions[static_cast<std::size_t>(action)];
    }

    std::vector<QualityNote> examine()
    {
        range();
        history();
        segments();
        stacks();
        times();
        disagreement();
        irregularities();
        filter();
        absurdSizes();
        annotations();
        return std::move(m_notes);
    }

private:
    QualityNote& add(Quality id, std::uint64_t count, std::string sentence)
    {
        QualityNote note;
        note.id = id;
        note.device = m_device.ordinal;
        note.count = count;
        note.sentence = std::move(sentence);
        m_notes.push_back(std::move(note));
        return m_notes.back();
    }

    std::uint64_t actions(Action action) const { return m_actions[static_cast<std::size_t>(action)]; }
    /// The file was cut, and something of this device lies behind its end.
    bool brokenOff() const
    {
        return std::any_of(
            m_snapshot.quality.begin(), m_snapshot.quality.end(), [this](const QualityNote& n) {
                return n.id == Quality::TruncatedFile && n.device == m_device.ordinal;
            });
    }
    bool hasFrames(StackId stack) const { return valid(stack) && !m_snapshot.stacks[stack].empty(); }
    std::uint64_t before() const
    {
        return m_timeline.predating().freedInTrace + m_timeline.predating().aliveAtEnd;
    }
    std::uint64_t bytesBefore() const
    {
        return m_timeline.predating().freedInTraceBytes + m_timeline.predating().aliveAtEndBytes;
    }

    /// Only a part was opened, as asked for: what of the rest is known, and what is not.
    void range()
    {
        if (!m_device.outside)
            return;
        const OutsideRange& outside = *m_device.outside;
        const std::uint64_t count = m_events.count();
        const std::uint64_t first = m_device.firstEventInFile;
        if (count == outside.eventsInFile)
            return;
        const auto number = [](std::uint64_t n) { return formatCount(static_cast<std::int64_t>(n)); };
        std::string sentence = count == 0
            ? "None of the " + number(outside.eventsInFile) + " events is in the range that was opened"
            : "Only events " + number(first) + " to " + number(first + count - 1) + " of "
                + number(outside.eventsInFile) + " were opened";
        sentence += ": the rest is not loaded. Live and reserved memory are those of the whole file at these "
                    "events, ";
        sentence += counted(before(), "allocation", "allocations") + " (" + bytes(bytesBefore())
            + ") from before included; the peak, the findings and the totals are those of this part.";
        if (outside.eventsAfter > 0 && m_device.hasSegments)
            sentence += " The segments are those after the last of these events, and block sizes in them are "
                        "inferred.";
        add(Quality::EventRange, outside.eventsInFile - count, std::move(sentence));
    }

    void history()
    {
        const std::size_t count = m_events.count();
        if (m_device.outside && m_device.outside->eventsInFile > 1 && count <= 1) {
            // A range of so few events says nothing about the recording.
        } else if (count == 0 && brokenOff()) {
            // The note of reading says that the history was not reached.
        } else if (count == 0) {
            const bool others = std::any_of(m_snapshot.devices.begin(), m_snapshot.devices.end(),
                [](const DeviceTrace& d) { return d.events.count() > 0; });
            add(Quality::NoHistory, 1,
                (others ? "The trace has no event for " + deviceName(m_device.ordinal)
                        : std::string("The file holds no events"))
                    + ": what is shown is the state at the moment of the snapshot, and the peak of the run "
                      "is "
                      "not in it. Call torch.cuda.memory._record_memory_history() before the part to look "
                      "at.");
        } else if (count == 1 && m_device.hasSegments) {
            add(Quality::StateOnly, 1,
                "Recording kept the last event only (enabled=\"state\" or a ring of one): the state at the "
                "moment of the snapshot is complete, the history before it and the peak of the run are not "
                "in "
                "the file. Record with enabled=\"all\" and a larger max_entries.");
        } else if (m_device.outside && m_device.firstEventInFile > 0) {
            // The note on the range says it; how the trace itself begins is not in what was read.
        } else if (wrapped()) {
            // wrapped() has written the note.
        } else if (before() > 0) {
            add(Quality::LateStart, before(),
                counted(before(), "allocation", "allocations") + ", " + bytes(bytesBefore())
                    + (before() == 1
                            ? ", is older than the trace: it counts from the beginning, but when and "
                              "where it was allocated is not known"
                            : ", are older than the trace: they count from the beginning, but when "
                              "and where they were allocated is not known")
                    + ", and the peak is that of the recorded window.");
        }
    }

    bool wrapped()
    {
        const std::uint64_t count = m_device.outside ? m_device.outside->eventsInFile : m_events.count();
        std::string why;
        if (m_device.ringOverflowed) {
            if (!*m_device.ringOverflowed)
                return false;
            why = "The file says that the ring of "
                + formatCount(static_cast<std::int64_t>(m_device.ringCapacity.value_or(count)))
                + " entries overflowed";
        } else {
            if (before() == 0)
                return false;
            const bool full = m_device.ringCapacity ? count >= *m_device.ringCapacity : looksTyped(count);
            const bool cutInside = m_events.action[0] == Action::FreeCompleted
                && actions(Action::FreeRequested) > 0 && m_timeline.delayedFrees() == 0;
            if (full && (startsWithForeignFree() || unseenSegments() > 0 || m_device.ringCapacity))
                why = "The ring very likely wrapped: it holds exactly "
                    + formatCount(static_cast<std::int64_t>(count)) + " entries";
            else if (cutInside && count > 1)
                why = "The ring very likely wrapped: the trace begins between the two halves of a free";
            else
                return false;
            if (const std::uint64_t unseen = unseenSegments(); unseen > 0)
                why += ", and " + counted(unseen, "segment", "segments") + " of the end state "
                    + (unseen == 1 ? "was" : "were") + " reserved before it begins";
        }
        add(Quality::RingWrapped, 1,
            why + ". The beginning of the run is missing: " + counted(before(), "allocation", "allocations")
                + ", " + bytes(bytesBefore()) + (before() == 1 ? ", is" : ", are")
                + " older than the trace, and the peak is that of the recorded window. Record with a "
                  "larger "
                  "max_entries, or start recording later.");
        return true;
    }

    bool startsWithForeignFree() const
    {
        for (std::size_t i = 0; i < m_events.count(); ++i) {
            const AllocationId id = m_timeline.allocationOf(EventIndex{static_cast<std::uint32_t>(i)});
            if (isFree(m_events.action[i]))
                return valid(id) && m_timeline.allocations().origin[index(id)] == Origin::FreedInTrace;
            if (m_events.action[i] == Action::Alloc)
                return m_timeline.predating().freedInTrace > 0;
        }
        return false;
    }

    std::uint64_t unseenSegments() const
    {
        std::unordered_set<std::uint64_t> made;
        for (std::size_t i = 0; i < m_events.count(); ++i)
            if (m_events.action[i] == Action::SegmentAlloc || m_events.action[i] == Action::SegmentMap)
                made.insert(m_events.address[i]);
        return static_cast<std::uint64_t>(std::count_if(m_device.segments.begin(), m_device.segments.end(),
            [&](const Segment& segment) { return made.count(segment.address) == 0; }));
    }

    void segments()
    {
        if (m_device.hasSegments || m_events.count() == 0)
            return;
        if (m_device.ordinal == cpuOrdinal)
            add(Quality::NoSegments, 1,
                "The CPU's allocator reserves nothing ahead: there are no segments to map, only what is "
                "live.");
        else if (brokenOff())
            add(Quality::NoSegments, 1,
                "The segments at the end are not known, because the file breaks off: reserved memory, "
                "fragmentation and what was alive without being mentioned in the trace are unknown (not 0).");
        else if (m_device.statedReserved.empty())
            add(Quality::NoSegments, 1,
                "The file lists no segments: reserved memory, fragmentation and what was alive without being "
                "mentioned in the trace are unknown (not 0). torch.cuda.memory._snapshot() writes them.");
        else
            add(Quality::NoSegments, 1,
                "The file lists no segments: there is no map of the memory, and what was alive without being "
                "mentioned in the trace is unknown. Reserved memory is as the recorder counted it.");
    }

    void stacks()
    {
        const AllocationColumns& c = m_timeline.allocations();
        // Memory from before the recording cannot have a stack; in a file without history it is all there is.
        const bool stateOnly = m_events.count() <= 1;
        std::uint64_t missing = 0;
        std::uint64_t missingBytes = 0;
        std::uint64_t asked = 0;
        bool any = false;
        for (std::size_t i = 0; i < c.count(); ++i) {
            const bool has = hasFrames(c.stack[i]);
            any |= has;
            if (c.origin[i] != Origin::Traced && !stateOnly)
                continue;
            ++asked;
            missing += !has;
            missingBytes += has ? 0 : c.size[i];
        }
        if (!any)
            any = std::any_of(m_events.stack.begin(), m_events.stack.end(),
                      [this](StackId stack) { return hasFrames(stack); })
                || std::any_of(m_device.blocks.begin(), m_device.blocks.end(),
                    [this](const Block& block) { return hasFrames(block.stack); });
        const bool anything = m_events.count() > 0 || !m_device.blocks.empty();
        if (!any && anything)
            add(Quality::NoStacks, c.count(),
                "Recorded without call stacks: allocations can be told apart by size, stream and pool, not "
                "by the code that made them. "
                    + std::string(m_snapshot.source.kind == SourceKind::Snapshot
                            ? "Record with context=\"all\" and stacks=\"all\"."
                            : "Profile the CPU as well, with with_stack=True."));
        else if (missing > 0)
            add(Quality::SomeStacksMissing, missing,
                formatCount(static_cast<std::int64_t>(missing)) + " of "
                    + counted(asked, "allocation", "allocations") + ", " + bytes(missingBytes)
                    + (missing == 1
                            ? " in all, has no call stack: it is listed as \"no stack\", and totals by "
                              "call site leave it unexplained."
                            : " in all, have no call stack: they are listed together as \"no stack\", "
                              "and totals by call site leave them unexplained."));
    }

    void times()
    {
        const std::vector<std::int64_t>& t = m_events.timeUs;
        if (t.empty())
            return;
        std::uint64_t back = 0;
        std::int64_t furthest = 0;
        std::int64_t previous = noTime;
        std::optional<std::uint32_t> first;
        for (std::size_t i = 0; i < t.size(); ++i) {
            if (t[i] == noTime)
                continue;
            if (previous != noTime && t[i] < previous) {
                ++back;
                furthest = std::max(furthest, t[i] < 0 ? 0 : previous - t[i]);
                first = first ? first : std::optional(static_cast<std::uint32_t>(i));
            }
            previous = t[i];
        }
        if (previous == noTime) {
            add(Quality::NoTimestamps, t.size(),
                "The events carry no time: the time axis and lifetimes in seconds are not available; the "
                "order "
                "of events is.");
        } else if (back > 0) {
            const bool unset
                = std::any_of(t.begin(), t.end(), [](auto us) { return us < 0 && us != noTime; });
            add(Quality::TimeDecreases, back,
                "The time goes back " + counted(back, "time", "times")
                    + (furthest > 0 ? ", by up to " + formatDuration(furthest) : std::string())
                    + ", first at event " + formatCount(*first)
                    + (unset ? " (some events carry a negative time, which stands for none)" : "")
                    + ". The order is that of the file; on the time axis such events stand at the latest "
                      "time "
                      "reached before them.")
                .firstEvent
                = first;
        }
    }

    void disagreement()
    {
        const Irregularities& odd = m_timeline.irregularities();
        const std::uint64_t count = odd.activeButFreed + odd.liveButInactive + m_segments.misfits();
        if (count == 0)
            return;
        std::vector<std::string> seen;
        if (odd.activeButFreed > 0)
            seen.push_back(counted(odd.activeButFreed, "block is", "blocks are")
                + " in use in the segments although the trace freed "
                + (odd.activeButFreed == 1 ? "it" : "them"));
        if (odd.liveButInactive > 0)
            seen.push_back(counted(odd.liveButInactive, "allocation is", "allocations are")
                + " live at the end of the trace without a block in use");
        if (m_segments.misfits() > 0)
            seen.push_back(counted(m_segments.misfits(), "segment event does", "segment events do")
                + " not lead to the segments of the end, so the map before "
                + (m_segments.misfits() == 1 ? "it" : "them") + " is uncertain");
        std::string sentence
            = "The trace and the segments do not fit together, as when they were copied one after "
              "the other: ";
        for (std::size_t i = 0; i < seen.size(); ++i)
            sentence += (i == 0 ? "" : i + 1 == seen.size() ? ", and " : ", ") + seen[i];
        sentence += ". The curves follow the trace, the map at the end follows the segments.";
        QualityNote& note = add(Quality::TraceSegmentsDisagree, count, std::move(sentence));
        addExamples(note, m_timeline.activeButFreed());
        addExamples(note, m_timeline.liveButInactive());
    }

    void irregularities()
    {
        const Irregularities& odd = m_timeline.irregularities();
        if (odd.reallocOfLive > 0)
            addExamples(add(Quality::ReallocOfLive, odd.reallocOfLive,
                            counted(odd.reallocOfLive, "allocation took", "allocations took")
                                + " an address that was still in use: the free between them is missing. The "
                                  "older one is "
                                  "taken to end there, so live memory counts every address once; between the "
                                  "lost free "
                                  "and there it is too high."),
                m_timeline.reallocsOfLive());
        if (odd.freeOfUnknown > 0)
            addExamples(
                add(Quality::FreeOfUnknown, odd.freeOfUnknown,
                    counted(odd.freeOfUnknown, "free names", "frees name")
                        + " an address that is not in use at that point (freed twice, or its allocation "
                          "is missing): ignored, no total changes."),
                m_timeline.freesOfUnknown());
    }

    static void addExamples(QualityNote& note, const Timeline::Oddity& oddity)
    {
        for (const std::uint64_t address : oddity.addresses)
            if (note.examples.size() < limits::maxExamples)
                note.examples.push_back(formatAddress(address));
        if (oddity.firstEvent && !note.firstEvent)
            note.firstEvent = static_cast<std::uint32_t>(index(*oddity.firstEvent));
    }

    void filter()
    {
        if (m_timeline.endsOnRequest()) {
            add(Quality::FilteredActions, 1,
                "The trace holds no free_completed at all: it was recorded with that action skipped. Lives "
                "end "
                "when the free is requested; memory that waited for another stream is not visible.")
                .examples
                = {"free_completed"};
            return;
        }
        if (actions(Action::FreeRequested) > 0 || actions(Action::FreeCompleted) == 0)
            return;
        // Only a life that lies wholly inside the trace proves that its request was skipped.
        const AllocationColumns& c = m_timeline.allocations();
        for (std::size_t i = 0; i < c.count(); ++i) {
            if (c.origin[i] != Origin::Traced || c.endState[i] >= m_timeline.states())
                continue;
            if (m_events.action[c.endState[i] - 1] != Action::FreeCompleted)
                continue;
            add(Quality::FilteredActions, 1,
                "The trace holds no free_requested at all: it was recorded with that action skipped. Lives "
                "end "
                "when the free is completed; how long memory waited for another stream is not visible.")
                .examples
                = {"free_requested"};
            return;
        }
    }

    void absurdSizes()
    {
        std::uint64_t count = 0;
        std::optional<std::uint32_t> first;
        for (std::size_t i = 0; i < m_events.count(); ++i) {
            if (m_events.size[i] >= 0 || m_events.action[i] == Action::Unknown)
                continue;
            ++count;
            first = first ? first : std::optional(static_cast<std::uint32_t>(i));
        }
        for (const Block& block : m_device.blocks)
            count += block.size < 0;
        for (const Segment& segment : m_device.segments)
            count += segment.totalSize < 0;
        if (count > 0)
            add(Quality::AbsurdSize, count,
                counted(count, "size is", "sizes are")
                    + " negative or beyond 2^63, which no memory has: shown as written, counted as 0 in "
                      "every "
                      "total.")
                .firstEvent
                = first;
    }

    void annotations()
    {
        QualityNote* note = nullptr;
        std::uint64_t count = 0;
        for (const AnnotatedAllocation& annotation : m_timeline.annotations())
            count += !valid(annotation.allocation);
        for (const AnnotatedAllocation& annotation : m_timeline.annotations()) {
            if (valid(annotation.allocation))
                continue;
            if (note == nullptr) {
                note = &add(Quality::AnnotationOfUnknown, count,
                    counted(count, "note was", "notes were")
                        + " put on an address where nothing is live at that point: kept in the event list, "
                          "shown "
                          "on no allocation.");
                note->firstEvent = static_cast<std::uint32_t>(index(annotation.event));
            }
            if (note->examples.size() < limits::maxExamples)
                note->examples.push_back(formatAddress(m_events.address[index(annotation.event)]));
        }
    }

    const Snapshot& m_snapshot;
    const DeviceTrace& m_device;
    const Timeline& m_timeline;
    const SegmentHistory& m_segments;
    const EventColumns& m_events;
    std::array<std::uint64_t, static_cast<std::size_t>(Action::Unknown) + 1> m_actions{};
    std::vector<QualityNote> m_notes;
};

} // namespace

std::vector<QualityNote> replayQuality(const Snapshot& snapshot, const DeviceTrace& device,
    const Timeline& timeline, const SegmentHistory& segments)
{
    return Examiner(snapshot, device, timeline, segments).examine();
}

std::vector<QualityNote> emptyFileQuality(const Snapshot& snapshot)
{
    if (!snapshot.devices.empty() || snapshot.categories)
        return {};
    QualityNote note;
    note.id = Quality::NoHistory;
    note.sentence = "The snapshot is empty: no events and no segments. It was taken before any memory was "
                    "allocated on a device, or recording was off.";
    return {note};
}

} // namespace tidemark
