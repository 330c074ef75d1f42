// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/rule_tools.hpp"

#include "model/core/counted.hpp"
#include "model/core/units.hpp"
#include "model/findings/setting_bar.hpp"

#include <array>

namespace tidemark {

std::string sizeText(std::int64_t bytes)
{
    return formatBytes(bytes);
}

std::string sizeText(std::uint64_t bytes)
{
    return formatBytes(static_cast<std::int64_t>(bytes));
}

std::string countText(std::uint64_t count, const char* one, const char* many)
{
    return counted(count, one, many);
}

void addEvidence(Finding& finding, const char* key, std::uint64_t value)
{
    finding.evidence.push_back({key, static_cast<std::int64_t>(value)});
}

void addEvidence(Finding& finding, const char* key, EvidenceValue value)
{
    finding.evidence.push_back({key, std::move(value)});
}

bool isGpu(const RuleInput& input)
{
    return input.replay.device().ordinal >= 0 && input.replay.snapshot->source.kind == SourceKind::Snapshot;
}

bool expandableOn(const RuleInput& input)
{
    const Snapshot& snapshot = *input.replay.snapshot;
    const std::optional<bool> configured = input.config.expandableSegments();
    return configured.value_or(false) || expandableInFile(snapshot, input.replay.device());
}

std::optional<MemoryLimit> memoryLimit(const RuleInput& input)
{
    std::optional<std::uint64_t> usable;
    for (const OomAutopsy& oom : input.ooms)
        usable = oom.usable() ? oom.usable() : usable;
    if (usable && *usable > 0)
        return MemoryLimit{*usable, true};
    if (input.deviceTotal && *input.deviceTotal > 0)
        return MemoryLimit{*input.deviceTotal, false};
    return std::nullopt;
}

std::string roleOfMost(const RuleInput& input, std::span<const AllocationId> ids)
{
    std::array<std::uint64_t, roles> bytes{};
    std::uint64_t all = 0;
    for (const AllocationId id : ids) {
        const std::uint64_t size = input.replay.timeline.allocations().size[index(id)];
        bytes[static_cast<std::size_t>(input.labels.role(id))] += size;
        all += size;
    }
    const auto most = std::max_element(bytes.begin(), bytes.end());
    if (*most == 0 || *most < all / 10 * 9)
        return {};
    switch (const auto role = static_cast<Role>(most - bytes.begin()); role) {
    case Role::Unknown:
    case Role::Predating:
    case Role::StepScoped:
    case Role::Leak:
        return {};
    case Role::OptimizerState:
        return roleName(role);
    default:
        return roleName(role) + std::string("s");
    }
}

Fix expandableFix(const RuleInput& input, std::string whatItDoes)
{
    Fix fix = makeFix("expandable-segments",
        "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True: " + std::move(whatItDoes) + ".", Grade::B,
        "playbook step S1; PyTorch's CUDA caching allocator");
    if (input.config.text("model.cuda_graph_impl") == "transformer_engine"
        && input.config.text("env.NCCL_GRAPH_REGISTER") != "0")
        fix.text += " CUDA graphs of Transformer Engine need NCCL_GRAPH_REGISTER=0 with it.";
    fix.cost = "none measured: 704 against 704 TFLOP/s per GPU on Llama3-70B SFT, 32 H100; yours may differ";
    fix.costGrade = Grade::C;
    fix.blockedBy = expandableBarred(input.config);
    fix.setting = "expandable_segments:True";
    return fix;
}

Fix makeFix(const char* id, std::string text, Grade grade, std::string source)
{
    Fix fix;
    fix.id = id;
    fix.text = std::move(text);
    fix.grade = grade;
    fix.source = std::move(source);
    return fix;
}

Finding oomFinding(const RuleInput& input, const char* rule, const OomAutopsy& oom, std::uint64_t bytes)
{
    Finding finding = makeFinding(input, rule, Severity::Critical);
    finding.bytes = bytes;
    finding.eventRange = std::pair(oom.event, oom.event);
    finding.lookAt = oom.state;
    addEvidence(finding, "verdict", std::string(verdictCode(oom.verdict)));
    addEvidence(finding, "request", oom.request.value_or(0));
    addEvidence(finding, "device_free", oom.deviceFree.value_or(0));
    addEvidence(finding, "reserved", EvidenceValue(oom.reserved));
    addEvidence(finding, "allocated", EvidenceValue(oom.allocated));
    addEvidence(finding, "pending", EvidenceValue(oom.waiting));
    if (oom.slack)
        addEvidence(finding, "slack", EvidenceValue(*oom.slack));
    addEvidence(finding, "growth_unit", oom.growth);
    addEvidence(finding, "pinned_free", oom.pinned);
    addEvidence(finding, "holes", oom.holes);
    addEvidence(finding, "largest_hole", oom.largestHole);
    addEvidence(finding, "unusable_index", EvidenceValue(oom.unusable));
    addEvidence(finding, "inactive_ratio", EvidenceValue(oom.inactiveRatio));
    addEvidence(finding, "external_fragmentation", EvidenceValue(oom.externalFragmentation));
    addEvidence(finding, "allocated_peak", EvidenceValue(traceMetrics(input.replay).allocatedPeak));
    return finding;
}

std::string requestText(const OomAutopsy& oom)
{
    return "the request of " + sizeText(oom.request.value_or(0)) + " at event "
        + formatCount(static_cast<std::int64_t>(index(oom.event)));
}

std::vector<Step> stepsOf(const RuleInput& input)
{
    std::vector<Step> steps;
    for (const Step& step : input.phases.steps)
        if (step.complete)
            steps.push_back(step);
    if (!input.phases.steps.empty())
        return steps;
    for (const Mark& mark : input.marks)
        if (mark.step && !mark.open)
            steps.push_back({mark.name, mark.first, mark.last, true});
    return steps;
}

} // namespace tidemark
