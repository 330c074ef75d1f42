// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/estimates.hpp"
#include "model/findings/ladder.hpp"
#include "model/findings/rule_tools.hpp"
#include "model/findings/rules/boundaries.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <vector>

namespace tidemark {

extern const Rule gradientsKeptRule;

namespace {

/// The stack has frames: it tells whose gradient it is.
bool isNamed(const RuleInput& input, AllocationId id)
{
    const StackId stack = input.replay.timeline.allocations().stack[index(id)];
    return valid(stack) && !input.replay.snapshot->stacks[stack].empty();
}

/// Gradients of one stack and size that outlive their own step.
struct Group {
    std::vector<AllocationId> members;
    std::vector<std::size_t> bornIn; ///< step, by member
    bool named = false; ///< their stacks have frames
};

class Search {
public:
    explicit Search(const RuleInput& input)
        : m_input(input)
        , m_all(input.replay.timeline.allocations())
        , m_steps(input.phases.steps)
    { }

    bool run(const Job& job)
    {
        for (std::size_t i = 0; i < m_all.count(); ++i) {
            if (i % pollInterval == 0 && job.stopped())
                return false;
            const auto id = static_cast<AllocationId>(i);
            if (m_all.origin[i] != Origin::Traced || bornIn(m_input, id) != Phase::Backward)
                continue;
            const std::size_t step = stepOf(m_all.firstState[i]);
            if (step >= m_steps.size() || m_all.endState[i] <= m_steps[step].last)
                continue;
            Group& group = m_groups[{m_all.stack[i], m_all.size[i]}];
            group.named = isNamed(m_input, id);
            group.members.push_back(id);
            group.bornIn.push_back(step);
        }
        return true;
    }

    /// Gradients of the groups that pile up.
    std::vector<AllocationId> piling(const Job& job) const
    {
        std::vector<AllocationId> out;
        for (const auto& [key, group] : m_groups)
            if (!job.stopped() && pilesUp(group))
                out.insert(out.end(), group.members.begin(), group.members.end());
        return out;
    }

private:
    std::size_t stepOf(StateIndex state) const
    {
        const auto at = std::lower_bound(m_steps.begin(), m_steps.end(), state,
            [](const Step& step, StateIndex s) { return step.last < s; });
        return static_cast<std::size_t>(at - m_steps.begin());
    }

    /// At the end of some step gradients of that step and of older ones are there together. A gradient that
    /// zero_grad(set_to_none=False) keeps for good is made once, one that is dropped late has no company.
    bool pilesUp(const Group& group) const
    {
        const std::size_t wanted = group.named ? 2 : 3;
        std::map<std::size_t, std::size_t>
            ages; // step they were made in, first step at whose end all are gone
        for (std::size_t i = 0; i < group.members.size(); ++i) {
            std::size_t& gone = ages[group.bornIn[i]];
            gone = std::max(gone, stepOf(m_all.endState[index(group.members[i])]));
        }
        std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> there;
        for (const auto& [step, gone] : ages) {
            while (!there.empty() && there.top() <= step)
                there.pop();
            there.push(gone);
            if (there.size() >= wanted)
                return true;
        }
        return false;
    }

    const RuleInput& m_input;
    const AllocationColumns& m_all;
    const std::vector<Step>& m_steps;
    std::map<std::pair<StackId, std::uint64_t>, Group> m_groups;
};

/// Members of a set that are told by their size alone.
std::size_t bySizeAlone(const RuleInput& input, const std::vector<AllocationId>& set)
{
    return static_cast<std::size_t>(
        std::ranges::count_if(set, [&](AllocationId id) { return !isNamed(input, id); }));
}

Finding report(
    const RuleInput& input, const std::vector<AllocationId>& piling, const SetPeak& worst, const Job& job)
{
    const AllocationColumns& all = input.replay.timeline.allocations();
    Finding out = findingOf(input, gradientsKeptRule, Severity::Warning, worst.live, worst.state);
    out.site = largestSiteOf(input, worst.live);
    std::set<StateIndex> steps;
    for (const AllocationId id : worst.live)
        if (const Step* step = input.phases.stepAt(all.firstState[index(id)]))
            steps.insert(step->first);
    out.evidence = {{"steps_held", static_cast<std::int64_t>(steps.size())},
        {"bytes_each", static_cast<std::int64_t>(all.size[index(worst.live.front())])}};
    Fix fix;
    fix.id = "zero-grad-each-step";
    fix.text
        = "Call optimizer.zero_grad(set_to_none=True) after every step and drop other references to .grad.";
    fix.grade = bySizeAlone(input, piling) > 0 ? Grade::B : Grade::A;
    auto edits = std::make_shared<Edits>();
    for (const AllocationId id : piling)
        if (const Step* step = input.phases.stepAt(all.firstState[index(id)]))
            edits->endAt(id, step->last + 1);
    fix.edits = edits;
    estimate(fix, input, job);
    out.fixes.push_back(fix);
    out.title = formatBytes(static_cast<std::int64_t>(out.bytes)) + " of gradients of "
        + countText(steps.size(), "step", "steps") + " are held at once.";
    out.explanation = "Gradients should go when the step is over; here older ones stay beside the new.";
    if (const std::size_t bare = bySizeAlone(input, worst.live); bare > 0) {
        out.grade = Grade::B;
        out.explanation += (bare == worst.live.size() ? " None" : " Not all")
            + std::string(
                " of them have a call stack, so blocks of one size that backward made are taken for "
                "gradients of the same parameters; three steps of them at once count.");
    }
    return out;
}

/// Some setting shards gradients.
bool asksForShards(const RunConfig& config)
{
    const auto on = [&](const char* key) { return config.flag(key).value_or(false); };
    const std::string strategy = config.text("ddp.data_parallel_sharding_strategy").value_or("");
    return on("dist.use_torch_fsdp2")
        || ((on("ddp.use_megatron_fsdp") || on("dist.use_megatron_fsdp"))
            && strategy.starts_with("optim_grads"));
}

/// What hinders to say that gradients are sharded as far as they can be: nothing in a recording of one rank
/// tells a shard from a whole small gradient. Empty when there is nothing to shard, or they are.
std::string unknownSharding(const RuleInput& input)
{
    // In buffers of their own or not, where there is a backward pass there are gradients.
    if (!hasBackward(input) || asksForShards(input.config))
        return {};
    const AllocationColumns& all = input.replay.timeline.allocations();
    if (std::ranges::any_of(all.stack, [&](StackId stack) { return input.facts.any(stack, in::Reduction); }))
        return {};
    const std::optional<std::int64_t> ranks = equalRanks(input.config);
    if (!ranks)
        return "the number of data-parallel ranks (hardware.world_size), to tell whether gradients stay "
               "unsharded; no step holds those of another";
    if (*ranks == 1)
        return {};
    return "what shards gradients: no setting does, "
        + countText(static_cast<std::uint64_t>(*ranks), "rank", "ranks")
        + " have the same parameters, and one recording does not show whether each keeps them whole; no step "
          "holds those of another";
}

void run(const RuleInput& input, RuleOutput& output, const Job& job)
{
    if (input.phases.steps.size() < 2) {
        output.undecided.push_back({gradientsKeptRule.id, "at least two steps in the recording"});
        return;
    }
    Search search(input);
    if (!search.run(job))
        return;
    const std::vector<AllocationId> piling = search.piling(job);
    if (job.stopped())
        return;
    const SetPeak worst = highestSum(input.replay, piling);
    if (worst.bytes > 0)
        output.findings.push_back(report(input, piling, worst, job));
    else if (std::string unknown = unknownSharding(input); !unknown.empty())
        output.undecided.push_back({gradientsKeptRule.id, std::move(unknown)});
}

} // namespace

const Rule gradientsKeptRule{"gradients-kept", "",
    "Gradients of several steps that are held at the same time.", run, needs::history | needs::phases};

} // namespace tidemark
