// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/ladder.hpp"
#include "model/playbook/estimator.hpp"

#include <algorithm>
#include <limits>

namespace tidemark {

namespace {

constexpr const char* id = "estimate-exceeds-device";

const char* largestPart(const StageEstimate& s)
{
    const std::pair<std::int64_t, const char*> parts[] = {{s.weights, "weights"}, {s.gradients, "gradients"},
        {s.optimizer, "optimizer state"}, {s.activations, "activations"}, {s.output, "logits"}};
    return std::max_element(std::begin(parts), std::end(parts))->second;
}

std::string joined(const std::vector<std::string>& texts, const char* separator)
{
    std::string all;
    for (const std::string& each : texts)
        all += (all.empty() ? "" : separator) + each;
    return all;
}

std::string parallelismText(bool pipeline)
{
    return "Spread the model over more " + std::string(pipeline ? "pipeline, context" : "context")
        + " or expert ranks; tensor parallelism last.";
}

std::vector<Fix> estimateFixes(const RuleInput& input)
{
    std::vector<Fix> fixes;
    const auto add = [&fixes](const char* name, std::string text, std::string barred = {}) {
        Fix fix;
        fix.id = name;
        fix.text = std::move(text);
        fix.blockedBy = std::move(barred);
        fix.source = "Megatron Bridge 067f987d, skill nemo-mbridge-perf-memory-tuning";
        fixes.push_back(std::move(fix));
    };
    const bool megatron = runsMegatron(input);
    add("distributed-optimizer",
        megatron ? "Set use_distributed_optimizer=true: 18 bytes a parameter become 6 + 12 / ranks."
                 : "Shard parameters, gradients and optimizer state (torch.distributed.fsdp.fully_shard).",
        rungBarred(input.config, Rung::DistributedOptimizer));
    add("recompute", recomputeAdvice(input) + ".", rungBarred(input.config, Rung::Recompute));
    add("parallelism", parallelismText(rungBarred(input.config, Rung::PipelineParallel).empty()));
    return fixes;
}

Finding exceeds(const RuleInput& input, const MemoryEstimate& estimate, std::uint64_t device)
{
    const StageEstimate& stage = estimate.fullest();
    Finding finding = makeFinding(input, id, Severity::Warning);
    finding.playbook = "D3";
    finding.grade = Grade::B;
    finding.bytes = static_cast<std::uint64_t>(stage.total()) - device;
    finding.title = "By its settings the run needs " + formatBytes(stage.total()) + " on pipeline stage "
        + std::to_string(stage.stage) + ", " + formatBytes(static_cast<std::int64_t>(finding.bytes))
        + " more than the card has";
    finding.explanation = "The largest part is " + std::string(largestPart(stage))
        + ". The estimate leaves out the allocator, workspaces and communication. "
        + joined(estimate.assumptions, " ");
    finding.evidence = {{"estimate", stage.total()}, {"device_total", static_cast<std::int64_t>(device)},
        {"weights", stage.weights}, {"gradients", stage.gradients}, {"optimizer", stage.optimizer},
        {"activations", stage.activations}, {"output", stage.output},
        {"activations_per_layer", estimate.activationsPerLayer}, {"in_flight", stage.inFlight},
        {"stage", std::int64_t{stage.stage}}, {"parameters", stage.parameters}};
    finding.fixes = estimateFixes(input);
    return finding;
}

void run(const RuleInput& input, RuleOutput& output, const Job&)
{
    if (input.replay.device().ordinal < 0)
        return;
    const auto& settings = input.config.values();
    const auto first = settings.lower_bound("model.");
    if (first == settings.end() || !first->first.starts_with("model.")) {
        output.undecided.push_back({id, "the run's settings (run_config.yaml)"});
        return;
    }
    const EstimateResult result = estimateMemory(input.config);
    std::vector<std::string> missing = result.missing;
    const auto device = input.deviceTotal ? input.deviceTotal : deviceBytes(input.config);
    if (!device)
        missing.emplace_back("hardware.device_total_bytes");
    if (!missing.empty() || !result.estimate) {
        output.undecided.push_back({id, joined(missing, ", ")});
        return;
    }
    const StageEstimate& stage = result.estimate->fullest();
    const auto limit = static_cast<std::int64_t>(
        std::min<std::uint64_t>(*device, std::numeric_limits<std::int64_t>::max()));
    if (stage.total() <= limit)
        return;
    if (stage.states() <= limit && result.estimate->activationsAreUpperBound) {
        output.undecided.push_back(
            {id, "how much recompute, offloading or the frozen base take from the activations"});
        return;
    }
    output.findings.push_back(exceeds(input, *result.estimate, *device));
}

} // namespace

extern const Rule estimateExceedsDeviceRule;
const Rule estimateExceedsDeviceRule
    = {id, "D3", "The estimator says the configuration cannot fit the card.", run, needs::nothing};

} // namespace tidemark
