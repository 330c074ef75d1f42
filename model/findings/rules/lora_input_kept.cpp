// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/estimates.hpp"
#include "model/findings/rule_tools.hpp"

#include <algorithm>
#include <map>

namespace tidemark {

extern const Rule loraInputKeptRule;

namespace {

/// Finds the tensors that adapters keep as their input although nothing else in backward needs them.
class Search {
public:
    Search(const RuleInput& input, const StackFacts& facts)
        : m_input(input)
        , m_all(input.replay.timeline.allocations())
        , m_facts(facts)
    { }

    bool run(const Job& job)
    {
        for (std::size_t i = 0; i < m_all.count(); ++i) {
            if (i % pollInterval == 0 && job.stopped())
                return false;
            look(static_cast<AllocationId>(i));
        }
        closeCalls();
        return true;
    }
    /// Without the statistics of norms, which are saved beside the output and are no input.
    std::vector<AllocationId> inputs() const
    {
        std::vector<AllocationId> out;
        for (const AllocationId id : m_kept) {
            const auto norm = m_largest.find(m_all.stack[index(id)]);
            if (norm == m_largest.end() || m_all.size[index(id)] * 64 >= norm->second)
                out.push_back(id);
        }
        return out;
    }

private:
    std::uint64_t is(AllocationId id) const { return m_facts.of(m_all.stack[index(id)]); }

    void look(AllocationId id)
    {
        const std::uint64_t facts = is(id);
        const Phase phase = bornIn(m_input, id);
        if (phase != Phase::Forward)
            return;
        // Megatron Bridge: the norm inside the wrapped base layer, whose frozen weight needs no input.
        if ((facts & in::TeNorm) != 0 && (facts & in::AdapterBase) != 0) {
            std::uint64_t& largest = m_largest[m_all.stack[index(id)]];
            largest = std::max(largest, m_all.size[index(id)]);
            if (isSaved(m_input, id))
                m_kept.push_back(id);
            return;
        }
        if ((facts & in::HfLora) != 0) {
            m_inCalls = true;
            m_copied = m_copied || (facts & (in::Cast | in::Dropout)) != 0;
            return;
        }
        if (m_inCalls)
            closeCalls();
        m_before.push_back(id);
    }

    /// A run of adapter calls has ended: what they share as input is the last big tensor made before them.
    void closeCalls()
    {
        if (m_inCalls && !m_copied) {
            std::uint64_t largest = 0;
            for (const AllocationId id : m_before)
                largest = std::max(largest, m_all.size[index(id)]);
            const auto input = std::find_if(m_before.rbegin(), m_before.rend(), [&](AllocationId id) {
                return isSaved(m_input, id) && m_all.size[index(id)] * 4 >= largest;
            });
            if (input != m_before.rend())
                m_kept.push_back(*input);
        }
        m_inCalls = false;
        m_copied = false;
        m_before.clear();
    }

    const RuleInput& m_input;
    const AllocationColumns& m_all;
    const StackFacts& m_facts;
    std::vector<AllocationId> m_kept;
    std::map<StackId, std::uint64_t> m_largest; ///< of a norm's allocations, saved or not, by stack
    std::vector<AllocationId> m_before; ///< made between two runs of adapter calls
    bool m_inCalls = false;
    bool m_copied = false; ///< the calls keep copies of their own instead
};

Finding report(
    const RuleInput& input, const std::vector<AllocationId>& kept, const SetPeak& worst, const Job& job)
{
    Finding out = findingOf(input, loraInputKeptRule, Severity::Info, worst.live, worst.state);
    out.grade = Grade::B;
    out.site = largestSiteOf(input, worst.live);
    out.evidence = {{"inputs", static_cast<std::int64_t>(worst.live.size())},
        {"retained_at_peak",
            static_cast<std::int64_t>(sumOf(input.replay, liveOf(input.replay, worst.live, input.peak)))}};
    Fix fix;
    fix.id = "lora-freeze-a";
    fix.text = "Freeze LoRA-A and train LoRA-B only (LoRA-FA): backward then needs no adapter input.";
    fix.grade = Grade::B;
    fix.cost = "fewer trainable parameters; an upper bound, where a trained norm or another layer needs the "
               "tensor it stays";
    fix.source = "LoRA-FA (arXiv 2308.03303)";
    auto edits = std::make_shared<Edits>();
    const AllocationColumns& all = input.replay.timeline.allocations();
    for (const AllocationId id : kept) {
        // The calls that read it are over when the program is one layer of allocations further.
        const std::size_t after = std::min(index(id) + 8, all.count() - 1);
        edits->endAt(id, std::max(all.firstState[after], all.firstState[index(id)] + 1));
    }
    fix.edits = edits;
    estimate(fix, input, job);
    out.fixes.push_back(fix);
    out.title = formatBytes(static_cast<std::int64_t>(out.bytes))
        + " of adapter inputs stay until backward only because LoRA-A is trained: "
        + countText(out.count, "tensor", "tensors") + ".";
    out.explanation = "The base weights are frozen and need no input for their gradient; this is an upper "
                      "bound of what freezing "
                      "LoRA-A would save.";
    return out;
}

void run(const RuleInput& input, RuleOutput& output, const Job& job)
{
    const StackFacts& facts = input.facts;
    if (!facts.anyFrames()) {
        output.undecided.push_back({loraInputKeptRule.id, needsStacks});
        return;
    }
    Search search(input, facts);
    if (!search.run(job))
        return;
    const std::vector<AllocationId> kept = search.inputs();
    if (kept.empty()) {
        if (facts.anywhere(in::AnyLora) && !input.phases.firstForward)
            output.undecided.push_back({loraInputKeptRule.id, needsPhases});
        return;
    }
    const SetPeak worst = highestSum(input.replay, kept);
    if (worst.bytes > 0)
        output.findings.push_back(report(input, kept, worst, job));
}

} // namespace

const Rule loraInputKeptRule{"lora-input-kept", "",
    "Inputs that stay until backward only because an adapter's first matrix is trained.", run};

} // namespace tidemark
