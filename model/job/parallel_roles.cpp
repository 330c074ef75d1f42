// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/job/parallel_roles.hpp"

#include <algorithm>
#include <charconv>
#include <map>

namespace tidemark {

namespace {

constexpr std::int64_t maxSize = 1 << 20;
/// Share of call sites and sizes that ranks of one group have in common.
constexpr double alike = 0.8;
constexpr double sameSetUp = 0.01;
constexpr double sameCount = 0.02;

bool near(std::uint64_t a, std::uint64_t b, double share)
{
    const auto most = static_cast<double>(std::max(a, b));
    return most - static_cast<double>(std::min(a, b)) <= share * most;
}

/// A size that settings state; null means 1.
std::optional<std::int64_t> sizeOf(const RunConfig& config, const char* key)
{
    const ConfigValue* value = config.find(key);
    if (value == nullptr)
        return std::nullopt;
    if (std::holds_alternative<std::monostate>(*value))
        return 1;
    const auto number = config.number(key);
    return number && *number >= 1 && *number <= maxSize ? number : std::nullopt;
}

std::optional<std::int64_t> worldOf(const RunConfig& config, std::optional<int> worldSize)
{
    if (const auto stated = sizeOf(config, "hardware.world_size"))
        return stated;
    if (const auto text = config.environment("WORLD_SIZE"); text && !text->empty()) {
        std::int64_t value = 0;
        std::from_chars(text->data(), text->data() + text->size(), value);
        if (value >= 1 && value <= maxSize)
            return value;
    }
    return worldSize ? std::optional<std::int64_t>(*worldSize) : std::nullopt;
}

/// Jaccard's index of two sketches of lowest hashes: of the lowest ones of both together, how many both have.
double likeness(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b)
{
    if (a.empty() && b.empty())
        return 1;
    std::vector<std::uint32_t> all;
    std::ranges::set_union(a, b, std::back_inserter(all));
    all.resize(std::min(all.size(), RankSummary::maxShape));
    std::size_t both = 0;
    for (const std::uint32_t each : all)
        both += std::ranges::binary_search(a, each) && std::ranges::binary_search(b, each) ? 1 : 0;
    return static_cast<double>(both) / static_cast<double>(all.size());
}

/// Of a run cut short, nearly all that it did must be in the whole one.
double containment(const std::vector<std::uint32_t>& cut, const std::vector<std::uint32_t>& whole)
{
    // Both keep the lowest hashes: beyond the other's highest nothing can be compared.
    const std::uint32_t limit = whole.size() < RankSummary::maxShape ? 0xffffffffU : whole.back();
    std::size_t looked = 0;
    std::size_t both = 0;
    for (const std::uint32_t each : cut)
        if (each <= limit) {
            ++looked;
            both += std::ranges::binary_search(whole, each) ? 1 : 0;
        }
    return looked == 0 ? 1 : static_cast<double>(both) / static_cast<double>(looked);
}

bool sameWork(const RankSummary& a, const RankSummary& b)
{
    if (!near(a.setUpBytes, b.setUpBytes, sameSetUp))
        return false;
    if (a.oom.has_value() == b.oom.has_value())
        return near(a.allocations, b.allocations, sameCount) && a.mostInFlight == b.mostInFlight
            && likeness(a.shape, b.shape) >= alike;
    const RankSummary& cut = a.oom ? a : b;
    const RankSummary& whole = a.oom ? b : a;
    return cut.mostInFlight <= whole.mostInFlight && containment(cut.shape, whole.shape) >= alike;
}

std::string letters(std::size_t number)
{
    std::string out;
    do {
        out.insert(out.begin(), static_cast<char>('A' + number % 26));
        number /= 26;
    } while (number-- > 0);
    return out;
}

void groupBySettings(RoleMap& map, std::span<const RankSummary> ranks)
{
    map.source = RoleSource::Settings;
    map.sentence
        = "Roles follow from the parallel sizes in the settings, in Megatron's order tp-cp-ep-dp-pp.";
    std::map<int, std::vector<std::size_t>> stages;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        map.roles.push_back(ranks[i].rank ? roleOfRank(*ranks[i].rank, *map.sizes) : ParallelRole{});
        stages[map.roles[i].pipeline.value_or(-1)].push_back(i);
    }
    for (auto& [stage, members] : stages) {
        RoleGroup group;
        group.label = stage < 0 ? "without a rank" : "stage " + std::to_string(stage);
        if (stage >= 0)
            group.stage = stage;
        for (const std::size_t i : members)
            map.roles[i].group = map.groups.size();
        group.members = std::move(members);
        map.groups.push_back(std::move(group));
    }
}

void groupByShape(RoleMap& map, std::span<const RankSummary> ranks)
{
    map.roles.resize(ranks.size());
    // Ranks that ran to their end come first: those cut short are compared with them.
    std::vector<std::size_t> order;
    for (const bool cut : {false, true})
        for (std::size_t i = 0; i < ranks.size(); ++i)
            if (ranks[i].oom.has_value() == cut)
                order.push_back(i);
    std::vector<std::vector<std::size_t>> groups;
    for (const std::size_t i : order) {
        const auto home = std::ranges::find_if(
            groups, [&](const auto& members) { return sameWork(ranks[members.front()], ranks[i]); });
        if (home == groups.end())
            groups.push_back({i});
        else
            home->push_back(i);
    }
    for (auto& members : groups)
        std::ranges::sort(members);
    std::ranges::sort(groups, {}, [](const auto& members) { return members.front(); });
    // As many groups as ranks tell nothing.
    if (groups.size() == ranks.size() && ranks.size() > 1) {
        groups.assign(1, {});
        for (std::size_t i = 0; i < ranks.size(); ++i)
            groups.front().push_back(i);
    }
    map.source = groups.size() > 1 ? RoleSource::Shapes : RoleSource::None;
    map.sentence = groups.size() > 1
        ? "Roles are inferred: ranks that make allocations of the same sizes at the same places form a group."
        : "Nothing tells the ranks' roles: all are compared with each other.";
    for (std::size_t g = 0; g < groups.size(); ++g) {
        RoleGroup group;
        group.label = groups.size() > 1 ? "group " + letters(g) : std::string();
        for (const std::size_t i : groups[g]) {
            map.roles[i].group = g;
            map.roles[i].label = group.label;
        }
        group.members = std::move(groups[g]);
        map.groups.push_back(std::move(group));
    }
}

} // namespace

std::optional<ParallelSizes> parallelSizes(const RunConfig& config, std::optional<int> worldSize)
{
    const auto tensor = sizeOf(config, "model.tensor_model_parallel_size");
    const auto pipeline = sizeOf(config, "model.pipeline_model_parallel_size");
    const auto world = worldOf(config, worldSize);
    if (!tensor || !pipeline || !world)
        return std::nullopt;
    ParallelSizes sizes;
    sizes.tensor = *tensor;
    sizes.pipeline = *pipeline;
    sizes.context = sizeOf(config, "model.context_parallel_size").value_or(1);
    sizes.expert = sizeOf(config, "model.expert_model_parallel_size").value_or(1);
    sizes.expertTensor = config.number("model.expert_tensor_parallel_size")
        ? sizeOf(config, "model.expert_tensor_parallel_size").value_or(sizes.tensor)
        : sizes.tensor;
    sizes.chunks = sizeOf(config, "model.virtual_pipeline_model_parallel_size").value_or(1);
    sizes.pipelineInside = config.flag("dist.use_tp_pp_dp_mapping").value_or(false);
    const std::int64_t each = sizes.tensor * sizes.context * sizes.pipeline;
    if (each > maxSize || *world % each != 0)
        return std::nullopt;
    sizes.data = *world / each;
    const auto global = config.number("train.global_batch_size");
    const auto micro = config.number("train.micro_batch_size");
    if (global && micro && *global > 0 && *micro > 0 && *micro <= maxSize
        && *global % (*micro * sizes.data) == 0)
        sizes.microbatches = *global / (*micro * sizes.data);
    return sizes;
}

ParallelRole roleOfRank(int rank, const ParallelSizes& sizes)
{
    ParallelRole role;
    std::int64_t rest = rank;
    const auto next = [&rest](std::int64_t size) {
        const std::int64_t at = rest % size;
        rest /= size;
        return static_cast<int>(at);
    };
    role.tensor = next(sizes.tensor);
    role.context = next(sizes.context);
    if (sizes.pipelineInside)
        role.pipeline = next(sizes.pipeline);
    role.data = next(sizes.data);
    if (!sizes.pipelineInside)
        role.pipeline = next(sizes.pipeline);
    if (rest > 0)
        return {}; // no such rank in a run of this size
    if (sizes.expert > 1 && !sizes.pipelineInside)
        role.expert = static_cast<int>(rank / sizes.expertTensor % sizes.expert);
    role.label = "stage " + std::to_string(*role.pipeline);
    const auto add = [&role](const char* name, std::optional<int> at, std::int64_t size) {
        if (at && size > 1)
            role.detail += (role.detail.empty() ? "" : " · ") + std::string(name) + ' ' + std::to_string(*at);
    };
    add("tp", role.tensor, sizes.tensor);
    add("cp", role.context, sizes.context);
    add("pp", role.pipeline, sizes.pipeline);
    add("dp", role.data, sizes.data);
    add("ep", role.expert, sizes.expert);
    return role;
}

RoleMap rolesOf(std::span<const RankSummary> ranks, const RunConfig& config, std::optional<int> worldSize)
{
    RoleMap map;
    map.sizes = parallelSizes(config, worldSize);
    if (map.sizes)
        groupBySettings(map, ranks);
    else
        groupByShape(map, ranks);
    return map;
}

} // namespace tidemark
