// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/rule_tools.hpp"

#include <algorithm>

namespace tidemark {

namespace {

bool roundsUpToPowers(const Snapshot& snapshot)
{
    return std::any_of(snapshot.settings.begin(), snapshot.settings.end(), [](const Setting& s) {
        const std::int64_t* value = std::get_if<std::int64_t>(&s.value);
        return s.key.starts_with("roundup_power2_divisions") && value != nullptr && *value > 1;
    });
}

void run(const RuleInput& input, RuleOutput& output, const Job&)
{
    const Replay& replay = input.replay;
    if (!isGpu(input) || !replay.segments.known())
        return;
    const SegmentState state = replay.segments.stateAt(replay.states() - 1, replay.timeline);
    const StateMetrics m = metricsOf(state);
    const std::uint64_t blocks = m.allocated + m.waiting;
    constexpr std::uint64_t atLeast = 32ULL << 20;
    if (m.rounding() < atLeast || m.rounding() * 50 <= blocks)
        return;
    Finding finding = makeFinding(input, "rounding-waste", Severity::Info);
    finding.bytes = m.rounding();
    finding.lookAt = state.state;
    for (const Piece& piece : state.pieces)
        if (piece.kind != PieceKind::Free && piece.size > piece.requested && valid(piece.allocation))
            finding.allocations.push_back(piece.allocation);
    finding.count = finding.allocations.size();
    const double share = static_cast<double>(m.rounding()) / static_cast<double>(blocks);
    addEvidence(finding, "requested", m.requested);
    addEvidence(finding, "block_bytes", blocks);
    addEvidence(finding, "share", EvidenceValue(share));
    finding.title = sizeText(m.rounding()) + " (" + formatPercent(share)
        + " of the blocks) at the end are larger blocks than the program asked for.";
    const bool powers = roundsUpToPowers(*replay.snapshot);
    finding.explanation = powers ? "roundup_power2_divisions rounds requests up to parts of powers of two."
                                 : "Requests are rounded to 512 B, and a large block is given whole when "
                                   "less than 1 MiB would be left over.";
    if (powers)
        finding.fixes.push_back(makeFix("drop-roundup",
            "Remove roundup_power2_divisions from PYTORCH_CUDA_ALLOC_CONF, or raise the number of divisions.",
            Grade::B));
    output.findings.push_back(std::move(finding));
}

} // namespace

extern const Rule roundingWasteRule;
const Rule roundingWasteRule{
    "rounding-waste", "", "Blocks well above what was asked for.", run, needs::segments};

} // namespace tidemark
