// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/metrics_text.hpp"

#include "model/core/units.hpp"

#include <nlohmann/json.hpp>

namespace tidemark {

namespace {

std::string bytes(std::uint64_t value)
{
    return formatBytes(static_cast<std::int64_t>(value));
}

std::string count(std::uint64_t number, const char* one, const char* many)
{
    return formatCount(static_cast<std::int64_t>(number)) + (number == 1 ? one : many);
}

std::uint64_t heldBack(const std::vector<PinningBlock>& pins)
{
    std::uint64_t sum = 0;
    for (const PinningBlock& pin : pins)
        sum += pin.releases;
    return sum;
}

std::uint64_t givenBack(const std::vector<Flush>& flushes)
{
    std::uint64_t sum = 0;
    for (const Flush& flush : flushes)
        sum += flush.bytes;
    return sum;
}

} // namespace

std::vector<MetricLine> metricLines(const Replay& replay, const MomentMetrics& m)
{
    const std::string unknown = "unknown";
    const std::string none = "the file lists no segments";
    const bool segments = replay.segments.known();
    const StateMetrics& now = m.now;
    std::vector<MetricLine> lines;
    const auto add = [&](const char* id, const char* name, std::string value, std::string remark = {}) {
        if (segments)
            lines.push_back({id, name, std::move(value), std::move(remark)});
        else
            lines.push_back({id, name, unknown, none});
    };
    add("M1", "inactive share of reserved", formatPercent(now.inactiveRatio()),
        bytes(now.inactive) + " of " + bytes(now.reserved));
    add("M2", "gap at the peak of allocated", formatBytes(m.trace.gapAtAllocatedPeak),
        "reserved less allocated");
    add("M3", "utilization", formatPercent(m.trace.utilization), "peak allocated of peak reserved");
    add("M4", "external fragmentation", formatPercent(now.externalFragmentation()),
        "largest hole " + bytes(now.largestHole) + "; high in healthy runs");
    if (m.request)
        add("M5", "free bytes no use to the request", formatPercent(m.unusable),
            "a request of " + bytes(*m.request));
    else
        add("M5", "free bytes no use to the request", unknown, "no request is known to measure it by");
    add("M6", "pinned", bytes(now.pinned), "free, in segments that also hold live blocks");
    add("M7", "blocks that pin", formatCount(static_cast<std::int64_t>(m.pins.size())),
        m.pins.empty() ? std::string() : "they hold back " + bytes(heldBack(m.pins)));
    add("M8", "releasable", bytes(now.releasable), count(now.releasableSegments, " segment", " segments"));
    add("M9", "rounding", bytes(now.rounding()), "blocks less what was asked for");
    lines.push_back({"M10", "waiting for a stream",
        formatBytes(replay.timeline.delayedFrees() > 0 ? static_cast<std::int64_t>(now.waiting) : 0),
        "highest " + formatBytes(m.trace.pendingPeak)});
    add("M11", "classes of memory", formatCount(static_cast<std::int64_t>(m.classes.size())),
        "by pool, stream and kind");
    add("M12", "private pools", bytes(now.privateReserved), bytes(now.privateInactive) + " of it free");
    lines.push_back({"M13", "held by others on the card", m.nonPyTorch ? formatBytes(*m.nonPyTorch) : unknown,
        m.nonPyTorch ? std::string() : "known at out-of-memory events only, with the size of the card"});
    add("M14", "flushes of the cache so far", formatCount(static_cast<std::int64_t>(m.flushes.size())),
        m.flushes.empty() ? std::string() : bytes(givenBack(m.flushes)) + " given back");
    if (m.growth.ends.size() >= 4)
        add("M15", "reserved grown over the steps", formatBytes(m.growth.grown),
            "live " + formatBytes(m.growth.liveGrown) + "; rose in " + formatPercent(m.growth.rising)
                + " of the steps");
    else
        add("M15", "reserved grown over the steps", unknown, "needs four complete steps");
    return lines;
}

std::string metricsJson(const Replay& replay, const MomentMetrics& m)
{
    using Json = nlohmann::ordered_json;
    const bool segments = replay.segments.known();
    const StateMetrics& now = m.now;
    const auto known = [&](auto value) { return segments ? Json(value) : Json(nullptr); };
    Json out;
    out["M1"] = {{"inactive_ratio", known(now.inactiveRatio())}, {"inactive", known(now.inactive)},
        {"reserved", known(now.reserved)}};
    out["M2"] = {{"gap_at_allocated_peak", known(m.trace.gapAtAllocatedPeak)}};
    out["M3"] = {{"utilization", known(m.trace.utilization)}};
    out["M4"] = {{"external_fragmentation", known(now.externalFragmentation())},
        {"largest_hole", known(now.largestHole)}};
    out["M5"] = {{"request", m.request ? Json(*m.request) : Json(nullptr)},
        {"unusable_index", m.request ? known(m.unusable) : Json(nullptr)}};
    out["M6"] = {{"pinned", known(now.pinned)}};
    out["M7"] = {{"blocks", known(m.pins.size())}, {"held", known(heldBack(m.pins))}};
    out["M8"] = {{"releasable", known(now.releasable)}, {"segments", known(now.releasableSegments)}};
    out["M9"] = {{"rounding", known(now.rounding())}};
    out["M10"] = {{"waiting", known(now.waiting)}, {"peak", m.trace.pendingPeak}};
    Json classes = Json::array();
    for (const ClassMetrics& row : m.classes)
        classes.push_back({{"pool", poolName(*replay.snapshot, row.of.pool)}, {"segments", row.segments},
            {"reserved", row.metrics.reserved}, {"allocated", row.metrics.allocated},
            {"inactive", row.metrics.inactive}, {"largest_hole", row.metrics.largestHole}});
    out["M11"] = {{"classes", known(classes)}};
    out["M12"] = {{"reserved", known(now.privateReserved)}, {"inactive", known(now.privateInactive)}};
    out["M13"] = {{"other_bytes", m.nonPyTorch ? Json(*m.nonPyTorch) : Json(nullptr)}};
    out["M14"] = {{"flushes", known(m.flushes.size())}, {"bytes", known(givenBack(m.flushes))}};
    const bool steps = segments && m.growth.ends.size() >= 4;
    out["M15"] = {{"grown", steps ? Json(m.growth.grown) : Json(nullptr)},
        {"live_grown", steps ? Json(m.growth.liveGrown) : Json(nullptr)},
        {"rising", steps ? Json(m.growth.rising) : Json(nullptr)}};
    return out.dump();
}

} // namespace tidemark
