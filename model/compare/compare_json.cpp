// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/comparison.hpp"
#include "model/compare/several.hpp"
#include "model/core/text.hpp"

#include <nlohmann/json.hpp>

namespace tidemark::compare {

namespace {

using Json = nlohmann::ordered_json;

template <typename Value>
Json orNull(const std::optional<Value>& value)
{
    return value ? Json(*value) : Json(nullptr);
}

Json textOrNull(const std::optional<std::string>& text)
{
    return text ? Json(displayText(*text)) : Json(nullptr);
}

std::string dumped(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json pairJson(const PeakPair& pair)
{
    return {{"a", pair.a}, {"b", pair.b}, {"delta", pair.delta()}};
}

Json pairJson(const std::optional<PeakPair>& pair)
{
    return pair ? pairJson(*pair) : Json(nullptr);
}

Json sideJson(const Side& side)
{
    const StateIndex peak = side.peakState();
    Json json{{"file", displayText(side.rank->snapshot->source.path)}, {"label", displayText(side.name())},
        {"device", side.replay().device().ordinal}, {"events", side.replay().states() - 1},
        {"steps", side.phases ? side.phases->steps.size() : 0}, {"peak", side.peak()},
        {"peak_event", momentOf(peak) + side.replay().device().firstEventInFile}, {"peak_phase", nullptr},
        {"peak_step", nullptr}, {"reserved_peak", orNull(side.reservedPeak())}};
    if (!side.phases)
        return json;
    if (const Phase phase = side.phases->phaseAt(peak); phase != Phase::Unknown)
        json["peak_phase"] = phaseName(phase);
    if (const Step* step = side.phases->stepAt(peak))
        json["peak_step"] = displayText(step->name);
    return json;
}

Json groupJson(const Comparison& comparison, const Row& row)
{
    const CommonGroup& group = comparison.matching->groups[row.group];
    Json json{{"key", group.name}, {"a", row.bytesA}, {"b", row.bytesB}, {"delta", row.delta},
        {"allocations_a", row.allocationsA}, {"allocations_b", row.allocationsB},
        {"status", statusName(row.status)}, {"matched", matchKindName(group.kind)}};
    if (group.groupA != CommonGroup::none && group.groupB != CommonGroup::none)
        if (const std::string& other = comparison.matching->groupingB->name(group.groupB);
            other != group.name)
            json["key_b"] = other;
    if (comparison.table.oneRun) {
        json["survived"] = row.bytesSurvived;
        json["allocations_survived"] = row.allocationsSurvived;
    }
    return json;
}

void addRows(Json& json, const Comparison& comparison, std::size_t top)
{
    json["sites"] = Json::array();
    std::size_t listed = 0;
    std::size_t others = 0;
    Row rest;
    for (const Row& row : comparison.table.rows) {
        if (listed < top) {
            ++listed;
            json["sites"].push_back(groupJson(comparison, row));
            continue;
        }
        ++others;
        rest.bytesA += row.bytesA;
        rest.bytesB += row.bytesB;
        rest.delta += row.delta;
        rest.allocationsA += row.allocationsA;
        rest.allocationsB += row.allocationsB;
    }
    json["other"] = {{"sites", others}, {"a", rest.bytesA}, {"b", rest.bytesB}, {"delta", rest.delta},
        {"allocations_a", rest.allocationsA}, {"allocations_b", rest.allocationsB}};
}

Json settingJson(const std::vector<SettingChange>& settings)
{
    Json list = Json::array();
    for (const SettingChange& each : settings)
        list.push_back(
            {{"key", displayText(each.key)}, {"a", textOrNull(each.a)}, {"b", textOrNull(each.b)}});
    return list;
}

Json findingsJson(const std::vector<FindingChange>& findings)
{
    Json json{{"new", Json::array()}, {"gone", Json::array()}, {"both", Json::array()}};
    for (const FindingChange& each : findings)
        json[!each.inA      ? "new"
                : !each.inB ? "gone"
                            : "both"]
            .push_back({{"rule", each.rule}, {"severity", severityName(each.severity)},
                {"title", displayText(each.title)}, {"a", each.inA ? Json(each.bytesA) : Json(nullptr)},
                {"b", each.inB ? Json(each.bytesB) : Json(nullptr)}, {"delta", each.delta()}});
    return json;
}

Json verdictsJson(const std::vector<Verdict>& verdicts)
{
    Json list = Json::array();
    for (const Verdict& verdict : verdicts) {
        Json parts = Json::array();
        for (const VerdictPart& part : verdict.parts)
            parts.push_back({{"text", displayText(part.text)}, {"bytes", part.bytes}});
        list.push_back({{"kind", verdictName(verdict.kind)}, {"severity", severityName(verdict.severity)},
            {"title", displayText(verdict.title)}, {"detail", displayText(verdict.detail)},
            {"sum", verdict.parts.empty() ? Json(nullptr) : Json(verdict.sum)}, {"parts", std::move(parts)}});
    }
    return list;
}

Json shareJson(const MatchedShare& share)
{
    Json json{{"bytes", share.total}, {"without-stack", share.withoutSite}};
    for (std::size_t i = 0; i < matchKinds; ++i)
        if (const auto kind = static_cast<MatchKind>(i); kind <= MatchKind::BySize || share.bytes[i] > 0)
            json[matchKindName(kind)] = share.bytes[i];
    return json;
}

Json alignmentJson(const Alignment& alignment)
{
    Json unmatched = Json::array();
    for (const Unmatched& each : alignment.unmatched())
        unmatched.push_back({{"side", each.side == Which::A ? "a" : "b"}, {"count", each.count},
            {"reason", displayText(each.reason)}});
    return {{"automatic", alignment.automatic()}, {"explanation", displayText(alignment.explanation())},
        {"pairs", alignment.pairs()}, {"unmatched", std::move(unmatched)}};
}

} // namespace

std::string compareJson(const Comparison& comparison, std::optional<std::size_t> top)
{
    const Table& table = comparison.table;
    Json json{{"a", sideJson(comparison.a)}, {"b", sideJson(comparison.b)},
        {"aligned_by", alignName(comparison.alignment.by())}, {"peak", pairJson(comparison.peak)},
        {"reserved_peak", pairJson(comparison.reservedPeak)},
        {"compared",
            {{"event_a", momentOf(table.scopeA.first) + comparison.a.replay().device().firstEventInFile},
                {"event_b", momentOf(table.scopeB.first) + comparison.b.replay().device().firstEventInFile},
                {"a", table.bytesA}, {"b", table.bytesB}, {"delta", table.delta}}},
        {"grouped_by", groupingName(comparison.matching->by)}};
    addRows(json, comparison, top.value_or(table.rows.size()));
    json["settings"] = settingJson(comparison.settings.differing);
    json["settings_equal"] = settingJson(comparison.settings.equal);
    json["findings"] = findingsJson(comparison.findings);
    json["verdicts"] = verdictsJson(comparison.verdicts);
    json["matched"] = {{"a", shareJson(table.matchedA)}, {"b", shareJson(table.matchedB)}};
    json["alignment"] = alignmentJson(comparison.alignment);
    json["notes"] = Json::array();
    for (const std::string& note : comparison.notes)
        json["notes"].push_back(displayText(note));
    return dumped(json);
}

std::string FolderComparison::json(std::span<const std::string> pairs) const
{
    Json json{{"ranks", Json::array()}, {"only_a", Json::array()}, {"only_b", Json::array()}};
    for (const RankLine& line : lines)
        json["ranks"].push_back({{"label", displayText(line.label)}, {"peak", pairJson(line.peak)},
            {"reserved_peak", pairJson(line.reservedPeak)}, {"verdict", displayText(line.verdict)}});
    for (const std::string& name : onlyA)
        json["only_a"].push_back(displayText(name));
    for (const std::string& name : onlyB)
        json["only_b"].push_back(displayText(name));
    json["largest"] = orNull(largest());
    json["peak"] = pairJson(highest());
    json["pairs"] = Json::array();
    for (const std::string& pair : pairs)
        json["pairs"].push_back(Json::parse(pair));
    return dumped(json);
}

} // namespace tidemark::compare
