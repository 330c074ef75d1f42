// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/job/digest_fields.hpp"

#include "model/core/text.hpp"

namespace tidemark {

namespace {

using Json = nlohmann::json;

template <typename Value>
Json orNull(const std::optional<Value>& value)
{
    return value ? Json(*value) : Json(nullptr);
}

/// CBOR's texts are UTF-8.
std::string text(const std::string& raw)
{
    return isValidUtf8(raw) ? raw : displayText(raw);
}

Json binary(std::string_view bytes)
{
    return Json::binary(std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
}

Json pointTree(const PeakPoint& point)
{
    return {{"bytes", point.bytes}, {"state", point.state}, {"time_us", orNull(point.timeUs)}};
}

struct ValueTree {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(bool v) const { return v; }
    Json operator()(std::int64_t v) const { return v; }
    Json operator()(double v) const { return v; }
    Json operator()(const std::string& v) const { return text(v); }
    Json operator()(const std::vector<std::int64_t>& v) const { return v; }
    Json operator()(const std::vector<std::string>& v) const
    {
        Json list = Json::array();
        for (const std::string& each : v)
            list.push_back(text(each));
        return list;
    }
};

Json fixTree(const Fix& fix)
{
    return {{"id", fix.id}, {"text", text(fix.text)}, {"removed_at_peak", orNull(fix.removedAtPeak)},
        {"new_peak", orNull(fix.newPeak)}, {"new_peak_state", orNull(fix.newPeakState)},
        {"new_peak_owner", text(fix.newPeakOwner)}, {"setting", text(fix.setting)},
        {"grade", std::string(1, static_cast<char>(fix.grade))}, {"cost", text(fix.cost)},
        {"cost_grade",
            fix.costGrade ? Json(std::string(1, static_cast<char>(*fix.costGrade))) : Json(nullptr)},
        {"source", text(fix.source)}, {"blocked_by", text(fix.blockedBy)}};
}

Json findingTree(const Finding& finding)
{
    Json tree{{"rule", finding.rule}, {"severity", severityName(finding.severity)}, {"bytes", finding.bytes},
        {"grade", std::string(1, static_cast<char>(finding.grade))}, {"count", finding.count},
        {"device", finding.device}, {"site", text(finding.site)}, {"playbook", finding.playbook},
        {"title", text(finding.title)}, {"explanation", text(finding.explanation)},
        {"look_at", finding.lookAt}};
    if (finding.eventRange)
        tree["events"] = {index(finding.eventRange->first), index(finding.eventRange->second)};
    Json evidence = Json::array();
    for (const Evidence& each : finding.evidence)
        evidence.push_back({each.key, std::visit(ValueTree{}, each.value)});
    tree["evidence"] = std::move(evidence);
    Json fixes = Json::array();
    for (const Fix& fix : finding.fixes)
        fixes.push_back(fixTree(fix));
    tree["fixes"] = std::move(fixes);
    return tree;
}

Json segmentsTree(const SegmentSummary& segments, bool pieces)
{
    PackedNumbers packed;
    for (const SegmentSummary::Segment& each : segments.segments) {
        packed.add(static_cast<std::int64_t>(each.size));
        packed.add(each.stream);
        packed.add(each.pool.first);
        packed.add(each.pool.second);
        packed.add((each.small ? 1 : 0) + (each.expandable ? 2 : 0));
        packed.add(pieces ? static_cast<std::int64_t>(each.pieces.size()) : 0);
        if (pieces)
            for (const auto& [kind, size] : each.pieces) {
                packed.add(static_cast<std::int64_t>(kind));
                packed.add(static_cast<std::int64_t>(size));
            }
    }
    return {{"state", segments.state}, {"count", segments.count}, {"reserved", segments.reserved},
        {"live", segments.live}, {"waiting", segments.waiting}, {"pinned", segments.pinned},
        {"releasable", segments.releasable}, {"held_by_pools", segments.heldByPools},
        {"largest_hole", segments.largestHole}, {"listed", segments.segments.size()},
        {"packed", binary(packed.take())}};
}

Json oomTree(const OomSummary& oom)
{
    return {{"event", oom.event}, {"events", oom.events}, {"request", orNull(oom.request)},
        {"device_free", orNull(oom.deviceFree)}, {"slack", orNull(oom.slack)}, {"usable", orNull(oom.usable)},
        {"allocated", oom.allocated}, {"pinned", oom.pinned}, {"largest_hole", oom.largestHole},
        {"verdict", verdictCode(oom.verdict)}, {"thin_margin", oom.thinMargin}};
}

Json seriesTree(const SeriesSummary& series, std::size_t levels)
{
    Json list = Json::array();
    for (const SeriesSummary::Level& level : series.levels())
        if (list.size() < levels)
            list.push_back({{"buckets", level.buckets}, {"packed", binary(level.bytes)}});
    return {{"states", series.states()}, {"reserved", series.reservedKnown()}, {"times", series.timesKnown()},
        {"levels", std::move(list)}};
}

Json peakTree(const RankSummary& s)
{
    Json shares = Json::array();
    for (const PeakShare& each : s.shares)
        shares.push_back({text(each.label), static_cast<int>(each.role), each.bytes, each.allocations});
    Json sites = Json::array();
    for (const PeakSite& each : s.sites)
        sites.push_back({text(each.name), each.bytes, each.allocations});
    return {{"shares", std::move(shares)}, {"sites", std::move(sites)},
        {"saved_activations", s.savedActivations}, {"expert_bytes", s.expertBytes},
        {"in_flight", s.inFlightAtPeak}};
}

Json timeTree(const RankSummary& s)
{
    Json steps = Json::array();
    for (const Step& step : s.steps)
        steps.push_back({text(step.name), step.first, step.last, step.complete});
    Json phases = Json::array();
    for (const PhaseSpan& span : s.phases)
        phases.push_back({static_cast<int>(span.phase), span.first, span.last, span.recorded});
    Json peaks = Json::array();
    for (const StepPeak& peak : s.stepPeaks)
        peaks.push_back({peak.live, orNull(peak.reserved)});
    return {{"steps", std::move(steps)}, {"step_peaks", std::move(peaks)}, {"phases", std::move(phases)}};
}

Json notesTree(const RankSummary& s)
{
    Json notes = Json::array();
    for (const QualityNote& note : s.quality)
        notes.push_back({{"id", qualityName(note.id)}, {"device", orNull(note.device)}, {"count", note.count},
            {"sentence", text(note.sentence)}});
    return notes;
}

} // namespace

Json digestTree(const RankSummary& s, const DigestDetail& detail)
{
    Json tree = Json::object();
    tree["provenance"] = {{"snapshot", text(s.snapshot.empty() ? s.file.string() : s.snapshot.string())},
        {"bytes", s.fileBytes}, {"key", s.contentKey}, {"encoding", s.encoding}};
    tree["rank"] = orNull(s.rank);
    tree["rank_from"] = s.rankFrom;
    tree["step"] = orNull(s.step);
    tree["oom_dump"] = s.oomDump;
    tree["device"] = orNull(s.device);
    tree["devices"] = s.devices;
    tree["events"] = s.events;
    tree["first_time_us"] = orNull(s.firstTimeUs);
    tree["last_time_us"] = orNull(s.lastTimeUs);
    tree["reaches_start"] = s.reachesStart;
    tree["figures"] = {{"live_peak", pointTree(s.live)}, {"allocated_peak", pointTree(s.allocated)},
        {"reserved_peak", s.reserved ? pointTree(*s.reserved) : Json(nullptr)},
        {"live_at_start", s.liveAtStart}, {"live_at_end", s.liveAtEnd}, {"gap_at_peak", orNull(s.gapAtPeak)},
        {"inactive_ratio_at_peak", orNull(s.inactiveRatioAtPeak)}, {"card", orNull(s.cardBytes)},
        {"set_up", s.setUpBytes}, {"most_in_flight", s.mostInFlight}, {"allocations", s.allocations}};
    tree["oom"] = s.oom ? oomTree(*s.oom) : Json(nullptr);
    tree["peak"] = peakTree(s);
    tree["time"] = timeTree(s);
    tree["series"] = seriesTree(s.series, detail.levels);
    if (s.segmentsKnown)
        tree["segments"] = {{"peak", segmentsTree(s.segmentsAtPeak, detail.pieces)},
            {"end", segmentsTree(s.segmentsAtEnd, detail.pieces)}};
    Json findings = Json::array();
    for (const Finding& finding : s.findings)
        if (findings.size() < detail.findings)
            findings.push_back(findingTree(finding));
    tree["findings"] = std::move(findings);
    Json undecided = Json::array();
    for (const Undecided& each : s.undecided)
        undecided.push_back({each.rule, text(each.needs)});
    tree["undecided"] = std::move(undecided);
    tree["data_quality"] = notesTree(s);
    Json settings = Json::object();
    for (const auto& [key, value] : s.settings)
        settings[text(key)] = std::visit(ValueTree{}, value);
    tree["settings"] = std::move(settings);
    PackedNumbers shape;
    for (const std::uint32_t each : s.shape)
        shape.add(each);
    tree["shape"] = binary(shape.take());
    return tree;
}

} // namespace tidemark
