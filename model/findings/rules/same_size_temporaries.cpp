// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/estimates.hpp"
#include "model/findings/rule_tools.hpp"

#include <functional>
#include <map>
#include <queue>
#include <vector>

namespace tidemark {

extern const Rule sameSizeTemporariesRule;

namespace {

constexpr std::size_t atLeast = 3;
/// Smaller ones are never worth a line.
constexpr std::uint64_t smallest = 1U << 20;

/// Equal tensors of one call of an adapter, at the moment when they are most: those of `size` among the
/// allocations [first, last] that live at `state`.
struct Together {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::uint64_t size = 0;
    std::uint64_t bytes = 0;
    StateIndex state = 0;
};

/// Tensors of one size of the call under way that are still there: a heap, the first to end on top.
struct Alive {
    struct Life {
        StateIndex end;
        bool saved;
        bool operator>(const Life& other) const { return end > other.end; }
    };
    std::priority_queue<Life, std::vector<Life>, std::greater<>> lives;
    std::size_t temporary = 0;
};

class Search {
public:
    Search(const RuleInput& input, const StackFacts& facts)
        : m_input(input)
        , m_all(input.replay.timeline.allocations())
        , m_facts(facts)
        , m_keys(input.replay.snapshot->stacks.size(), unknownKey)
    { }

    void look(std::uint32_t id)
    {
        const std::uint64_t key = callOf(m_all.stack[id]);
        if (key == 0 || bornIn(m_input, AllocationId{id}) == Phase::Backward) {
            m_key = 0;
            return;
        }
        if (key != m_key || startsAgain(id)) {
            m_alive.clear();
            m_first = id;
        }
        m_key = key;
        const std::uint64_t size = m_all.size[id];
        if (size >= smallest)
            count(id, m_alive[size]);
    }
    const Together& best() const { return m_best; }
    std::vector<AllocationId> ids() const
    {
        std::vector<AllocationId> out;
        for (std::uint32_t i = m_best.first; i <= m_best.last; ++i)
            if (m_all.size[i] == m_best.size && m_input.replay.timeline.isLive(AllocationId{i}, m_best.state))
                out.push_back(AllocationId{i});
        return out;
    }

private:
    void count(std::uint32_t id, Alive& alive)
    {
        const StateIndex state = m_all.firstState[id];
        const bool saved = isSaved(m_input, AllocationId{id});
        alive.lives.push({m_all.endState[id], saved});
        alive.temporary += saved ? 0 : 1;
        for (; !alive.lives.empty() && alive.lives.top().end <= state; alive.lives.pop())
            alive.temporary -= alive.lives.top().saved ? 0 : 1;
        const std::size_t equal = alive.lives.size();
        const std::uint64_t bytes = m_all.size[id] * equal;
        if (equal >= atLeast && alive.temporary + 1 >= equal && bytes > m_best.bytes)
            m_best = {m_first, id, m_all.size[id], bytes, state};
    }

    /// What names a call: the frames outside the adapter. 0 for stacks without one.
    std::uint64_t callOf(StackId stack)
    {
        if (!m_facts.any(stack, in::AnyLora))
            return 0;
        std::uint64_t& known = m_keys[index(stack)];
        if (known == unknownKey)
            known = keyOf(stack);
        return known;
    }
    std::uint64_t keyOf(StackId stack) const
    {
        const std::span<const FrameId> frames = m_input.replay.snapshot->stacks[stack];
        std::size_t outermost = 0;
        for (std::size_t i = 0; i < frames.size(); ++i)
            if ((m_facts.ofFrame(frames[i]) & in::AnyLora) != 0)
                outermost = i;
        std::uint64_t key = 1469598103934665603ULL;
        for (std::size_t i = outermost + 1; i < frames.size(); ++i)
            key = (key ^ index(frames[i])) * 1099511628211ULL;
        return key | 1U;
    }
    /// The call's first allocation once more: the next layer, or the next linear on the same line.
    bool startsAgain(std::uint32_t id) const
    {
        return m_all.stack[m_first] == m_all.stack[id] && m_all.size[m_first] == m_all.size[id];
    }

    const RuleInput& m_input;
    const AllocationColumns& m_all;
    const StackFacts& m_facts;
    static constexpr std::uint64_t unknownKey = 0; ///< keys are odd
    std::vector<std::uint64_t> m_keys; ///< by stack
    std::map<std::uint64_t, Alive> m_alive; ///< of the call under way, by size
    std::uint32_t m_first = 0; ///< of that call
    std::uint64_t m_key = 0; ///< 0 between calls
    Together m_best;
};

Finding report(const RuleInput& input, const Together& best, const std::vector<AllocationId>& ids)
{
    const std::uint64_t each = best.size;
    Finding out = findingOf(input, sameSizeTemporariesRule, Severity::Info, ids, best.state);
    const LargestSite site = largestSite(input.replay, input.sites, ids);
    out.site = site.name;
    const auto atMoment = static_cast<std::uint64_t>(input.replay.timeline.requested().at(best.state));
    out.evidence = {{"equal_tensors", static_cast<std::int64_t>(ids.size())},
        {"bytes_each", static_cast<std::int64_t>(each)},
        {"live_at_that_moment", static_cast<std::int64_t>(atMoment)}};
    Fix fix;
    fix.id = "lora-in-place-sum";
    fix.text = "Update to a version that scales and adds the adapter's output in place: two tensors of this "
               "size instead of "
               "three.";
    fix.source = "Megatron Bridge PR 5906";
    fix.grade = Grade::D;
    out.fixes.push_back(fix);
    out.title = formatBytes(static_cast<std::int64_t>(best.bytes))
        + " at once in one adapted layer: " + countText(ids.size(), "tensor", "tensors") + " of "
        + formatBytes(static_cast<std::int64_t>(each)) + ".";
    out.explanation
        = "Base output, adapter output and their sum have the same width and live side by side for a moment."
        + severalSitesText(site);
    return out;
}

void run(const RuleInput& input, RuleOutput& output, const Job& job)
{
    const StackFacts& facts = input.facts;
    if (!facts.anyFrames()) {
        output.undecided.push_back({sameSizeTemporariesRule.id, needsStacks});
        return;
    }
    Search search(input, facts);
    const std::size_t count = input.replay.timeline.allocations().count();
    for (std::uint32_t i = 0; i < count; ++i) {
        if (i % pollInterval == 0 && job.stopped())
            return;
        search.look(i);
    }
    if (search.best().bytes > 0)
        output.findings.push_back(report(input, search.best(), search.ids()));
}

} // namespace

const Rule sameSizeTemporariesRule{
    "same-size-temporaries", "", "Several equal tensors of one adapted layer that live side by side.", run};

} // namespace tidemark
