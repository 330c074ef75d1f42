// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/rule_tools.hpp"

namespace tidemark {

namespace {

void addFixes(const RuleInput& input, Finding& finding, const OomAutopsy& oom)
{
    const std::uint64_t streams = oom.elsewhere - oom.elsewherePrivate;
    const bool streamsSuffice = streams + oom.sameClassFree + *oom.deviceFree >= *oom.request;
    if (streamsSuffice && !expandableOn(input))
        finding.fixes.push_back(expandableFix(input,
            "free pages of another stream go back to the device when a request fails, pinned segments do "
            "not"));
    if (streams > 0)
        finding.fixes.push_back(makeFix("fewer-streams",
            "Allocate on fewer streams, or allocate the buffers of the side stream on the main one: memory "
            "stays with "
            "the stream it was reserved for.",
            Grade::B));
    if (oom.elsewherePrivate > 0)
        finding.fixes.push_back(makeFix("release-private-pool",
            "Drop the graphs or the MemPool that hold the private pool, or capture all graphs into one "
            "shared pool: "
            "a pool's memory serves nobody else while its owner lives.",
            Grade::B, "playbook row R10"));
}

void run(const RuleInput& input, RuleOutput& output, const Job&)
{
    for (const OomAutopsy& oom : input.ooms) {
        if (oom.verdict != Verdict::WrongPool)
            continue;
        Finding finding = oomFinding(input, "wrong-pool", oom, oom.elsewhere);
        finding.count = oom.elsewhereHoles;
        finding.segments = oom.elsewhereSegments;
        addEvidence(finding, "in_reach", oom.sameClassFree + *oom.deviceFree);
        addEvidence(finding, "elsewhere_private_pools", oom.elsewherePrivate);
        addEvidence(finding, "elsewhere_streams", oom.elsewhere - oom.elsewherePrivate);
        const char* where = oom.elsewherePrivate == 0 ? "other streams"
            : oom.elsewherePrivate == oom.elsewhere   ? "private pools"
                                                      : "other streams and private pools";
        finding.title = "Out of memory: " + requestText(oom) + " failed while " + sizeText(oom.elsewhere)
            + " lay free in " + where + ".";
        finding.explanation = "In reach of the request were only "
            + sizeText(oom.sameClassFree + *oom.deviceFree)
            + ", the device's free memory included. Memory reserved for one stream or private pool is never "
              "lent to "
              "another.";
        addFixes(input, finding, oom);
        output.findings.push_back(std::move(finding));
    }
}

} // namespace

extern const Rule wrongPoolRule;
const Rule wrongPoolRule{"wrong-pool", "", "free memory exists, but in another stream or private pool", run};

} // namespace tidemark
