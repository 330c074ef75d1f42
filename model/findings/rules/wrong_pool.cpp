// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/rule_tools.hpp"

namespace tidemark {

namespace {

void addFixes(const RuleInput& input, Finding& finding, const OomAutopsy& oom)
{
    const std::uint64_t streams = oom.elsewhereStreams;
    // Only the default pool's pages go back on a failure, and only while no capture is open.
    const bool streamsSuffice
        = index(oom.requestClass.pool) == 0 && streams + oom.sameClassFree + *oom.deviceFree >= *oom.request;
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
    if (oom.elsewhereDefault > 0)
        finding.fixes.push_back(makeFix("empty-cache-before-capture",
            "Call torch.cuda.empty_cache() before the capture or the pool's scope begins, and free what pins "
            "the default pool's segments: inside the scope only the private pool serves.",
            Grade::B));
    if (oom.elsewherePrivate > 0)
        finding.fixes.push_back(makeFix("release-private-pool",
            "Drop the graphs or the MemPool that hold the private pool, or capture all graphs into one "
            "shared pool: "
            "a pool's memory serves nobody else while its owner lives.",
            Grade::B, "playbook row R10"));
}

/// "other streams, the default pool and other private pools".
std::string placesText(const OomAutopsy& oom)
{
    std::vector<const char*> places;
    if (oom.elsewhereStreams > 0)
        places.push_back("other streams");
    if (oom.elsewhereDefault > 0)
        places.push_back("the default pool");
    if (oom.elsewherePrivate > 0)
        places.push_back(index(oom.requestClass.pool) == 0 ? "private pools" : "other private pools");
    std::string text;
    for (std::size_t i = 0; i < places.size(); ++i)
        text += (i == 0 ? "" : i + 1 < places.size() ? ", " : " and ") + std::string(places[i]);
    return text;
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
        addEvidence(finding, "elsewhere_streams", oom.elsewhereStreams);
        addEvidence(finding, "elsewhere_default_pool", oom.elsewhereDefault);
        finding.title = "Out of memory: " + requestText(oom) + " failed while " + sizeText(oom.elsewhere)
            + " lay free in " + placesText(oom) + ".";
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
const Rule wrongPoolRule{"wrong-pool", "",
    "Failed requests while memory was free in another stream or private pool.", run,
    needs::history | needs::verdict};

} // namespace tidemark
