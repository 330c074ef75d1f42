// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/rule_tools.hpp"

#include <algorithm>

namespace tidemark {

namespace {

void run(const RuleInput& input, RuleOutput& output, const Job&)
{
    const Replay& replay = input.replay;
    const std::optional<std::uint64_t> limit = maxSplitSize(*replay.snapshot);
    if (!isGpu(input) || !replay.segments.known() || !limit)
        return;
    const SegmentState state = replay.segments.stateAt(replay.states() - 1, replay.timeline);
    Finding finding = makeFinding(input, "unreachable-large-blocks", Severity::Info);
    bool kept = false;
    for (const SegmentView& s : state.segments) {
        if (index(s.pool) != 0 || isSmallPool(s))
            continue;
        for (std::uint32_t p = 0; p < s.pieceCount; ++p) {
            const Piece& piece = state.pieces[s.firstPiece + p];
            if (piece.kind != PieceKind::Free || piece.size < *limit)
                continue;
            finding.bytes += piece.size;
            ++finding.count;
            kept = kept || s.expandable;
            if (finding.segments.empty() || finding.segments.back() != s.id)
                finding.segments.push_back(s.id);
        }
    }
    if (finding.count == 0)
        return;
    // In expandable segments such blocks pile up for good; native ones go back when memory runs short.
    finding.severity = kept ? Severity::Warning : Severity::Info;
    finding.lookAt = state.state;
    addEvidence(finding, "blocks", finding.count);
    addEvidence(finding, "max_split_size", *limit);
    addEvidence(finding, "largest_hole", state.largestHole);
    finding.title = sizeText(finding.bytes) + " free in " + countText(finding.count, "block", "blocks")
        + " of at least max_split_size (" + sizeText(*limit) + "), which no smaller request may use.";
    finding.explanation = kept ? "Inside an expandable segment free blocks merge past the limit and are then "
                                 "shut to the requests that made "
                                 "them; the segment grows instead."
                               : "A block of that size is kept whole for requests of its own size.";
    finding.fixes.push_back(makeFix("drop-max-split-size",
        "Remove max_split_size_mb from PYTORCH_CUDA_ALLOC_CONF, or set it above the largest block that "
        "should be "
        "shared.",
        Grade::A, "PyTorch pull request 193400"));
    output.findings.push_back(std::move(finding));
}

} // namespace

extern const Rule unreachableLargeBlocksRule;
const Rule unreachableLargeBlocksRule{"unreachable-large-blocks", "",
    "Free blocks at or above max_split_size, which no smaller request may use.", run, needs::segments};

} // namespace tidemark
