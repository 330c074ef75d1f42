// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/edits.hpp"

#include "model/core/byte_sum.hpp"
#include <algorithm>

namespace tidemark {

namespace {

using EditSpan = std::span<const std::shared_ptr<const Edits>>;

struct Delta {
    StateIndex state;
    std::int64_t bytes;
};

/// One thing an edit says about one allocation: gone in [first, end), or at most `bytes` big.
struct Absence {
    AllocationId id;
    StateIndex first;
    StateIndex end;
};

/// The different edits of a list; the sandbox may well tick one fix that two findings share.
std::vector<const Edits*> distinct(EditSpan edits)
{
    std::vector<const Edits*> out;
    for (const auto& each : edits)
        if (each && std::find(out.begin(), out.end(), each.get()) == out.end())
            out.push_back(each.get());
    return out;
}

std::vector<Absence> absences(const std::vector<const Edits*>& edits, StateIndex states)
{
    std::vector<Absence> out;
    for (const Edits* each : edits) {
        for (const Edits::Cut& cut : each->cuts())
            out.push_back({cut.id, cut.end, states});
        for (const Edits::Pause& pause : each->pauses())
            out.push_back({pause.id, pause.first, std::min(pause.end, states)});
    }
    std::sort(out.begin(), out.end(),
        [](const Absence& a, const Absence& b) { return a.id != b.id ? a.id < b.id : a.first < b.first; });
    return out;
}

std::vector<Edits::Shrink> shrinks(const std::vector<const Edits*>& edits)
{
    std::vector<Edits::Shrink> out;
    for (const Edits* each : edits)
        out.insert(out.end(), each->shrinks().begin(), each->shrinks().end());
    std::sort(out.begin(), out.end(), [](const Edits::Shrink& a, const Edits::Shrink& b) {
        return a.id != b.id ? a.id < b.id : a.bytes < b.bytes;
    });
    out.erase(std::unique(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.id == b.id; }),
        out.end());
    return out;
}

/// What all edits together take from the curve and add to it.
class Deltas {
public:
    Deltas(const Replay& replay, const std::vector<const Edits*>& edits)
        : m_allocations(replay.timeline.allocations())
        , m_states(replay.states())
        , m_shrinks(shrinks(edits))
    {
        const std::vector<Absence> gone = absences(edits, m_states);
        auto shrink = m_shrinks.begin();
        for (auto at = gone.begin(); at != gone.end();) {
            auto next = std::find_if(at, gone.end(), [&](const Absence& a) { return a.id != at->id; });
            for (; shrink != m_shrinks.end() && shrink->id < at->id; ++shrink)
                lessen(shrink->id, shrink->bytes, {});
            const bool both = shrink != m_shrinks.end() && shrink->id == at->id;
            lessen(at->id, both ? shrink->bytes : ~std::uint64_t{0}, {at, next});
            shrink += both ? 1 : 0;
            at = next;
        }
        for (; shrink != m_shrinks.end(); ++shrink)
            lessen(shrink->id, shrink->bytes, {});
        for (const Edits* each : edits)
            for (const Edits::Addition& addition : each->additions())
                put(addition.first, addition.end, addition.bytes);
        std::sort(m_deltas.begin(), m_deltas.end(),
            [](const Delta& a, const Delta& b) { return a.state < b.state; });
    }
    const std::vector<Delta>& sorted() const { return m_deltas; }

private:
    void put(StateIndex first, StateIndex end, std::int64_t bytes)
    {
        end = std::min(end, m_states);
        if (first >= end || bytes == 0)
            return;
        m_deltas.push_back({first, bytes});
        if (end < m_states)
            m_deltas.push_back({end, wrappingSubtract(0, bytes)});
    }

    void lessen(AllocationId id, std::uint64_t most, std::span<const Absence> gone)
    {
        const std::size_t i = index(id);
        if (i >= m_allocations.count())
            return;
        const auto size = static_cast<std::int64_t>(m_allocations.size[i]);
        const std::int64_t kept = most < m_allocations.size[i] ? static_cast<std::int64_t>(most) : size;
        const StateIndex first = m_allocations.firstState[i];
        const StateIndex end = m_allocations.endState[i];
        put(first, end, kept - size);
        StateIndex from = first;
        for (const Absence& each : gone) {
            const StateIndex begin = std::max(from, each.first);
            const StateIndex until = std::min(end, each.end);
            put(begin, until, -kept);
            from = std::max(from, until);
        }
    }

    const AllocationColumns& m_allocations;
    StateIndex m_states;
    std::vector<Edits::Shrink> m_shrinks;
    std::vector<Delta> m_deltas;
};

} // namespace

std::shared_ptr<const ProgramChange> programChange(const Replay& replay, EditSpan given)
{
    const std::vector<const Edits*> edits = distinct(given);
    auto out = std::make_shared<ProgramChange>();
    for (const Absence& each : absences(edits, replay.states())) {
        if (each.first >= each.end)
            continue;
        ProgramChange::Gap* last = out->gaps.empty() ? nullptr : &out->gaps.back();
        if (last && last->id == each.id && each.first <= last->end)
            last->end = std::max(last->end, each.end);
        else
            out->gaps.push_back({each.id, each.first, each.end});
    }
    for (const Edits::Shrink& each : shrinks(edits))
        if (index(each.id) < replay.timeline.allocations().count()
            && each.bytes < replay.timeline.allocations().size[index(each.id)])
            out->sizes.push_back({each.id, each.bytes});
    for (const Edits* each : edits)
        for (const Edits::Addition& addition : each->additions())
            if (addition.bytes > 0)
                out->extras.push_back(
                    {addition.first, addition.end, static_cast<std::uint64_t>(addition.bytes)});
    return out->empty() ? nullptr : out;
}

std::optional<EditedCurve> applyEdits(const Replay& replay, EditSpan edits, const Job& job)
{
    const Series& recorded = replay.timeline.requested();
    const Deltas deltas(replay, distinct(edits));
    if (job.stopped())
        return std::nullopt;

    EditedCurve out;
    const Series::Extremes top = recorded.total();
    out.oldPeak = top.max;
    out.oldPeakState = top.maxState;
    out.curve.reserve(recorded.changes().size() + deltas.sorted().size());
    auto change = recorded.changes().begin();
    auto delta = deltas.sorted().begin();
    ByteSum base;
    ByteSum moved;
    while (change != recorded.changes().end() || delta != deltas.sorted().end()) {
        const bool takesChange = change != recorded.changes().end()
            && (delta == deltas.sorted().end() || change->state <= delta->state);
        const StateIndex state = takesChange ? change->state : delta->state;
        if (takesChange)
            base = (change++)->value;
        for (; delta != deltas.sorted().end() && delta->state == state; ++delta)
            moved += delta->bytes;
        const std::int64_t value = wrappingAdd(base, moved);
        if (state <= out.oldPeakState)
            out.removedAtOldPeak = wrappingSubtract(0, moved);
        if (!out.curve.empty() && out.curve.back().second == value)
            continue;
        if (out.curve.empty() || value > out.newPeak) {
            out.newPeak = value;
            out.newPeakState = state;
        }
        out.curve.emplace_back(state, value);
    }
    return out;
}

} // namespace tidemark
