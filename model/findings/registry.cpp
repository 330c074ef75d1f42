// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/rule.hpp"

#include <vector>

// One line a rule, in the order in which they run: rules/<name>.cpp defines `const Rule <name>Rule`.
// clang-format off
#define TIDEMARK_RULES(X) \
    X(captureBlocked) \
    X(capacity) \
    X(wrongPool) \
    X(fragmentation) \
    X(outsideAllocator) \
    X(thinMargin) \
    X(tight) \
    X(setupPeak) \
    X(poolHeld) \
    X(unsharedPools) \
    X(pendingFrees) \
    X(allocatorRetries) \
    X(roundingWaste) \
    X(reservedCreep) \
    X(phaseReserved) \
    X(unreachableLargeBlocks) \
    X(allIdle) \
    X(estimateExceedsDevice) \
    X(loraGatheredInput) \
    X(loraExtraCopies) \
    X(recomputeCandidate) \
    X(recomputeOff) \
    X(checkpointInputs) \
    X(checkpointLevel) \
    X(recomputeBurst) \
    X(logits) \
    X(optimizerPeak) \
    X(gradientsKept) \
    X(leak) \
    X(batchFree) \
    X(sameSizeTemporaries) \
    X(loraInputKept)
// clang-format on

namespace tidemark {

#define X(name) extern const Rule name##Rule;
TIDEMARK_RULES(X)
#undef X

std::span<const Rule> rules()
{
#define X(name) name##Rule,
    static const std::vector<Rule> all = {TIDEMARK_RULES(X)};
#undef X
    return all;
}

Finding makeFinding(const RuleInput& input, const char* rule, Severity severity)
{
    Finding finding;
    finding.rule = rule;
    finding.severity = severity;
    finding.rank = input.rank;
    finding.device = input.replay.device().ordinal;
    finding.deviceIndex = input.replay.deviceIndex;
    finding.lookAt = input.peak;
    for (const Rule& each : rules())
        if (finding.rule == each.id)
            finding.playbook = each.playbook;
    return finding;
}

} // namespace tidemark
