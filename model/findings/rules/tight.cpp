// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/need_fixes.hpp"
#include "model/findings/rule_tools.hpp"

namespace tidemark {

namespace {

void run(const RuleInput& input, RuleOutput& output, const Job& job)
{
    if (!isGpu(input) || input.replay.device().events.count() < 2)
        return;
    // A failure for lack of memory says it all; any other one states exactly what could be had.
    for (const OomAutopsy& oom : input.ooms)
        if (oom.verdict == Verdict::Capacity)
            return;
    const std::optional<MemoryLimit> limit = memoryLimit(input);
    if (!limit) {
        output.undecided.push_back({"tight",
            "the size of the card (hardware.device_total_bytes among the run's settings, or typed)"});
        return;
    }
    const std::uint64_t usable = limit->bytes;
    const TraceMetrics m = traceMetrics(input.replay);
    const double share = static_cast<double>(m.allocatedPeak) / static_cast<double>(usable);
    if (share <= 0.92 || m.allocatedPeak > static_cast<std::int64_t>(usable))
        return;
    Finding finding = makeFinding(input, "tight", Severity::Warning);
    finding.bytes = usable - static_cast<std::uint64_t>(m.allocatedPeak);
    finding.grade = Grade::D;
    finding.lookAt = m.allocatedPeakState;
    if (m.allocatedPeakState > 0)
        finding.eventRange
            = std::pair(EventIndex{m.allocatedPeakState - 1}, EventIndex{m.allocatedPeakState - 1});
    addEvidence(finding, "allocated_peak", EvidenceValue(m.allocatedPeak));
    addEvidence(finding, "usable", usable);
    addEvidence(finding, "share", EvidenceValue(share));
    finding.title = "The peak of " + sizeText(m.allocatedPeak) + " takes " + formatPercent(share) + " of "
        + (limit->exact ? sizeText(usable) + " that the allocator could own: "
                        : "the whole card (" + sizeText(usable) + "): at most ")
        + sizeText(finding.bytes) + " are left.";
    finding.explanation = limit->exact
        ? "So much the allocator could own when a request failed. Above 92 % a "
          "longer sequence or a fuller expert ends "
          "the run."
        : "What PyTorch may reserve of the card is not in the file; NCCL and "
          "the CUDA context hold a part of it, so less is left.";
    if (!expandableOn(input))
        finding.fixes.push_back(expandableFix(input, "what is left is then not lost in pieces"));
    for (Fix& fix : needFixes(input, 0, job))
        finding.fixes.push_back(std::move(fix));
    output.findings.push_back(std::move(finding));
}

} // namespace

extern const Rule tightRule;
const Rule tightRule{"tight", "", "A peak above 92 % of what the device can give.", run};

} // namespace tidemark
