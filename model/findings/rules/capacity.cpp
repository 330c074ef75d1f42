// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/ladder.hpp"
#include "model/findings/need_fixes.hpp"
#include "model/findings/peers_advice.hpp"
#include "model/findings/rule_tools.hpp"

#include <array>

namespace tidemark {

namespace {

/// What lives at a state, by what it is for; requested bytes.
struct Held {
    std::array<std::uint64_t, roles> bytes{};
    std::uint64_t all = 0;

    std::uint64_t of(Role role) const { return bytes[static_cast<std::size_t>(role)]; }
};

Held heldAt(const RuleInput& input, StateIndex state)
{
    Held out;
    for (const AllocationId id : input.replay.timeline.liveAt(state)) {
        const std::uint64_t size = input.replay.timeline.allocations().size[index(id)];
        out.bytes[static_cast<std::size_t>(input.labels.role(id))] += size;
        out.all += size;
    }
    return out;
}

/// " Of what lives then, 36.68 GiB are optimizer state, …": the classes of the estimator, which the fixes are
/// for. Empty when less than half of it belongs to any.
std::string heldText(const Held& held)
{
    std::array<std::pair<std::uint64_t, const char*>, 3> classes
        = {{{held.of(Role::OptimizerState), "optimizer state"},
            {held.of(Role::Parameter) + held.of(Role::Gradient), "parameters and gradients"},
            {held.of(Role::SavedActivation), "saved activations"}}};
    std::sort(classes.begin(), classes.end(), std::greater<>());
    std::uint64_t told = 0;
    std::string text;
    for (const auto& [bytes, name] : classes) {
        if (bytes == 0)
            continue;
        told += bytes;
        text += (text.empty() ? " Of what lives then, " : ", ") + sizeText(bytes) + " are " + name;
    }
    return told * 2 < held.all || text.empty() ? std::string() : text + ".";
}

/// " of optimizer state"; empty when they are of several kinds.
std::string ofRole(const RuleInput& input, std::span<const AllocationId> ids)
{
    const std::string role = roleOfMost(input, ids);
    return role.empty() ? role : " of " + role;
}

/// One file is one rank: only its peers tell whether it is fuller than they are.
std::string peersText(const RuleInput& input)
{
    const std::optional<std::int64_t> ranks = worldSize(input.config);
    if (ranks ? *ranks < 2 : !input.rank)
        return {};
    return std::string(peersAdvice);
}

void addParallelism(const RuleInput& input, Finding& finding)
{
    if (!runsMegatron(input))
        return;
    Fix stages = makeFix("raise-pipeline-parallel",
        "Raise model.pipeline_model_parallel_size: fewer layers a GPU. The optimizer state of a GPU stays "
        "the same at "
        "a fixed world size.",
        Grade::C, "playbook step S5");
    stages.cost = "−5.9 % on Llama3-70B SFT, 32 H100, when data parallelism halves; yours will differ";
    stages.costGrade = Grade::C;
    stages.blockedBy = rungBarred(input.config, Rung::PipelineParallel);
    finding.fixes.push_back(stages);
    Fix tensor = makeFix("raise-tensor-parallel",
        "Raise model.tensor_model_parallel_size only as the last resort.", Grade::C, "playbook step S4");
    tensor.cost = "−28.4 % on Llama3-70B SFT, 32 H100; yours will differ";
    tensor.costGrade = Grade::C;
    finding.fixes.push_back(tensor);
}

/// D2's ladder by the decision steps: what S3 and S6 recompute comes first; of what is no step of its own the
/// distributed optimizer, which costs least, before full recompute, which costs most; then S7's offloading;
/// and last what S5 and S4 warn of, tensor parallelism at the very end. Row D2 lists the same means without
/// an order. Fixes that add no memory (allocator settings) are not in it.
void addFixes(
    const RuleInput& input, Finding& finding, const LargestSite& largest, const Held& held, const Job& job)
{
    if (!largest.name.empty())
        finding.fixes.push_back(makeFix("shrink-largest-site",
            "Look first at " + largest.name + ": it holds " + sizeText(largest.bytes)
                + ofRole(input, largest.allocations) + " when memory runs out.",
            Grade::A));
    const std::vector<Fix> needs = needFixes(input, held.of(Role::SavedActivation), job);
    finding.fixes.insert(finding.fixes.end(), needs.begin(), needs.end());
    addParallelism(input, finding);
}

void run(const RuleInput& input, RuleOutput& output, const Job& job)
{
    for (const OomAutopsy& oom : input.ooms) {
        if (oom.verdict != Verdict::Capacity)
            continue;
        const std::uint64_t deficit = static_cast<std::uint64_t>(-*oom.slack);
        Finding finding = oomFinding(input, "capacity", oom, deficit);
        const LargestSite largest
            = largestSite(input.replay, input.sites, input.replay.timeline.liveAt(oom.state));
        const bool moot = expandableOn(input);
        addEvidence(finding, "pytorch_hint_moot", EvidenceValue(moot));
        finding.site = largest.name;
        finding.allocations = largest.allocations;
        finding.count = largest.allocations.size();
        finding.title = "Out of memory: " + requestText(oom)
            + " would not have fitted even perfectly packed, it lacked " + sizeText(deficit) + ".";
        finding.explanation = "Live blocks of " + sizeText(oom.allocated) + " leave "
            + sizeText(
                oom.reserved + static_cast<std::int64_t>(*oom.deviceFree) - oom.allocated - oom.waiting)
            + " of the " + sizeText(*oom.usable())
            + " the allocator could own. What this one request lacked is " + sizeText(deficit)
            + "; what the run would have asked for after it comes on top.";
        if (!largest.name.empty()) {
            addEvidence(finding, "largest_site_bytes", largest.bytes);
            const bool most = static_cast<std::int64_t>(largest.bytes) * 2 > oom.allocated;
            finding.explanation += (most ? " Most of it, " : " The largest share with a call site, ")
                + sizeText(largest.bytes) + ofRole(input, largest.allocations) + " in "
                + countText(finding.count, "allocation", "allocations") + ", comes from " + largest.name
                + ".";
        }
        const Held held = heldAt(input, oom.state);
        finding.explanation += heldText(held);
        if (moot)
            finding.explanation
                += " PyTorch's own hint in the error text is moot: expandable segments were on already.";
        finding.explanation += peersText(input);
        addFixes(input, finding, largest, held, job);
        output.findings.push_back(std::move(finding));
    }
}

} // namespace

extern const Rule capacityRule;
const Rule capacityRule{"capacity", "D2", "Requests that even perfectly packed memory would not have held.",
    run, needs::history | needs::verdict};

} // namespace tidemark
