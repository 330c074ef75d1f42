// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/need_fixes.hpp"
#include "model/findings/rule_tools.hpp"

#include <cstdlib>

namespace tidemark {

namespace {

/// Both causes are close: memory in one piece, and less of it.
std::vector<Fix> fixesOf(const RuleInput& input, const Job& job)
{
    std::vector<Fix> out;
    if (!expandableOn(input))
        out.push_back(expandableFix(input, "free memory is then not lost in pieces"));
    for (Fix& fix : needFixes(input, 0, job))
        out.push_back(std::move(fix));
    return out;
}

void run(const RuleInput& input, RuleOutput& output, const Job& job)
{
    std::vector<Fix> fixes;
    for (const OomAutopsy& oom : input.ooms) {
        if (!oom.thinMargin)
            continue;
        Finding finding = makeFinding(input, "thin-margin", Severity::Info);
        finding.bytes = static_cast<std::uint64_t>(std::abs(*oom.slack));
        finding.grade = Grade::D;
        finding.eventRange = std::pair(oom.event, oom.event);
        finding.lookAt = oom.state;
        addEvidence(finding, "slack", EvidenceValue(*oom.slack));
        addEvidence(finding, "one_percent_of_usable", *oom.usable() / 100);
        addEvidence(finding, "holes", oom.holes);
        finding.title = "The verdict hangs on " + sizeText(finding.bytes) + ": " + requestText(oom)
            + (*oom.slack < 0 ? " missed the limit" : " would have fitted")
            + " by less than the numbers can bear.";
        finding.explanation = "Below " + sizeText(oom.thinBelow())
            + " (1 % of what the allocator could own, or two pages a hole) both causes are close: free some "
              "memory and "
              "keep it in one piece.";
        if (fixes.empty())
            fixes = fixesOf(input, job);
        finding.fixes = fixes;
        output.findings.push_back(std::move(finding));
    }
}

} // namespace

extern const Rule thinMarginRule;
const Rule thinMarginRule{"thin-margin", "",
    "Verdicts that hang on less than the granularity of the numbers.", run, needs::history | needs::verdict};

} // namespace tidemark
