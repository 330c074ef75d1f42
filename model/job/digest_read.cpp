// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/job/digest_fields.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace tidemark {

namespace {

using Json = nlohmann::json;

constexpr std::size_t maxTextBytes = 64U << 10;
constexpr std::size_t maxList = 4096;

/// What does not belong there, on its way out of the readers below.
struct Fault : std::runtime_error {
    using std::runtime_error::runtime_error;
};

const Json& member(const Json& tree, const char* key)
{
    if (!tree.is_object())
        throw Fault(key);
    const auto found = tree.find(key);
    if (found == tree.end())
        throw Fault(key);
    return *found;
}

template <typename Number>
Number number(const Json& value, const char* key)
{
    if (value.is_number_unsigned()) {
        const auto raw = value.get<std::uint64_t>();
        if (raw <= static_cast<std::uint64_t>(std::numeric_limits<Number>::max()))
            return static_cast<Number>(raw);
    } else if (value.is_number_integer()) {
        const auto raw = value.get<std::int64_t>();
        if (std::in_range<Number>(raw))
            return static_cast<Number>(raw);
    }
    throw Fault(key);
}

template <typename Number>
void get(const Json& tree, const char* key, Number& out)
{
    out = number<Number>(member(tree, key), key);
}
void get(const Json& tree, const char* key, bool& out)
{
    const Json& value = member(tree, key);
    if (!value.is_boolean())
        throw Fault(key);
    out = value.get<bool>();
}
std::string textOf(const Json& value, const char* key)
{
    if (!value.is_string() || value.get_ref<const std::string&>().size() > maxTextBytes)
        throw Fault(key);
    return value.get<std::string>();
}
void get(const Json& tree, const char* key, std::string& out)
{
    out = textOf(member(tree, key), key);
}
void get(const Json& tree, const char* key, std::optional<double>& out)
{
    const Json& value = member(tree, key);
    if (!value.is_null() && !value.is_number())
        throw Fault(key);
    out = value.is_null() ? std::nullopt : std::optional(value.get<double>());
}
template <typename Number>
void get(const Json& tree, const char* key, std::optional<Number>& out)
{
    const Json& value = member(tree, key);
    out = value.is_null() ? std::nullopt : std::optional(number<Number>(value, key));
}

const Json& list(const Json& tree, const char* key, std::size_t most = maxList)
{
    const Json& value = member(tree, key);
    if (!value.is_array() || value.size() > most)
        throw Fault(key);
    return value;
}

/// A list inside a list, of so many items.
const Json& row(const Json& value, std::size_t items, const char* key)
{
    if (!value.is_array() || value.size() != items)
        throw Fault(key);
    return value;
}

std::string_view bytesOf(const Json& tree, const char* key)
{
    const Json& value = member(tree, key);
    if (!value.is_binary())
        throw Fault(key);
    const auto& bytes = value.get_binary();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

PeakPoint pointOf(const Json& tree)
{
    PeakPoint out;
    get(tree, "bytes", out.bytes);
    get(tree, "state", out.state);
    get(tree, "time_us", out.timeUs);
    return out;
}

/// A value of a setting or of evidence, whose variant has a list of texts and perhaps one of numbers.
template <typename Variant>
Variant valueOf(const Json& value, const char* key)
{
    if (value.is_null())
        return std::monostate{};
    if (value.is_boolean())
        return value.get<bool>();
    if (value.is_number_integer())
        return number<std::int64_t>(value, key);
    if (value.is_number_float())
        return value.get<double>();
    if (value.is_string())
        return textOf(value, key);
    if (!value.is_array() || value.size() > maxList)
        throw Fault(key);
    if constexpr (std::is_same_v<Variant, EvidenceValue>)
        if (std::ranges::all_of(value, [](const Json& each) { return each.is_number_integer(); })) {
            std::vector<std::int64_t> numbers;
            for (const Json& each : value)
                numbers.push_back(number<std::int64_t>(each, key));
            return numbers;
        }
    std::vector<std::string> texts;
    for (const Json& each : value)
        texts.push_back(textOf(each, key));
    return texts;
}

Grade gradeOf(const std::string& text, const char* key)
{
    if (text.size() != 1 || text[0] < 'A' || text[0] > 'D')
        throw Fault(key);
    return static_cast<Grade>(text[0]);
}

Severity severityOf(const std::string& text)
{
    for (const Severity each : {Severity::Critical, Severity::Warning, Severity::Info})
        if (text == severityName(each))
            return each;
    throw Fault("severity");
}

Fix fixOf(const Json& tree)
{
    Fix out;
    get(tree, "id", out.id);
    get(tree, "text", out.text);
    get(tree, "removed_at_peak", out.removedAtPeak);
    get(tree, "new_peak", out.newPeak);
    get(tree, "new_peak_state", out.newPeakState);
    get(tree, "new_peak_owner", out.newPeakOwner);
    get(tree, "setting", out.setting);
    out.grade = gradeOf(textOf(member(tree, "grade"), "grade"), "grade");
    get(tree, "cost", out.cost);
    if (const Json& grade = member(tree, "cost_grade"); !grade.is_null())
        out.costGrade = gradeOf(textOf(grade, "cost_grade"), "cost_grade");
    get(tree, "source", out.source);
    get(tree, "blocked_by", out.blockedBy);
    return out;
}

Finding findingOf(const Json& tree)
{
    Finding out;
    get(tree, "rule", out.rule);
    out.severity = severityOf(textOf(member(tree, "severity"), "severity"));
    get(tree, "bytes", out.bytes);
    out.grade = gradeOf(textOf(member(tree, "grade"), "grade"), "grade");
    get(tree, "count", out.count);
    get(tree, "device", out.device);
    get(tree, "site", out.site);
    get(tree, "playbook", out.playbook);
    get(tree, "title", out.title);
    get(tree, "explanation", out.explanation);
    get(tree, "look_at", out.lookAt);
    if (const auto events = tree.find("events"); events != tree.end()) {
        const Json& pair = row(*events, 2, "events");
        out.eventRange = {EventIndex{number<std::uint32_t>(pair[0], "events")},
            EventIndex{number<std::uint32_t>(pair[1], "events")}};
    }
    for (const Json& each : list(tree, "evidence", 256)) {
        const Json& pair = row(each, 2, "evidence");
        out.evidence.push_back({textOf(pair[0], "evidence"), valueOf<EvidenceValue>(pair[1], "evidence")});
    }
    for (const Json& each : list(tree, "fixes", 256))
        out.fixes.push_back(fixOf(each));
    return out;
}

/// The next packed number, within bounds.
template <typename Number>
Number packed(UnpackedNumbers& numbers)
{
    std::int64_t value = 0;
    if (!numbers.next(value) || !std::in_range<Number>(value))
        throw Fault("packed");
    return static_cast<Number>(value);
}

SegmentSummary segmentsOf(const Json& tree)
{
    SegmentSummary out;
    get(tree, "state", out.state);
    get(tree, "count", out.count);
    get(tree, "reserved", out.reserved);
    get(tree, "live", out.live);
    get(tree, "waiting", out.waiting);
    get(tree, "pinned", out.pinned);
    get(tree, "releasable", out.releasable);
    get(tree, "held_by_pools", out.heldByPools);
    get(tree, "largest_hole", out.largestHole);
    std::size_t listed = 0;
    get(tree, "listed", listed);
    if (listed > SegmentSummary::maxSegments)
        throw Fault("listed");
    UnpackedNumbers numbers(bytesOf(tree, "packed"));
    std::size_t pieces = 0;
    for (std::size_t i = 0; i < listed; ++i) {
        SegmentSummary::Segment& each = out.segments.emplace_back();
        each.size = packed<std::uint64_t>(numbers);
        each.stream = packed<std::int64_t>(numbers);
        each.pool.first = packed<std::int64_t>(numbers);
        each.pool.second = packed<std::int64_t>(numbers);
        const auto flags = packed<std::uint8_t>(numbers);
        each.small = (flags & 1U) != 0;
        each.expandable = (flags & 2U) != 0;
        const auto count = packed<std::size_t>(numbers);
        pieces += count;
        if (count > SegmentSummary::maxPieces || pieces > SegmentSummary::maxPieces)
            throw Fault("packed");
        for (std::size_t p = 0; p < count; ++p) {
            const auto kind = packed<std::uint8_t>(numbers);
            if (kind > static_cast<std::uint8_t>(PieceKind::Unknown))
                throw Fault("packed");
            each.pieces.emplace_back(static_cast<PieceKind>(kind), packed<std::uint64_t>(numbers));
        }
    }
    if (!numbers.atEnd())
        throw Fault("packed");
    return out;
}

OomSummary oomOf(const Json& tree)
{
    OomSummary out;
    get(tree, "event", out.event);
    get(tree, "events", out.events);
    get(tree, "request", out.request);
    get(tree, "device_free", out.deviceFree);
    get(tree, "slack", out.slack);
    get(tree, "usable", out.usable);
    get(tree, "allocated", out.allocated);
    get(tree, "pinned", out.pinned);
    get(tree, "largest_hole", out.largestHole);
    get(tree, "thin_margin", out.thinMargin);
    const std::string code = textOf(member(tree, "verdict"), "verdict");
    for (const Verdict each : {Verdict::CaptureBlocked, Verdict::Capacity, Verdict::WrongPool,
             Verdict::Fragmentation, Verdict::OutsideAllocator, Verdict::Unknown})
        if (code == verdictCode(each)) {
            out.verdict = each;
            return out;
        }
    throw Fault("verdict");
}

SeriesSummary seriesOf(const Json& tree)
{
    StateIndex states = 0;
    bool reserved = false;
    bool times = false;
    get(tree, "states", states);
    get(tree, "reserved", reserved);
    get(tree, "times", times);
    std::vector<SeriesSummary::Level> levels;
    for (const Json& each : list(tree, "levels", 8)) {
        SeriesSummary::Level& level = levels.emplace_back();
        get(each, "buckets", level.buckets);
        level.bytes = bytesOf(each, "packed");
    }
    auto series = SeriesSummary::fromParts(states, reserved, times, std::move(levels));
    if (!series)
        throw Fault("levels");
    return *series;
}

void readPeak(RankSummary& s, const Json& tree)
{
    for (const Json& each : list(tree, "shares")) {
        const Json& cells = row(each, 4, "shares");
        const int role = number<int>(cells[1], "shares");
        if (role < 0 || static_cast<std::size_t>(role) >= roles)
            throw Fault("shares");
        s.shares.push_back({textOf(cells[0], "shares"), static_cast<Role>(role),
            number<std::uint64_t>(cells[2], "shares"), number<std::uint64_t>(cells[3], "shares")});
    }
    for (const Json& each : list(tree, "sites")) {
        const Json& cells = row(each, 3, "sites");
        s.sites.push_back({textOf(cells[0], "sites"), number<std::uint64_t>(cells[1], "sites"),
            number<std::uint64_t>(cells[2], "sites")});
    }
    get(tree, "saved_activations", s.savedActivations);
    get(tree, "expert_bytes", s.expertBytes);
    get(tree, "in_flight", s.inFlightAtPeak);
}

void readTime(RankSummary& s, const Json& tree)
{
    const auto flag = [](const Json& value, const char* key) {
        if (!value.is_boolean())
            throw Fault(key);
        return value.get<bool>();
    };
    for (const Json& each : list(tree, "steps")) {
        const Json& cells = row(each, 4, "steps");
        s.steps.push_back({textOf(cells[0], "steps"), number<StateIndex>(cells[1], "steps"),
            number<StateIndex>(cells[2], "steps"), flag(cells[3], "steps")});
    }
    if (tree.contains("step_peaks")) // not in the first digests
        for (const Json& each : list(tree, "step_peaks")) {
            const Json& cells = row(each, 2, "step_peaks");
            StepPeak peak{number<std::int64_t>(cells[0], "step_peaks"), std::nullopt};
            if (!cells[1].is_null())
                peak.reserved = number<std::int64_t>(cells[1], "step_peaks");
            s.stepPeaks.push_back(peak);
        }
    if (!s.stepPeaks.empty() && s.stepPeaks.size() != s.steps.size())
        throw Fault("step_peaks");
    for (const Json& each : list(tree, "phases")) {
        const Json& cells = row(each, 4, "phases");
        const int phase = number<int>(cells[0], "phases");
        if (phase < 0 || phase > static_cast<int>(Phase::Side))
            throw Fault("phases");
        s.phases.push_back({static_cast<Phase>(phase), number<StateIndex>(cells[1], "phases"),
            number<StateIndex>(cells[2], "phases"), flag(cells[3], "phases")});
    }
}

QualityNote noteOf(const Json& tree)
{
    QualityNote out;
    get(tree, "device", out.device);
    get(tree, "count", out.count);
    get(tree, "sentence", out.sentence);
    const std::string id = textOf(member(tree, "id"), "id");
    for (int i = 0; i <= static_cast<int>(Quality::EventRange); ++i)
        if (id == qualityName(static_cast<Quality>(i))) {
            out.id = static_cast<Quality>(i);
            return out;
        }
    throw Fault("data_quality");
}

void readFigures(RankSummary& s, const Json& tree)
{
    s.live = pointOf(member(tree, "live_peak"));
    s.allocated = pointOf(member(tree, "allocated_peak"));
    if (const Json& reserved = member(tree, "reserved_peak"); !reserved.is_null())
        s.reserved = pointOf(reserved);
    get(tree, "live_at_start", s.liveAtStart);
    get(tree, "live_at_end", s.liveAtEnd);
    get(tree, "gap_at_peak", s.gapAtPeak);
    get(tree, "inactive_ratio_at_peak", s.inactiveRatioAtPeak);
    get(tree, "card", s.cardBytes);
    get(tree, "set_up", s.setUpBytes);
    get(tree, "most_in_flight", s.mostInFlight);
    get(tree, "allocations", s.allocations);
}

void readAll(RankSummary& s, const Json& tree)
{
    const Json& provenance = member(tree, "provenance");
    s.snapshot = textOf(member(provenance, "snapshot"), "snapshot");
    get(provenance, "bytes", s.fileBytes);
    get(provenance, "key", s.contentKey);
    get(provenance, "encoding", s.encoding);
    get(tree, "rank", s.rank);
    get(tree, "rank_from", s.rankFrom);
    get(tree, "step", s.step);
    get(tree, "oom_dump", s.oomDump);
    get(tree, "device", s.device);
    get(tree, "devices", s.devices);
    get(tree, "events", s.events);
    get(tree, "first_time_us", s.firstTimeUs);
    get(tree, "last_time_us", s.lastTimeUs);
    get(tree, "reaches_start", s.reachesStart);
    readFigures(s, member(tree, "figures"));
    if (const Json& oom = member(tree, "oom"); !oom.is_null())
        s.oom = oomOf(oom);
    readPeak(s, member(tree, "peak"));
    readTime(s, member(tree, "time"));
    s.series = seriesOf(member(tree, "series"));
    s.segmentsKnown = tree.contains("segments");
    if (s.segmentsKnown) {
        s.segmentsAtPeak = segmentsOf(member(tree["segments"], "peak"));
        s.segmentsAtEnd = segmentsOf(member(tree["segments"], "end"));
    }
    for (const Json& each : list(tree, "findings"))
        s.findings.push_back(findingOf(each));
    for (Finding& finding : s.findings)
        finding.rank = s.rank;
    for (const Json& each : list(tree, "undecided")) {
        const Json& cells = row(each, 2, "undecided");
        s.undecided.push_back({textOf(cells[0], "undecided"), textOf(cells[1], "undecided")});
    }
    for (const Json& each : list(tree, "data_quality"))
        s.quality.push_back(noteOf(each));
    const Json& settings = member(tree, "settings");
    if (!settings.is_object() || settings.size() > RankSummary::maxSettings)
        throw Fault("settings");
    for (const auto& [key, value] : settings.items())
        s.settings.emplace(key, valueOf<ConfigValue>(value, "settings"));
    UnpackedNumbers shape(bytesOf(tree, "shape"));
    while (!shape.atEnd()) {
        s.shape.push_back(packed<std::uint32_t>(shape));
        if (s.shape.size() > RankSummary::maxShape
            || (s.shape.size() > 1 && s.shape.back() <= s.shape[s.shape.size() - 2]))
            throw Fault("shape");
    }
}

} // namespace

std::optional<DigestFault> fillFromTree(RankSummary& summary, const nlohmann::json& tree)
{
    try {
        readAll(summary, tree);
        return std::nullopt;
    } catch (const Fault& fault) {
        return DigestFault{fault.what()};
    }
}

} // namespace tidemark
