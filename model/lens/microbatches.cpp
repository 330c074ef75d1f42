// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/steps.hpp"

#include <algorithm>
#include <unordered_set>

namespace tidemark {

namespace {

/// A forward pass without backward whose memory is gone to this share was none to be trained on.
constexpr double forgotten = 0.95;

/// One forward pass while it is looked at.
struct Pass {
    Microbatch batch;
    std::uint64_t bytes = 0;
    std::uint64_t freed = 0;
};

class PassFinder {
public:
    PassFinder(const Replay& replay, const StackKinds& kinds, const std::vector<Phase>& ofEvent)
        : m_timeline(replay.timeline)
        , m_device(replay.device())
        , m_events(replay.device().events)
        , m_kinds(kinds)
        , m_phases(ofEvent)
    { }

    std::vector<Microbatch> find()
    {
        learnEntries();
        split();
        if (m_passes.empty())
            return {};
        pair();
        std::vector<Microbatch> found;
        for (const Pass& pass : m_passes)
            if (pass.batch.backwardFirst || &pass == &m_passes.back()
                || static_cast<double>(pass.freed) < forgotten * static_cast<double>(pass.bytes))
                found.push_back(pass.batch);
        return found;
    }

private:
    bool isAlloc(std::size_t event) const { return m_events.action[event] == Action::Alloc; }

    bool isEntry(StackId stack) const
    {
        return m_kinds.isEntry(stack) || (!m_stated && m_entries.contains(m_kinds.place(stack)));
    }

    /// Places whose allocations come first after another phase.
    void learnEntries()
    {
        bool inside = false;
        for (std::size_t i = 0; i < m_phases.size(); ++i) {
            if (!isAlloc(i))
                continue;
            const bool forward = m_phases[i] == Phase::Forward;
            if (forward)
                m_stated |= m_kinds.isEntry(m_events.stack[i]);
            if (forward && !inside && m_kinds.place(m_events.stack[i]) != 0)
                m_entries.insert(m_kinds.place(m_events.stack[i]));
            if (m_phases[i] != Phase::Unknown)
                inside = forward;
        }
    }

    /// A pass begins after another phase, and where an entry follows what is no entry.
    void split()
    {
        m_passOf.assign(m_phases.size(), none);
        bool inside = false;
        bool entering = false;
        for (std::size_t i = 0; i < m_phases.size(); ++i) {
            if (!isAlloc(i) || m_phases[i] == Phase::Unknown || m_phases[i] == Phase::Side)
                continue;
            if (m_phases[i] != Phase::Forward) {
                inside = false;
                continue;
            }
            const bool entry = isEntry(m_events.stack[i]);
            const auto state = static_cast<StateIndex>(i + 1);
            if (!inside || (entry && !entering))
                m_passes.push_back({{state, state, std::nullopt, std::nullopt}, 0, 0});
            inside = true;
            entering = entry;
            m_passes.back().batch.forwardLast = state;
            m_passOf[i] = static_cast<std::uint32_t>(m_passes.size() - 1);
        }
    }

    /// A pass's backward frees its memory.
    void pair()
    {
        const AllocationColumns& columns = m_timeline.allocations();
        for (std::uint32_t i = 0; i < columns.count(); ++i) {
            const AllocationId id{i};
            const auto event = m_timeline.allocEvent(id);
            if (!event || m_passOf[index(*event)] == none)
                continue;
            Pass& pass = m_passes[m_passOf[index(*event)]];
            pass.bytes += columns.size[i];
            const auto freed = m_timeline.freeEvent(id, m_device);
            if (!freed)
                continue;
            pass.freed += columns.size[i];
            const Phase phase = m_phases[index(*freed)];
            if (phase != Phase::Backward && phase != Phase::Recompute)
                continue;
            const StateIndex state = stateOf(static_cast<Moment>(index(*freed)));
            pass.batch.backwardFirst = std::min(pass.batch.backwardFirst.value_or(state), state);
            pass.batch.backwardLast = std::max(pass.batch.backwardLast.value_or(state), state);
        }
    }

    static constexpr std::uint32_t none = 0xffffffffU;
    const Timeline& m_timeline;
    const DeviceTrace& m_device;
    const EventColumns& m_events;
    const StackKinds& m_kinds;
    const std::vector<Phase>& m_phases;
    bool m_stated = false;
    std::unordered_set<std::uint64_t> m_entries;
    std::vector<Pass> m_passes;
    std::vector<std::uint32_t> m_passOf;
};

} // namespace

std::vector<Microbatch> findMicrobatches(
    const Replay& replay, const StackKinds& kinds, const std::vector<Phase>& ofEvent)
{
    return PassFinder(replay, kinds, ofEvent).find();
}

} // namespace tidemark
