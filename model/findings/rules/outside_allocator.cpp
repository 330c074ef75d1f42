// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/rule_tools.hpp"

namespace tidemark {

namespace {

/// Context, NCCL and libraries of one process rarely hold more.
constexpr std::int64_t unusual = 3LL << 30;

Finding report(const RuleInput& input, const OomAutopsy& oom, std::int64_t bytes)
{
    const bool cause = oom.verdict == Verdict::OutsideAllocator;
    Finding finding = makeFinding(input, "outside-allocator", cause ? Severity::Critical : Severity::Warning);
    finding.bytes = static_cast<std::uint64_t>(bytes);
    finding.eventRange = std::pair(oom.event, oom.event);
    finding.lookAt = oom.state;
    addEvidence(finding, "device_total", *input.deviceTotal);
    addEvidence(finding, "device_free", *oom.deviceFree);
    addEvidence(finding, "reserved", EvidenceValue(oom.reserved));
    addEvidence(finding, "outside", EvidenceValue(bytes));
    finding.title = cause ? "Out of memory: " + requestText(oom) + " failed because " + sizeText(bytes)
            + " of the card are held outside PyTorch's allocator."
                          : sizeText(bytes) + " of the card are held outside PyTorch's allocator.";
    finding.explanation = "Of " + sizeText(*input.deviceTotal) + " the allocator had reserved "
        + sizeText(oom.reserved) + " and " + sizeText(*oom.deviceFree)
        + " were free when the request failed; the rest belongs to other processes, NCCL, cuBLAS or the CUDA "
          "context, "
          "or lies above a limit set for this process.";
    finding.fixes.push_back(makeFix("free-the-card",
        "Look at nvidia-smi for other processes on this card; ranks that open a context on card 0 need "
        "torch.cuda.set_device before their first CUDA call.",
        Grade::D));
    finding.fixes.push_back(makeFix("nccl-nvls-off", "Set NCCL_NVLS_ENABLE=0 to lower NCCL's own buffers.",
        Grade::D, "Megatron Bridge's performance guide"));
    return finding;
}

/// One finding for every failure that others caused; of the rest, the one with most bytes outside.
void run(const RuleInput& input, RuleOutput& output, const Job&)
{
    if (!isGpu(input))
        return;
    if (input.ooms.empty() || !input.deviceTotal) {
        output.undecided.push_back({"outside-allocator",
            input.ooms.empty()
                ? "an out-of-memory event: only there a recording tells what others hold on the card"
                : "the size of the card (hardware.device_total_bytes among the run's settings, or typed)"});
        return;
    }
    const OomAutopsy* worst = nullptr;
    std::int64_t most = unusual;
    for (const OomAutopsy& oom : input.ooms) {
        const auto bytes = nonPyTorchBytes(oom, input.deviceTotal);
        if (!bytes || *bytes <= 0)
            continue;
        // Where they are the cause of the failure, any amount is one.
        if (oom.verdict == Verdict::OutsideAllocator) {
            output.findings.push_back(report(input, oom, *bytes));
        } else if (*bytes > most) {
            most = *bytes;
            worst = &oom;
        }
    }
    if (worst != nullptr)
        output.findings.push_back(report(input, *worst, most));
}

} // namespace

extern const Rule outsideAllocatorRule;
const Rule outsideAllocatorRule{
    "outside-allocator", "", "Memory of the card that others hold.", run, needs::history | needs::verdict};

} // namespace tidemark
