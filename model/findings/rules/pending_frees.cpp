// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/rule_tools.hpp"

#include <algorithm>

namespace tidemark {

namespace {

/// Waits below this, or below a thousandth of reserved memory, are the normal lag of a stream.
constexpr std::int64_t normalLag = 4LL << 20;

void addFixes(const RuleInput& input, Finding& finding)
{
    Fix avoid = makeFix("avoid-record-stream",
        "With PyTorch before 2.8, set TORCH_NCCL_AVOID_RECORD_STREAMS=1, so that collectives keep references "
        "instead "
        "of delaying the free; later versions do so by themselves and ignore the variable.",
        Grade::D, "PyTorch pull request 194701");
    if (input.config.text("env.TORCH_NCCL_AVOID_RECORD_STREAMS") == "1")
        avoid.blockedBy = "it is set already";
    finding.fixes.push_back(avoid);
    finding.fixes.push_back(makeFix("wait-before-free",
        "Let the main stream wait for the side stream before the tensors go out of scope, instead of "
        "record_stream.",
        Grade::B));
}

void run(const RuleInput& input, RuleOutput& output, const Job&)
{
    const Replay& replay = input.replay;
    if (!isGpu(input))
        return;
    const TraceMetrics m = traceMetrics(replay);
    if (m.pendingPeak < normalLag || m.pendingPeak * 1000 < std::max(m.reservedPeak, m.allocatedPeak))
        return;
    Finding finding = makeFinding(input, "pending-frees", Severity::Warning);
    finding.bytes = static_cast<std::uint64_t>(m.pendingPeak);
    finding.lookAt = m.pendingPeakState;
    const AllocationColumns& a = replay.timeline.allocations();
    StateIndex first = replay.states();
    StateIndex last = 0;
    StreamId stream = StreamId::none;
    std::uint64_t longest = 0;
    for (std::uint32_t i = 0; i < a.count(); ++i) {
        if (a.pendingState[i] >= a.endState[i])
            continue;
        finding.allocations.push_back(AllocationId{i});
        first = std::min(first, a.pendingState[i]);
        last = std::max(last, std::min(a.endState[i], replay.states() - 1));
        if (a.size[i] > longest) {
            longest = a.size[i];
            stream = a.stream[i];
        }
    }
    finding.count = replay.timeline.delayedFrees();
    if (first <= last && last > 0)
        finding.eventRange = std::pair(EventIndex{first == 0 ? 0 : first - 1}, EventIndex{last - 1});
    const LargestSite site = largestSite(replay, input.sites, finding.allocations);
    finding.site = site.name;
    addEvidence(finding, "peak_pending", EvidenceValue(m.pendingPeak));
    addEvidence(finding, "pending_at_end",
        EvidenceValue(
            replay.segments.known() ? replay.segments.waiting().last() : replay.timeline.pending().last()));
    addEvidence(finding, "delayed_frees", finding.count);
    if (valid(stream))
        addEvidence(finding, "allocated_on_stream", EvidenceValue(replay.snapshot->streams[index(stream)]));
    finding.title = "Up to " + sizeText(m.pendingPeak)
        + " freed by the program waited for another stream, in "
        + countText(finding.count, "delayed free", "delayed frees") + ".";
    finding.explanation
        = "A block that another stream may still read is reusable only once that stream has passed; "
          "the recording does not name the stream. ";
    finding.explanation += site.name.empty() ? "" : "The largest share was allocated at " + site.name + ".";
    addFixes(input, finding);
    output.findings.push_back(std::move(finding));
}

} // namespace

extern const Rule pendingFreesRule;
const Rule pendingFreesRule{"pending-frees", "", "Freed memory that waits for another stream.", run};

} // namespace tidemark
