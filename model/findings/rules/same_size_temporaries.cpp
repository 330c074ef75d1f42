// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/estimates.hpp"

#include <algorithm>

namespace tidemark {

extern const Rule sameSizeTemporariesRule;

namespace {

constexpr std::size_t atLeast = 3;
/// Smaller ones are never worth a line.
constexpr std::uint64_t smallest = 1U << 20;

/// Equal tensors of one call of an adapter, at the moment when they are most.
struct Together {
    std::vector<AllocationId> ids;
    std::uint64_t bytes = 0;
    StateIndex state = 0;
};

class Search {
public:
    Search(const RuleInput& input, const StackFacts& facts)
        : m_input(input)
        , m_all(input.replay.timeline.allocations())
        , m_facts(facts)
    { }

    void look(AllocationId id)
    {
        const std::uint64_t key = callOf(m_all.stack[index(id)]);
        if (key == 0 || bornIn(m_input, id) == Phase::Backward) {
            m_call.clear();
            return;
        }
        if (key != m_key || startsAgain(id))
            m_call.clear();
        m_key = key;
        m_call.push_back(id);
        const std::uint64_t size = m_all.size[index(id)];
        if (size < smallest)
            return;
        std::vector<AllocationId> equal;
        std::size_t temporary = 0;
        for (const AllocationId other : m_call)
            if (m_all.size[index(other)] == size
                && m_input.replay.timeline.isLive(other, m_all.firstState[index(id)])) {
                equal.push_back(other);
                temporary += isSaved(m_input, other) ? 0 : 1;
            }
        if (equal.size() < atLeast || temporary + 1 < equal.size() || size * equal.size() <= m_best.bytes)
            return;
        m_best = {equal, size * equal.size(), m_all.firstState[index(id)]};
    }
    const Together& best() const { return m_best; }

private:
    /// What names a call: the frames outside the adapter. 0 for stacks without one.
    std::uint64_t callOf(StackId stack) const
    {
        if (!m_facts.any(stack, in::AnyLora))
            return 0;
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
    bool startsAgain(AllocationId id) const
    {
        return !m_call.empty() && m_all.stack[index(m_call.front())] == m_all.stack[index(id)]
            && m_all.size[index(m_call.front())] == m_all.size[index(id)];
    }

    const RuleInput& m_input;
    const AllocationColumns& m_all;
    const StackFacts& m_facts;
    std::vector<AllocationId> m_call;
    std::uint64_t m_key = 0;
    Together m_best;
};

Finding report(const RuleInput& input, const Together& best)
{
    const std::uint64_t each = best.bytes / best.ids.size();
    Finding out = findingOf(input, sameSizeTemporariesRule, Severity::Info, best.ids, best.state);
    out.site = siteOf(input.sites, input, best.ids.front());
    const auto atMoment = static_cast<std::uint64_t>(input.replay.timeline.requested().at(best.state));
    out.evidence = {{"equal_tensors", static_cast<std::int64_t>(best.ids.size())},
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
        + " at once in one adapted layer: " + std::to_string(best.ids.size()) + " tensors of "
        + formatBytes(static_cast<std::int64_t>(each)) + ".";
    out.explanation
        = "Base output, adapter output and their sum have the same width and live side by side for a moment.";
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
    for (std::size_t i = 0; i < count; ++i) {
        if (i % pollInterval == 0 && job.stopped())
            return;
        search.look(static_cast<AllocationId>(i));
    }
    if (search.best().bytes > 0)
        output.findings.push_back(report(input, search.best()));
}

} // namespace

const Rule sameSizeTemporariesRule{
    "same-size-temporaries", "", "Several equal tensors of one adapted layer that live side by side.", run};

} // namespace tidemark
