// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/rule_tools.hpp"

namespace tidemark {

namespace {

void run(const RuleInput& input, RuleOutput& output, const Job&)
{
    for (const OomAutopsy& oom : input.ooms) {
        if (oom.verdict != Verdict::CaptureBlocked)
            continue;
        Finding finding = oomFinding(input, "capture-blocked", oom, oom.unflushed);
        finding.count = oom.unflushedIds.size();
        finding.segments = oom.unflushedIds;
        finding.title = "Out of memory during graph capture: " + requestText(oom) + " failed with "
            + sizeText(oom.unflushed) + " of cached memory that is not given back while a capture is open.";
        finding.explanation
            = "Outside a capture the allocator empties its cache before it gives up; inside one it "
              "must not touch the device.";
        finding.fixes.push_back(makeFix("empty-cache-before-capture",
            "Call torch.cuda.empty_cache() after the warm-up and before the capture begins.", Grade::A));
        finding.fixes.push_back(makeFix("share-graph-pool",
            "Capture all graphs into one pool (torch.cuda.graph_pool_handle()), largest first.", Grade::B));
        if (!expandableOn(input))
            finding.fixes.push_back(expandableFix(input,
                "cached memory is then in one growing segment; the cache still has to be "
                "emptied before the capture"));
        output.findings.push_back(std::move(finding));
    }
}

} // namespace

extern const Rule captureBlockedRule;
const Rule captureBlockedRule{
    "capture-blocked", "", "Out of memory during graph capture, when the cache is not flushed.", run};

} // namespace tidemark
