// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/text.hpp"
#include "model/findings/finding_json.hpp"
#include "model/job/run_diagnosis.hpp"

namespace tidemark {

namespace {

using Json = nlohmann::ordered_json;

template <typename Value>
Json orNull(const std::optional<Value>& value)
{
    return value ? Json(*value) : Json(nullptr);
}

Json pointJson(const PeakPoint& point)
{
    return {{"bytes", point.bytes}, {"event", momentOf(point.state)}, {"time_us", orNull(point.timeUs)}};
}

Json rankJson(const RankSummary& rank, const RankStanding& standing, const ParallelRole& role)
{
    Json json{{"rank", orNull(rank.rank)}, {"file", displayText(rank.file.string())},
        {"digest", rank.fromDigest}, {"step", orNull(rank.step)}, {"device", orNull(rank.device)},
        {"role", displayText(role.label)}, {"events", rank.events}, {"live_peak", pointJson(rank.live)},
        {"allocated_peak", pointJson(rank.allocated)},
        {"reserved_peak", rank.reserved ? pointJson(*rank.reserved) : Json(nullptr)},
        {"capacity", orNull(standing.capacity)}, {"capacity_from", standing.capacityFrom},
        {"headroom", orNull(standing.headroom)}, {"gap_at_peak", orNull(rank.gapAtPeak)},
        {"out_of_memory", rank.oom.has_value()}, {"outlier", standing.outlier},
        {"reason", displayText(standing.reason)}};
    Json labels = Json::array();
    for (const auto& [label, bytes] : rank.byLabel())
        labels.push_back({{"label", displayText(label)}, {"bytes", bytes}});
    json["labels_at_peak"] = std::move(labels);
    return json;
}

} // namespace

std::string summaryJson(const RankSummary& summary)
{
    Json json{{"file", displayText(summary.file.string())}, {"digest", true}, {"findings", Json::array()},
        {"data_quality", Json::array()}, {"config", Json::array()},
        {"undecided", undecidedJson(summary.undecided)}};
    for (const Finding& finding : summary.findings)
        json["findings"].push_back(findingJson(finding));
    for (const QualityNote& note : summary.quality)
        json["data_quality"].push_back(noteJson(note));
    return dumpedJson(json);
}

std::string RunDiagnosis::json(std::span<const RankSummary> summaries, std::string_view folder) const
{
    Json json = Json::object();
    if (!folder.empty())
        json["file"] = displayText(folder);
    json["ranks"] = Json::array();
    for (std::size_t i = 0; i < summaries.size(); ++i)
        json["ranks"].push_back(rankJson(summaries[i], ranks[i], roles.roles[i]));
    json["roles"] = roles.sentence;
    json["findings"] = Json::array();
    for (const Finding& finding : findings)
        json["findings"].push_back(findingJson(finding));
    json["data_quality"] = Json::array();
    for (const QualityNote& note : quality)
        json["data_quality"].push_back(noteJson(note));
    json["config"] = Json::array();
    json["undecided"] = undecidedJson(undecided);
    json["clear"] = clear;
    return dumpedJson(json);
}

} // namespace tidemark
