// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/rule_tools.hpp"

namespace tidemark {

namespace {

/// "a graph capture is open", by what the file tells of it.
const char* scopeText(OomScope scope)
{
    switch (scope) {
    case OomScope::UserPool:
        return "a memory pool (MemPool) is in use";
    case OomScope::Inferred:
        return "a graph capture or a pool's scope is open";
    case OomScope::Capture:
    case OomScope::None:
        break;
    }
    return "a graph capture is open";
}

std::string titleText(const OomAutopsy& oom)
{
    const char* when = oom.scope == OomScope::UserPool ? " inside a memory pool's scope"
        : oom.scope == OomScope::Inferred ? ", most likely during graph capture or in a pool's scope"
                                          : " during graph capture";
    return "Out of memory" + std::string(when) + ": " + requestText(oom) + " failed with "
        + sizeText(oom.unflushed) + " of cached memory that is not given back while " + scopeText(oom.scope)
        + ".";
}

std::string explanationText(const OomAutopsy& oom)
{
    std::string text = "Otherwise the allocator empties its cache before it gives up; here it "
                       "must not touch the device.";
    if (oom.scope == OomScope::Inferred)
        text += " Neither frames nor the event name the scope: it is told from the cache, which a plain "
                "request would have emptied.";
    return text;
}

void addFixes(const RuleInput& input, Finding& finding, const OomAutopsy& oom)
{
    const bool user = oom.scope == OomScope::UserPool;
    finding.fixes.push_back(makeFix("empty-cache-before-capture",
        user ? "Call torch.cuda.empty_cache() before the pool's scope (torch.cuda.use_mem_pool) begins."
             : "Call torch.cuda.empty_cache() after the warm-up and before the capture begins.",
        finding.grade));
    if (!user)
        finding.fixes.push_back(makeFix("share-graph-pool",
            "Capture all graphs into one pool (torch.cuda.graph_pool_handle()), largest first.", Grade::B));
    if (!expandableOn(input))
        finding.fixes.push_back(expandableFix(input,
            "cached memory is then in one growing segment; the cache still has to be emptied before the "
                + std::string(user ? "scope" : "capture")));
}

void run(const RuleInput& input, RuleOutput& output, const Job&)
{
    for (const OomAutopsy& oom : input.ooms) {
        if (oom.verdict != Verdict::CaptureBlocked)
            continue;
        Finding finding = oomFinding(input, "capture-blocked", oom, oom.unflushed);
        finding.grade = oom.scope == OomScope::Inferred ? Grade::B : Grade::A;
        finding.count = oom.unflushedIds.size();
        finding.segments = oom.unflushedIds;
        finding.title = titleText(oom);
        finding.explanation = explanationText(oom);
        addFixes(input, finding, oom);
        output.findings.push_back(std::move(finding));
    }
}

} // namespace

extern const Rule captureBlockedRule;
const Rule captureBlockedRule{"capture-blocked", "",
    "Out of memory during graph capture or in a pool's scope, when the cache is not flushed.", run,
    needs::history | needs::verdict};

} // namespace tidemark
