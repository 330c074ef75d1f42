// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/rule_tools.hpp"

namespace tidemark {

namespace {

/// Context, NCCL and libraries of one process rarely hold more.
constexpr std::int64_t unusual = 3LL << 30;

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
        // Where they are the cause of the failure, any amount is one.
        const bool cause = oom.verdict == Verdict::OutsideAllocator;
        if (bytes && *bytes > 0 && (*bytes > most || (cause && worst == nullptr))) {
            most = *bytes;
            worst = &oom;
        }
    }
    if (worst == nullptr)
        return;
    const bool cause = worst->verdict == Verdict::OutsideAllocator;
    Finding finding = makeFinding(input, "outside-allocator", cause ? Severity::Critical : Severity::Warning);
    finding.bytes = static_cast<std::uint64_t>(most);
    finding.eventRange = std::pair(worst->event, worst->event);
    finding.lookAt = worst->state;
    addEvidence(finding, "device_total", *input.deviceTotal);
    addEvidence(finding, "device_free", *worst->deviceFree);
    addEvidence(finding, "reserved", EvidenceValue(worst->reserved));
    addEvidence(finding, "outside", EvidenceValue(most));
    finding.title = cause ? "Out of memory: " + requestText(*worst) + " failed because " + sizeText(most)
            + " of the card are held outside PyTorch's allocator."
                          : sizeText(most) + " of the card are held outside PyTorch's allocator.";
    finding.explanation = "Of " + sizeText(*input.deviceTotal) + " the allocator had reserved "
        + sizeText(worst->reserved) + " and " + sizeText(*worst->deviceFree)
        + " were free when the request failed; the rest belongs to other processes, NCCL, cuBLAS or the CUDA "
          "context, "
          "or lies above a limit set for this process.";
    finding.fixes.push_back(makeFix("free-the-card",
        "Look at nvidia-smi for other processes on this card; ranks that open a context on card 0 need "
        "torch.cuda.set_device before their first CUDA call.",
        Grade::D));
    finding.fixes.push_back(makeFix("nccl-nvls-off", "Set NCCL_NVLS_ENABLE=0 to lower NCCL's own buffers.",
        Grade::D, "Megatron Bridge's performance guide"));
    output.findings.push_back(std::move(finding));
}

} // namespace

extern const Rule outsideAllocatorRule;
const Rule outsideAllocatorRule{"outside-allocator", "", "Memory of the card that others hold.", run};

} // namespace tidemark
