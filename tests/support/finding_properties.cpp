// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/finding_properties.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

namespace tidemark::test {

namespace {

using Edit = std::shared_ptr<const Edits>;

void unequal(std::vector<Difference>& out, const std::string& what, const std::string& name,
    std::int64_t want, std::int64_t got)
{
    if (want != got)
        out.push_back({what, name + ": want " + std::to_string(want) + ", got " + std::to_string(got)});
}

/// The edited timeline, made anew: every edited life is walked state by state.
class EditedByHand {
public:
    EditedByHand(const Replay& replay, const std::vector<Edit>& edits)
        : m_replay(replay)
        , m_all(replay.timeline.allocations())
        , m_bytes(replay.states(), 0)
    {
        collect(edits);
        std::vector<std::int64_t> change(std::size_t{m_replay.states()} + 1, 0);
        for (std::size_t i = 0; i < m_all.count(); ++i) {
            if (m_lives.contains(AllocationId{static_cast<std::uint32_t>(i)}))
                continue;
            change[m_all.firstState[i]] += static_cast<std::int64_t>(m_all.size[i]);
            change[m_all.endState[i]] -= static_cast<std::int64_t>(m_all.size[i]);
        }
        std::int64_t sum = 0;
        for (std::size_t state = 0; state < m_bytes.size(); ++state)
            m_bytes[state] = sum += change[state];
        for (const auto& [id, life] : m_lives)
            walk(id, life);
        for (const Edits::Addition& each : m_additions)
            for (StateIndex s = each.first; s < each.end && s < m_bytes.size(); ++s)
                m_bytes[s] += each.bytes;
    }

    const std::vector<std::int64_t>& bytes() const { return m_bytes; }

private:
    struct Life {
        std::optional<StateIndex> end;
        std::optional<std::uint64_t> most;
        std::vector<Edits::Pause> pauses;
    };

    void collect(const std::vector<Edit>& edits)
    {
        std::set<const Edits*> seen;
        for (const Edit& each : edits) {
            if (!seen.insert(each.get()).second)
                continue;
            for (const Edits::Cut& cut : each->cuts()) {
                std::optional<StateIndex>& end = m_lives[cut.id].end;
                end = end ? std::min(*end, cut.end) : cut.end;
            }
            for (const Edits::Pause& pause : each->pauses())
                m_lives[pause.id].pauses.push_back(pause);
            for (const Edits::Shrink& shrink : each->shrinks()) {
                std::optional<std::uint64_t>& most = m_lives[shrink.id].most;
                most = most ? std::min(*most, shrink.bytes) : shrink.bytes;
            }
            m_additions.insert(m_additions.end(), each->additions().begin(), each->additions().end());
        }
    }

    void walk(AllocationId id, const Life& life)
    {
        const std::size_t i = index(id);
        const auto size
            = static_cast<std::int64_t>(std::min(m_all.size[i], life.most.value_or(m_all.size[i])));
        for (StateIndex s = m_all.firstState[i]; s < m_all.endState[i] && s < m_bytes.size(); ++s) {
            const bool ended = life.end && s >= *life.end;
            const bool away = std::ranges::any_of(
                life.pauses, [s](const Edits::Pause& p) { return p.first <= s && s < p.end; });
            if (!ended && !away)
                m_bytes[s] += size;
        }
    }

    const Replay& m_replay;
    const AllocationColumns& m_all;
    std::map<AllocationId, Life> m_lives;
    std::vector<Edits::Addition> m_additions;
    std::vector<std::int64_t> m_bytes;
};

/// The applied edits against the ones applied by hand.
void compareEdits(const Replay& replay, const std::vector<Edit>& edits, const std::string& what,
    const EditedCurve& curve, std::vector<Difference>& out)
{
    const EditedByHand byHand(replay, edits);
    const std::vector<std::int64_t>& bytes = byHand.bytes();
    const auto top = std::ranges::max_element(bytes);
    const Series& recorded = replay.timeline.requested();
    const StateIndex old = recorded.total().maxState;
    unequal(out, what, "new peak", *top, curve.newPeak);
    unequal(out, what, "state of the new peak", top - bytes.begin(), std::int64_t{curve.newPeakState});
    unequal(out, what, "removed at the old peak", recorded.total().max - bytes[old], curve.removedAtOldPeak);
    unequal(out, what, "old peak", recorded.total().max, curve.oldPeak);
    if (*std::ranges::min_element(bytes) < 0)
        out.push_back({what, "the edited lives sum to less than nothing"});
    auto at = curve.curve.begin();
    std::int64_t value = 0;
    for (std::size_t state = 0; state < bytes.size(); ++state) {
        for (; at != curve.curve.end() && at->first <= state; ++at)
            value = at->second;
        if (value != bytes[state]) {
            unequal(out, what, "edited curve at state " + std::to_string(state), bytes[state], value);
            return;
        }
    }
}

void fixProperties(const Replay& replay, const Finding& finding, std::vector<Difference>& out)
{
    for (const Fix& fix : finding.fixes) {
        const std::string what = finding.rule + " " + fix.id;
        if (!fix.edits || fix.edits->empty())
            continue;
        const std::vector<Edit> edits{fix.edits};
        const auto curve = applyEdits(replay, edits, {});
        compareEdits(replay, edits, what, *curve, out);
        unequal(out, what, "stated new peak", curve->newPeak, fix.newPeak.value_or(-1));
        unequal(out, what, "stated bytes removed", curve->removedAtOldPeak, fix.removedAtPeak.value_or(-1));
        unequal(out, what, "stated state", std::int64_t{curve->newPeakState},
            fix.newPeakState ? std::int64_t{*fix.newPeakState} : -1);
    }
}

/// Rules whose bytes are the requested bytes of the allocations they cover.
constexpr std::array sumRules{"batch-free", "checkpoint-inputs", "checkpoint-level", "gradients-kept", "leak",
    "logits", "lora-extra-copies", "lora-gathered-input", "lora-input-kept", "optimizer-peak",
    "recompute-burst", "recompute-candidate", "recompute-off", "same-size-temporaries", "setup-peak"};
/// Rules whose bytes are live at the peak of the timeline.
constexpr std::array peakRules{"checkpoint-inputs", "checkpoint-level", "logits", "optimizer-peak",
    "recompute-burst", "recompute-candidate", "recompute-off", "setup-peak"};
/// Rules whose bytes are the free bytes of the segments they cover.
constexpr std::array freeRules{"all-idle", "capture-blocked", "phase-reserved", "pool-held"};

template <typename T>
bool strictlyAscending(std::vector<T> ids)
{
    std::ranges::sort(ids);
    return std::ranges::adjacent_find(ids) == ids.end();
}

void coverProperties(const Replay& replay, const Finding& finding, std::vector<Difference>& out)
{
    const std::string& what = finding.rule;
    const AllocationColumns& all = replay.timeline.allocations();
    if (!strictlyAscending(finding.allocations) || !strictlyAscending(finding.segments))
        out.push_back({what, "something is covered twice"});
    // Of wrong-pool the count is holes; of unshared-pools and pool-held, pools or segments.
    if (!finding.allocations.empty())
        unequal(out, what, "allocations", static_cast<std::int64_t>(finding.count),
            static_cast<std::int64_t>(finding.allocations.size()));
    std::int64_t sum = 0;
    bool atPeak = true;
    const StateIndex peak = replay.timeline.requested().total().maxState;
    for (const AllocationId id : finding.allocations) {
        sum += static_cast<std::int64_t>(all.size[index(id)]);
        atPeak = atPeak && replay.timeline.isLive(id, peak);
    }
    const auto bytes = static_cast<std::int64_t>(finding.bytes);
    if (std::ranges::find(sumRules, what) != sumRules.end())
        unequal(out, what, "bytes against what it covers", sum, bytes);
    if (std::ranges::find(peakRules, what) != peakRules.end() && !atPeak)
        out.push_back({what, "covers what does not live at the peak"});
    if (std::ranges::find(freeRules, what) != freeRules.end()) {
        std::int64_t free = 0;
        for (const SegmentView& each : replay.segments.stateAt(finding.lookAt, replay.timeline).segments)
            if (std::ranges::find(finding.segments, each.id) != finding.segments.end())
                free += static_cast<std::int64_t>(each.freeBytes);
        unequal(out, what, "bytes against its segments", free, bytes);
    }
    if (finding.eventRange
        && (index(finding.eventRange->first) > index(finding.eventRange->second)
            || index(finding.eventRange->second) >= replay.device().events.count()))
        out.push_back({what, "events outside of the file"});
    if (finding.lookAt >= replay.states())
        out.push_back({what, "looks at a state outside of the file"});
}

void labelProperties(const Replay& replay, const Labels& labels, std::vector<Difference>& out)
{
    const StateIndex peak = replay.timeline.requested().total().maxState;
    std::map<std::uint16_t, std::int64_t> modules;
    std::map<Role, std::int64_t> byRole;
    for (const AllocationId id : replay.timeline.liveAt(peak)) {
        const auto size = static_cast<std::int64_t>(replay.timeline.allocations().size[index(id)]);
        const std::uint16_t module = labels.moduleOf[index(id)];
        if (module != Labels::unmatched && module >= labels.modules.size())
            out.push_back({"labels", "a module without a name"});
        modules[module] += size;
        byRole[labels.role(id)] += size;
    }
    std::int64_t sum = 0;
    for (const auto& [module, bytes] : modules)
        sum += bytes;
    unequal(out, "labels", "sum over modules", replay.timeline.requested().at(peak), sum);
    sum = 0;
    for (const auto& [role, bytes] : byRole)
        sum += bytes;
    unequal(out, "labels", "sum over roles", replay.timeline.requested().at(peak), sum);
    unequal(out, "labels", "unmatched", modules[Labels::unmatched],
        static_cast<std::int64_t>(labels.unmatchedAtPeak));
}

} // namespace

std::vector<Difference> propertyDifferences(const Diagnosis& diagnosis)
{
    std::vector<Difference> out;
    for (std::size_t device = 0; device < diagnosis.devices.size(); ++device) {
        const Replay& replay = *diagnosis.rank->devices[device];
        if (diagnosis.devices[device].labels)
            labelProperties(replay, *diagnosis.devices[device].labels, out);
        std::vector<Edit> together;
        for (const Finding& finding : diagnosis.findings) {
            if (finding.deviceIndex != device)
                continue;
            coverProperties(replay, finding, out);
            fixProperties(replay, finding, out);
            for (const Fix& fix : finding.fixes)
                if (fix.edits && !fix.edits->empty())
                    together.push_back(fix.edits);
        }
        if (together.size() > 1)
            compareEdits(replay, together, "all fixes together", *applyEdits(replay, together, {}), out);
    }
    if (const auto& expected = diagnosis.expectation) {
        std::int64_t sum = expected->otherMeasured;
        for (const ExpectedClass& each : expected->classes)
            sum += each.measured;
        unequal(out, "estimate", "sum of the classes", expected->live, sum);
    }
    return out;
}

} // namespace tidemark::test
