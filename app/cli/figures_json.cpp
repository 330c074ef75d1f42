// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/figures_json.hpp"

#include "model/core/text.hpp"
#include "model/snapshot/outside_range.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tidemark {

namespace {

using Json = nlohmann::ordered_json;

template <typename Value>
Json orNull(const std::optional<Value>& value)
{
    return value ? Json(*value) : Json(nullptr);
}

Json curveJson(const CurveFigures& curve)
{
    return {{"at_start", curve.atStart}, {"at_end", curve.atEnd}, {"peak", curve.peak},
        {"peak_event", curve.peakMoment}};
}

Json segmentsJson(const SegmentFigures& s)
{
    return {{"count", s.count}, {"reserved", s.reserved}, {"allocated", s.allocated}, {"pending", s.pending},
        {"inactive", s.inactive}, {"requested", s.requested}, {"blocks", s.blocks},
        {"inactive_blocks", s.inactiveBlocks}, {"largest_inactive_block", s.largestInactiveBlock},
        {"expandable", s.expandable}, {"private_pool_reserved", s.privatePoolReserved}};
}

Json noteJson(const QualityNote& note)
{
    Json json{{"id", qualityName(note.id)}, {"device", orNull(note.device)}, {"count", note.count},
        {"sentence", note.sentence}, {"examples", Json::array()}, {"first_event", orNull(note.firstEvent)}};
    for (const std::string& example : note.examples)
        json["examples"].push_back(displayText(example));
    return json;
}

Json deviceJson(const Snapshot& file, const Replay& replay, const DeviceFigures& f)
{
    Json json{{"device", replay.device().ordinal}, {"events", f.events}, {"actions", Json::object()}};
    for (const auto& [action, count] : f.actions)
        json["actions"][action] = count;
    json["first_time_us"] = orNull(f.firstTimeUs);
    json["last_time_us"] = orNull(f.lastTimeUs);
    json["segments"] = f.segments ? segmentsJson(*f.segments) : Json(nullptr);
    json["predating"] = {{"freed_in_trace", f.predating.freedInTrace},
        {"freed_in_trace_bytes", f.predating.freedInTraceBytes}, {"alive_at_end", f.predating.aliveAtEnd},
        {"alive_at_end_bytes", f.predating.aliveAtEndBytes}};
    json["irregular"] = {{"realloc_of_live", f.irregular.reallocOfLive},
        {"free_of_unknown", f.irregular.freeOfUnknown}, {"active_but_freed", f.irregular.activeButFreed},
        {"live_but_inactive", f.irregular.liveButInactive}};
    json["live"] = curveJson(f.live);
    json["live"]["delayed_frees"] = f.delayedFrees;
    json["live"]["peak_pending"] = f.peakPending;
    json["reserved"] = f.reserved ? curveJson(*f.reserved) : Json(nullptr);
    json["ooms"] = Json::array();
    for (const OomEvent& oom : f.ooms)
        json["ooms"].push_back({{"event", index(oom.event) + replay.device().firstEventInFile},
            {"requested", orNull(oom.requested)}, {"device_free", orNull(oom.deviceFree)}});
    if (const auto& outside = replay.device().outside)
        json["opened"] = {{"first", replay.device().firstEventInFile}, {"events", f.events},
            {"events_in_file", outside->eventsInFile}};
    json["reaches_start"] = replay.reachesStart();
    json["streams"] = Json::array();
    for (const auto& [stream, curve] : f.streams) {
        Json one{{"stream", file.streams[index(stream)]}};
        one.update(curveJson(curve));
        json["streams"].push_back(std::move(one));
    }
    json["pools"] = Json::array();
    for (const auto& [pool, curve] : f.pools) {
        const auto& [first, second] = file.pools[index(pool)];
        Json one{{"pool", {first, second}}};
        one.update(curveJson(curve));
        json["pools"].push_back(std::move(one));
    }
    return json;
}

std::string line(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace

CategoryPeak categoryPeak(const CategoryTimeline& timeline)
{
    CategoryPeak peak;
    for (std::size_t row = 0; row < timeline.timesUs.size(); ++row) {
        std::int64_t sum = 0;
        for (const auto& column : timeline.bytes)
            sum += column[row];
        if (row > 0 && sum <= peak.bytes)
            continue;
        peak.bytes = sum;
        peak.timeUs = timeline.timesUs[row];
        for (std::size_t c = 0; c < timeline.bytes.size(); ++c)
            peak.byCategory[c] = timeline.bytes[c][row];
    }
    return peak;
}

DeviceFigures figuresInFile(const Replay& replay)
{
    DeviceFigures figures = deviceFigures(replay);
    const auto first = static_cast<Moment>(replay.device().firstEventInFile);
    const auto move = [first](CurveFigures& curve) { curve.peakMoment += first; };
    move(figures.live);
    if (figures.reserved)
        move(*figures.reserved);
    for (auto& [stream, curve] : figures.streams)
        move(curve);
    for (auto& [pool, curve] : figures.pools)
        move(curve);
    return figures;
}

std::string infoJson(const std::string& path, const Rank& rank)
{
    const Snapshot& file = *rank.snapshot;
    Json json{{"file", path}, {"encoding", file.source.encoding}, {"container", file.source.container},
        {"pickle_protocol", orNull(file.source.pickleProtocol)}, {"devices", Json::array()}};
    for (const auto& replay : rank.devices)
        json["devices"].push_back(deviceJson(file, *replay, figuresInFile(*replay)));
    // Marks inside a trace are events and counted there.
    json["annotations"] = std::count_if(file.annotations.begin(), file.annotations.end(),
        [](const Annotation& annotation) { return !annotation.event; });
    json["steps"]
        = std::count_if(file.annotations.begin(), file.annotations.end(), [&](const Annotation& annotation) {
              return !annotation.event && annotation.start && valid(annotation.name)
                  && file.strings.view(annotation.name).starts_with("ProfilerStep#");
          });
    json["partial"] = file.source.partial;
    if (file.categories) {
        const CategoryPeak peak = categoryPeak(*file.categories);
        Json at = Json::object();
        for (std::size_t c = 0; c < peak.byCategory.size(); ++c)
            at[CategoryTimeline::names[c]] = peak.byCategory[c];
        json["categories"] = {{"rows", file.categories->timesUs.size()}, {"peak", peak.bytes},
            {"peak_time_us", peak.timeUs}, {"at_peak", at}};
    }
    json["data_quality"] = Json::array();
    for (const QualityNote& note : rank.quality())
        json["data_quality"].push_back(noteJson(note));
    return line(json);
}

std::string errorJson(const std::string& path, const Error& error)
{
    return line({{"file", path},
        {"error",
            {{"code", errorCodeName(error.code)}, {"message", displayText(error.message)},
                {"offset", orNull(error.offset)}}}});
}

} // namespace tidemark
