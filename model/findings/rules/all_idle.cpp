// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/rule_tools.hpp"

#include <algorithm>

namespace tidemark {

namespace {

void run(const RuleInput& input, RuleOutput& output, const Job&)
{
    const Replay& replay = input.replay;
    if (!isGpu(input) || !replay.segments.known())
        return;
    const SegmentState state = replay.segments.stateAt(replay.states() - 1, replay.timeline);
    const bool idle = std::all_of(state.pieces.begin(), state.pieces.end(),
        [](const Piece& piece) { return piece.kind == PieceKind::Free; });
    const StateMetrics m = metricsOf(state);
    if (!idle || m.releasable == 0)
        return;
    Finding finding = makeFinding(input, "all-idle", Severity::Info);
    finding.bytes = m.releasable;
    finding.lookAt = state.state;
    for (const SegmentView& s : state.segments)
        if (index(s.pool) == 0 && s.freeBytes > 0)
            finding.segments.push_back(s.id);
    finding.count = finding.segments.size();
    addEvidence(finding, "reserved", m.reserved);
    addEvidence(finding, "held_by_pools", m.privateInactive);
    finding.title
        = "Nothing is live at the end: " + sizeText(m.releasable) + " of reserved memory would go back.";
    finding.explanation = "The cache is kept for the next request; other processes cannot have it meanwhile.";
    finding.fixes.push_back(makeFix("empty-cache",
        "Call torch.cuda.empty_cache() if another process or library needs the memory now.", Grade::A));
    output.findings.push_back(std::move(finding));
}

} // namespace

extern const Rule allIdleRule;
const Rule allIdleRule{"all-idle", "",
    "Nothing live at the end: emptying the cache would give everything back.", run, needs::segments};

} // namespace tidemark
