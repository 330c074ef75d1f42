// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/text.hpp"
#include "model/findings/diagnosis.hpp"
#include "model/findings/finding_json.hpp"

#include <nlohmann/json.hpp>

namespace tidemark {

namespace {

using Json = nlohmann::ordered_json;

template <typename Value>
Json orNull(const std::optional<Value>& value)
{
    return value ? Json(*value) : Json(nullptr);
}

Json orNull(const std::string& text)
{
    return text.empty() ? Json(nullptr) : Json(displayText(text));
}

std::string gradeText(Grade grade)
{
    return std::string(1, static_cast<char>(grade));
}

Json evidenceJson(const EvidenceValue& value)
{
    struct Visitor {
        Json operator()(std::monostate) const { return nullptr; }
        Json operator()(bool v) const { return v; }
        Json operator()(std::int64_t v) const { return v; }
        Json operator()(double v) const { return v; }
        Json operator()(const std::string& v) const { return displayText(v); }
        Json operator()(const std::vector<std::int64_t>& v) const { return v; }
        Json operator()(const std::vector<std::string>& v) const
        {
            Json list = Json::array();
            for (const std::string& each : v)
                list.push_back(displayText(each));
            return list;
        }
    };
    return std::visit(Visitor{}, value);
}

Json fixJson(const Fix& fix)
{
    return {{"id", fix.id}, {"text", displayText(fix.text)}, {"removed_at_peak", orNull(fix.removedAtPeak)},
        {"new_peak", orNull(fix.newPeak)},
        {"new_peak_event", fix.newPeakState ? Json(momentOf(*fix.newPeakState)) : Json(nullptr)},
        {"new_peak_owner", orNull(fix.newPeakOwner)}, {"grade", gradeText(fix.grade)},
        {"cost", orNull(fix.cost)},
        {"cost_grade", fix.costGrade ? Json(gradeText(*fix.costGrade)) : Json(nullptr)},
        {"source", orNull(fix.source)}, {"blocked_by", orNull(fix.blockedBy)}};
}

Json checksJson(const std::vector<ConfigCheck>& checks)
{
    Json list = Json::array();
    for (const ConfigCheck& check : checks) {
        Json keys = Json::object();
        for (const auto& [key, value] : check.keys)
            keys[displayText(key)] = displayText(value);
        list.push_back({{"id", check.id}, {"level", checkLevelName(check.level)}, {"keys", std::move(keys)},
            {"text", displayText(check.text)}, {"source", displayText(check.source)}});
    }
    return list;
}

Json expectationJson(const std::optional<Expectation>& expectation)
{
    if (!expectation)
        return nullptr;
    Json classes = Json::array();
    for (const ExpectedClass& each : expectation->classes)
        classes.push_back(
            {{"name", each.name}, {"low", each.low}, {"high", each.high}, {"measured", each.measured}});
    return {{"device", expectation->device}, {"peak_event", momentOf(expectation->peak)},
        {"classes", std::move(classes)}, {"other_measured", expectation->otherMeasured},
        {"live", expectation->live}, {"activations_upper_bound", expectation->activationsAreUpperBound},
        {"assumptions", expectation->assumptions}};
}

} // namespace

nlohmann::ordered_json findingJson(const Finding& finding)
{
    Json json{{"rule", finding.rule}, {"severity", severityName(finding.severity)},
        {"rank", orNull(finding.rank)}, {"device", finding.device}, {"bytes", finding.bytes},
        {"grade", gradeText(finding.grade)}, {"event_range", nullptr}, {"allocations", finding.count},
        {"site", orNull(finding.site)}, {"playbook", orNull(finding.playbook)},
        {"title", displayText(finding.title)}, {"explanation", displayText(finding.explanation)},
        {"evidence", Json::object()}, {"fixes", Json::array()}};
    if (finding.eventRange)
        json["event_range"] = {finding.eventsInFile().first, finding.eventsInFile().second};
    for (const Evidence& each : finding.evidence)
        json["evidence"][each.key] = evidenceJson(each.value);
    for (const Fix& fix : finding.fixes)
        json["fixes"].push_back(fixJson(fix));
    return json;
}

nlohmann::ordered_json noteJson(const QualityNote& note)
{
    return {{"id", qualityName(note.id)}, {"device", orNull(note.device)}, {"count", note.count},
        {"sentence", displayText(note.sentence)}, {"first_event", orNull(note.firstEvent)}};
}

nlohmann::ordered_json undecidedJson(const std::vector<Undecided>& undecided)
{
    Json list = Json::array();
    for (const Undecided& each : undecided)
        list.push_back({{"rule", each.rule}, {"needs", displayText(each.needs)}});
    return list;
}

std::string dumpedJson(const nlohmann::ordered_json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Diagnosis::json(std::string_view file) const
{
    Json json = Json::object();
    if (!file.empty())
        json["file"] = displayText(file);
    json["findings"] = Json::array();
    for (const Finding& finding : findings)
        json["findings"].push_back(findingJson(finding));
    json["data_quality"] = Json::array();
    for (const QualityNote& note : rank->quality())
        json["data_quality"].push_back(noteJson(note));
    json["config"] = checksJson(checks);
    json["undecided"] = undecidedJson(undecided);
    json["clear"] = clear;
    json["estimate"] = expectationJson(expectation);
    return dumpedJson(json);
}

std::string configJson(const std::vector<ConfigCheck>& checks)
{
    return dumpedJson(
        {{"findings", Json::array()}, {"data_quality", Json::array()}, {"config", checksJson(checks)}});
}

} // namespace tidemark
