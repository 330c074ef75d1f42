// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/event_phases.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <utility>

namespace tidemark {

namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

/// A phase that a mark's name gives to what happens inside and says nothing itself.
Phase phaseOfMark(const std::string& name)
{
    if (name.starts_with("Optimizer.step#") || name.starts_with("Optimizer.zero_grad#"))
        return Phase::Optimizer;
    std::string word;
    for (const char c : name)
        if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_')
            word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (word == "forward" || word == "forward_pass")
        return Phase::Forward;
    if (word == "backward" || word == "backward_pass")
        return Phase::Backward;
    if (word == "optimizer" || word == "optimizer_step")
        return Phase::Optimizer;
    return Phase::Unknown;
}

/// What a stack says outright; Unknown for those that need their neighbours.
Phase statedPhase(StackKind kind, bool trains)
{
    switch (kind) {
    case StackKind::Backward:
        return Phase::Backward;
    case StackKind::Recompute:
        return Phase::Recompute;
    case StackKind::Optimizer:
        return Phase::Optimizer;
    case StackKind::Forward:
        return Phase::Forward;
    case StackKind::Evaluation:
        return trains ? Phase::Side : Phase::Forward;
    case StackKind::Side:
        return Phase::Side;
    default:
        return Phase::Unknown;
    }
}

class EventPhaser {
public:
    EventPhaser(const Replay& replay, const StackKinds& kinds, std::span<const Mark> marks)
        : m_replay(replay)
        , m_kinds(kinds)
        , m_events(replay.device().events)
        , m_count(m_events.count())
    {
        m_out.ofEvent.assign(m_count, Phase::Unknown);
        m_out.recorded.assign(m_count, 0);
        layMarks(marks);
        for (std::size_t i = 0; i < m_count; ++i)
            if (requestsMemory(m_events.action[i]))
                m_seen[static_cast<std::size_t>(kinds.of(m_events.stack[i]))] = true;
    }

    std::optional<EventPhases> run(const Job& job)
    {
        if (!state(job))
            return std::nullopt;
        if (m_any)
            settle();
        setUp();
        if (job.stopped())
            return std::nullopt;
        follow();
        return std::move(m_out);
    }

private:
    bool seen(StackKind kind) const { return m_seen[static_cast<std::size_t>(kind)]; }
    bool trains() const
    {
        return seen(StackKind::Backward) || seen(StackKind::Recompute) || seen(StackKind::Optimizer);
    }

    void layMarks(std::span<const Mark> marks)
    {
        // The last mark over an event counts: from the last one on, each event is filled once.
        std::vector<std::size_t> open; // the next event from here on that no mark has filled
        const auto nextOpen = [&](std::size_t at) {
            std::size_t end = at;
            while (open[end] != end)
                end = open[end];
            while (open[at] != end)
                at = std::exchange(open[at], end);
            return end;
        };
        for (auto mark = marks.rbegin(); mark != marks.rend(); ++mark) {
            const Phase phase = phaseOfMark(mark->name);
            if (phase == Phase::Unknown || (mark->open && !mark->startUs) || mark->last <= mark->first
                || mark->first >= m_count)
                continue;
            if (m_marked.empty()) {
                m_marked.assign(m_count, Phase::Unknown);
                open.resize(m_count + 1);
                std::iota(open.begin(), open.end(), std::size_t{0});
            }
            const std::size_t end = std::min<std::size_t>(mark->last, m_count);
            for (std::size_t i = nextOpen(mark->first); i < end; i = nextOpen(i)) {
                m_marked[i] = phase;
                open[i] = i + 1;
            }
        }
    }

    Phase marked(std::size_t event) const { return m_marked.empty() ? Phase::Unknown : m_marked[event]; }

    /// What stacks and marks say outright.
    bool state(const Job& job)
    {
        const bool training = trains();
        for (std::size_t i = 0; i < m_count; ++i) {
            if (i % pollInterval == 0 && job.stopped())
                return false;
            if (!requestsMemory(m_events.action[i]))
                continue;
            Phase phase = statedPhase(m_kinds.of(m_events.stack[i]), training);
            if (phase == Phase::Unknown && m_kinds.of(m_events.stack[i]) != StackKind::Capture)
                phase = marked(i);
            m_out.ofEvent[i] = phase;
            m_out.recorded[i] = phase != Phase::Unknown;
            m_any |= phase != Phase::Unknown && phase != Phase::Side;
        }
        return true;
    }

    /// Empty stacks between known ones are backward's, when only Python was recorded and this program has
    /// backward passes at all.
    bool emptyIsBackward() const
    {
        return m_kinds.pythonOnly() && (seen(StackKind::Forward) || seen(StackKind::Evaluation))
            && (trains() || emptyFreesForward());
    }

    /// Memory of forward code is freed while only empty stacks allocate.
    bool emptyFreesForward() const
    {
        const Timeline& timeline = m_replay.timeline;
        StackKind last = StackKind::None;
        std::size_t inside = 0;
        std::size_t outside = 0;
        for (std::size_t i = 0; i < m_count; ++i) {
            if (m_events.action[i] == Action::Alloc)
                last = m_kinds.of(m_events.stack[i]);
            if (m_events.action[i] != Action::FreeRequested && m_events.action[i] != Action::Free)
                continue;
            const AllocationId id = timeline.allocationOf(EventIndex{static_cast<std::uint32_t>(i)});
            if (valid(id) && m_kinds.of(timeline.allocations().stack[index(id)]) == StackKind::Forward)
                ++(last == StackKind::Empty ? inside : outside);
        }
        return inside > 0 && inside * 4 >= outside;
    }

    /// Gives requests their phases from the stated ones before and after them.
    void settle()
    {
        const bool backwardWhenEmpty = emptyIsBackward();
        const std::vector<std::uint32_t> next = nextStated();
        const Phase first = next.empty() || next[0] == m_count ? Phase::Unknown : m_out.ofEvent[next[0]];
        Phase before = Phase::Unknown;
        for (std::size_t i = 0; i < m_count; ++i) {
            if (!requestsMemory(m_events.action[i]))
                continue;
            Phase& phase = m_out.ofEvent[i];
            if (phase == Phase::Unknown) {
                const Phase after = next[i] < m_count ? m_out.ofEvent[next[i]] : Phase::Unknown;
                phase = inferred(m_kinds.of(m_events.stack[i]), before, after, backwardWhenEmpty);
                if (phase == Phase::Backward && m_kinds.of(m_events.stack[i]) == StackKind::Empty)
                    before = phase;
                continue;
            }
            if (phase != Phase::Side)
                before = plain(phase);
        }
        m_firstStated = first == Phase::Unknown ? m_count : next[0];
    }

    static Phase plain(Phase phase) { return phase == Phase::Recompute ? Phase::Backward : phase; }

    /// By event: the next one at or after it whose phase is stated (side phases are passed over).
    std::vector<std::uint32_t> nextStated() const
    {
        std::vector<std::uint32_t> next(m_count);
        auto at = static_cast<std::uint32_t>(m_count);
        for (std::size_t i = m_count; i-- > 0;) {
            if (m_out.ofEvent[i] != Phase::Unknown && m_out.ofEvent[i] != Phase::Side)
                at = static_cast<std::uint32_t>(i);
            next[i] = at;
        }
        return next;
    }

    static Phase inferred(StackKind kind, Phase before, Phase after, bool backwardWhenEmpty)
    {
        after = plain(after);
        switch (kind) {
        case StackKind::None:
            return before == after ? before : Phase::Unknown;
        case StackKind::Empty:
            if (!backwardWhenEmpty || (before == Phase::Optimizer && after == Phase::Optimizer)
                || (before == Phase::Unknown && after == Phase::Forward))
                return Phase::Unknown;
            return Phase::Backward;
        case StackKind::Capture:
            return before == Phase::Unknown ? Phase::Setup : Phase::Side;
        case StackKind::Setup:
            return Phase::Setup;
        case StackKind::OtherThread:
            if (before == Phase::Backward || after == Phase::Backward)
                return Phase::Backward;
            break;
        default:
            break;
        }
        if (before == Phase::Unknown) // before the first forward: setUp() decides
            return Phase::Unknown;
        if (after == Phase::Optimizer)
            return before == Phase::Forward ? Phase::Forward : Phase::Optimizer;
        if (after == Phase::Forward || after == Phase::Backward)
            return Phase::Forward;
        return before == Phase::Optimizer ? Phase::Side
            : before == Phase::Forward    ? Phase::Forward
                                          : Phase::Unknown;
    }

    /// Before the first forward: set-up, when the stack says so or the trace goes back to the start.
    void setUp()
    {
        const std::size_t end = m_any ? m_firstStated : m_count;
        const bool start
            = m_any && end < m_count && m_out.ofEvent[end] == Phase::Forward && m_replay.reachesStart();
        for (std::size_t i = 0; i < end; ++i) {
            if (!requestsMemory(m_events.action[i]) || m_out.ofEvent[i] != Phase::Unknown)
                continue;
            const StackKind kind = m_kinds.of(m_events.stack[i]);
            const bool says = kind == StackKind::Setup || kind == StackKind::Capture;
            if (says || start) {
                m_out.ofEvent[i] = Phase::Setup;
                m_out.recorded[i] = says;
            }
        }
    }

    /// Gives all other events the phase of the requests around them, or that of their own stack.
    void follow()
    {
        const bool ownStacks = !m_replay.timeline.freesCarryAllocStack();
        std::size_t last = none;
        std::vector<std::uint32_t> open;
        for (std::size_t i = 0; i < m_count; ++i) {
            if (requestsMemory(m_events.action[i])) {
                close(open, last, i);
                last = i;
            } else {
                open.push_back(static_cast<std::uint32_t>(i));
                if (ownStacks)
                    m_out.ofEvent[i] = statedPhase(m_kinds.of(m_events.stack[i]), trains());
            }
        }
        close(open, last, none);
    }

    /// Events between two requests: what comes after the earlier one belongs to it. Without a backward event
    /// between forward and optimizer, the frees there are all of backward that was recorded. While backward
    /// runs the main thread waits for it, whatever a stack says.
    void close(std::vector<std::uint32_t>& open, std::size_t last, std::size_t next)
    {
        Phase phase = last != none ? m_out.ofEvent[last] : Phase::Unknown;
        const Phase after = next != none ? m_out.ofEvent[next] : Phase::Unknown;
        if (last == none)
            phase = after == Phase::Setup || after == Phase::Backward || after == Phase::Recompute
                ? after
                : Phase::Unknown;
        else if (phase == Phase::Forward
            && (after == Phase::Optimizer || (after != Phase::Forward && givesUpForward(open, last))))
            phase = Phase::Backward;
        const bool insideBackward = plain(phase) == Phase::Backward && plain(after) == Phase::Backward;
        for (const std::uint32_t i : open) {
            if (m_out.ofEvent[i] != Phase::Unknown && !insideBackward) {
                m_out.recorded[i] = 1;
                continue;
            }
            const Phase inMark = marked(i);
            m_out.ofEvent[i] = inMark != Phase::Unknown ? inMark : phase;
            m_out.recorded[i] = inMark != Phase::Unknown;
        }
        open.clear();
    }

    /// The frees end at least half of what the forward pass before them made: no temporaries of one layer.
    bool givesUpForward(const std::vector<std::uint32_t>& open, std::size_t last) const
    {
        const Timeline& timeline = m_replay.timeline;
        std::size_t made = 0;
        for (std::size_t i = last + 1; i-- > 0 && made < 2 * open.size() + 1;) {
            if (!requestsMemory(m_events.action[i]))
                continue;
            if (m_out.ofEvent[i] != Phase::Forward)
                break;
            made += m_events.action[i] == Action::Alloc ? 1 : 0;
        }
        std::size_t freed = 0;
        for (const std::uint32_t i : open) {
            const AllocationId id = timeline.allocationOf(EventIndex{i});
            const bool request
                = m_events.action[i] == Action::FreeRequested || m_events.action[i] == Action::Free;
            if (!request || !valid(id))
                continue;
            const auto event = timeline.allocEvent(id);
            freed += event && m_out.ofEvent[index(*event)] == Phase::Forward ? 1 : 0;
        }
        return freed >= 2 && 2 * freed >= made;
    }

    const Replay& m_replay;
    const StackKinds& m_kinds;
    const EventColumns& m_events;
    std::size_t m_count;
    EventPhases m_out;
    std::vector<Phase> m_marked;
    std::array<bool, 12> m_seen{};
    bool m_any = false;
    std::size_t m_firstStated = 0;
};

} // namespace

std::optional<EventPhases> phasesOfEvents(
    const Replay& replay, const StackKinds& kinds, std::span<const Mark> marks, const Job& job)
{
    return EventPhaser(replay, kinds, marks).run(job);
}

} // namespace tidemark
