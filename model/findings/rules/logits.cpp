// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/estimates.hpp"
#include "model/findings/rule_tools.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace tidemark {

extern const Rule logitsRule;

namespace {

constexpr double leastShare = 0.05;
/// How far before the first loss tensor the model's own logits are looked for, in allocations.
constexpr std::size_t headReach = 8;

class Search {
public:
    Search(const RuleInput& input, const StackFacts& facts)
        : m_input(input)
        , m_all(input.replay.timeline.allocations())
        , m_facts(facts)
    { }

    std::vector<AllocationId> atPeak() const
    {
        std::vector<AllocationId> out;
        for (const AllocationId id : m_input.liveAtPeak)
            if (isLoss(id))
                out.push_back(id);
        addHeads(out);
        std::sort(out.begin(), out.end());
        return out;
    }

private:
    bool isLoss(AllocationId id) const
    {
        // The output layer gathers its input under the same frames; gradients of the loss are backward's.
        return m_input.labels.is(id, "F-loss") && !backward(id)
            && !m_facts.any(m_all.stack[index(id)], in::AnyGather);
    }
    bool backward(AllocationId id) const
    {
        const Phase phase = bornIn(m_input, id);
        return phase == Phase::Backward || phase == Phase::Recompute
            || m_input.labels.role(id) == Role::BackwardTemporary;
    }

    /// The output of the last linear layer carries no name of its own outside Megatron: what precedes the
    /// first loss tensor and has its size, or half or a quarter of it, is the logits it was made of.
    void addHeads(std::vector<AllocationId>& loss) const
    {
        std::vector<AllocationId> heads;
        std::unordered_set<AllocationId> known(loss.begin(), loss.end());
        for (const AllocationId first : loss) {
            const std::uint64_t size = m_all.size[index(first)];
            for (std::size_t back = 1; back <= headReach && back <= index(first); ++back) {
                const auto at = static_cast<AllocationId>(index(first) - back);
                const std::uint64_t other = m_all.size[index(at)];
                const bool fits = other > 0
                    && (other == size || other * 2 == size || other * 4 == size || other == size * 2);
                if (fits && !known.contains(at) && !backward(at)
                    && m_facts.any(m_all.stack[index(at)], in::OutputLinear | in::Postprocess)
                    && !m_facts.any(
                        m_all.stack[index(at)], in::AnyGather | in::AnyLora | in::DenseMlp | in::Qkv)
                    && m_input.replay.timeline.isLive(at, m_input.peak)
                    && shareOf(other, peakBytes(m_input)) > leastShare / 10) {
                    known.insert(at);
                    heads.push_back(at);
                }
            }
        }
        loss.insert(loss.end(), heads.begin(), heads.end());
    }

    const RuleInput& m_input;
    const AllocationColumns& m_all;
    const StackFacts& m_facts;
};

/// Drops every copy but the narrowest, in the whole recording: what a fused cross entropy needs no more.
std::shared_ptr<const Edits> fused(const RuleInput& input, const std::vector<AllocationId>& set)
{
    const AllocationColumns& all = input.replay.timeline.allocations();
    auto edits = std::make_shared<Edits>();
    std::uint64_t least = ~std::uint64_t{0};
    for (const AllocationId id : set)
        least = std::min(least, all.size[index(id)]);
    for (const AllocationId id : set)
        if (all.size[index(id)] > least)
            edits->drop(id);
    return edits;
}

void run(const RuleInput& input, RuleOutput& output, const Job& job)
{
    const StackFacts& facts = input.facts;
    if (!facts.anyFrames()) {
        output.undecided.push_back({logitsRule.id, needsStacks});
        return;
    }
    std::vector<AllocationId> set = Search(input, facts).atPeak();
    const double share = shareOf(sumOf(input.replay, set), peakBytes(input));
    if (set.empty() || share <= leastShare)
        return;
    Finding out
        = findingOf(input, logitsRule, share > 0.25 ? Severity::Warning : Severity::Info, set, input.peak);
    out.site = largestSiteOf(input, set);
    std::vector<std::int64_t> sizes;
    for (const AllocationId id : set)
        sizes.push_back(static_cast<std::int64_t>(input.replay.timeline.allocations().size[index(id)]));
    out.evidence = {{"share_of_peak", share}, {"sizes", sizes}};
    Fix fix;
    fix.id = "cross-entropy-fusion";
    fix.text = "Fuse or chunk the loss (model.cross_entropy_loss_fusion=true, Liger or cut cross entropy): "
               "no float32 copy of all "
               "logits is made.";
    fix.grade = Grade::B;
    if (input.config.flag("model.cross_entropy_loss_fusion").value_or(false))
        fix.blockedBy = "already on: model.cross_entropy_loss_fusion is true";
    fix.edits = fused(input, likesOf(input.replay, set));
    estimate(fix, input, job);
    out.fixes.push_back(fix);
    if (input.config.flag("comm_overlap.defer_embedding_wgrad_compute") == true)
        out.fixes.push_back(makeFix("embedding-wgrad-at-once",
            "Set comm_overlap.defer_embedding_wgrad_compute=false, or lower wgrad_deferral_limit: the last "
            "stage keeps the gradient of the logits of that many microbatches until the step ends.",
            Grade::D, "Megatron-Core 2a75ac12; playbook note M-deferred-embedding"));
    out.title = formatBytes(static_cast<std::int64_t>(out.bytes))
        + " of logits and loss tensors live at the peak: " + formatPercent(share) + " of it in "
        + countText(out.count, "tensor", "tensors") + ".";
    out.explanation = "Every token has one number for each word of the vocabulary, in the model's type and "
                      "again in float32 for "
                      "the loss.";
    output.findings.push_back(std::move(out));
}

} // namespace

const Rule logitsRule{"logits", "", "Logits and loss tensors that make up much of the peak.", run};

} // namespace tidemark
