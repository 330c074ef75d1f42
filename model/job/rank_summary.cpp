// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/job/rank_summary.hpp"

#include "model/findings/metrics.hpp"
#include "model/findings/peers_advice.hpp"
#include "model/playbook/estimator.hpp"
#include "model/playbook/identities.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace tidemark {

namespace {

/// Smaller allocations tell little of what a rank does.
constexpr std::uint64_t smallestInShape = 64U << 10;

std::uint64_t mixed(std::uint64_t value)
{
    value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    value = (value ^ (value >> 27U)) * 0x94D049BB133111EBULL;
    return value ^ (value >> 31U);
}

std::uint64_t hashOf(std::string_view text)
{
    std::uint64_t hash = 0xCBF29CE484222325ULL;
    for (const char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
    return hash;
}

template <typename Row>
void keepLargest(std::vector<Row>& rows, std::size_t most)
{
    std::ranges::stable_sort(rows, [](const Row& a, const Row& b) { return a.bytes > b.bytes; });
    if (rows.size() <= most)
        return;
    Row rest;
    for (std::size_t i = most; i < rows.size(); ++i) {
        rest.bytes += rows[i].bytes;
        rest.allocations += rows[i].allocations;
    }
    rows.resize(most);
    rows.push_back(std::move(rest));
}

/// Fills the figures of one device.
class DeviceSummary {
public:
    DeviceSummary(RankSummary& out, const Diagnosis& diagnosis, std::size_t device)
        : m_out(out)
        , m_rank(*diagnosis.rank)
        , m_replay(*m_rank.devices[device])
        , m_found(diagnosis.devices[device])
    { }

    void fill()
    {
        figures();
        failure();
        peak();
        time();
        segments();
        shape();
    }

private:
    PeakPoint point(std::int64_t bytes, StateIndex state) const
    {
        return {bytes, state, m_replay.timeUs(state)};
    }

    void figures()
    {
        const Series& live = m_replay.timeline.requested();
        m_out.device = m_replay.device().ordinal;
        m_out.events = m_replay.device().events.count();
        m_out.firstTimeUs = m_replay.originUs();
        m_out.lastTimeUs = m_replay.timeUs(m_replay.states() - 1);
        m_out.reachesStart = m_replay.reachesStart();
        m_out.live = point(live.total().max, live.total().maxState);
        m_out.liveAtStart = live.first();
        m_out.liveAtEnd = live.last();
        const TraceMetrics trace = traceMetrics(m_replay);
        m_out.allocated = point(trace.allocatedPeak, trace.allocatedPeakState);
        if (!m_replay.segments.reservedKnown())
            return;
        m_out.reserved = point(trace.reservedPeak, trace.reservedPeakState);
        m_out.gapAtPeak = trace.gapAtAllocatedPeak;
        const std::int64_t reserved = m_replay.segments.reserved().at(trace.allocatedPeakState);
        if (reserved > 0)
            m_out.inactiveRatioAtPeak
                = static_cast<double>(m_replay.segments.inactiveAt(trace.allocatedPeakState))
                / static_cast<double>(reserved);
    }

    void failure()
    {
        if (m_found.ooms.empty())
            return;
        const OomAutopsy& last = m_found.ooms.back();
        OomSummary oom;
        oom.event = static_cast<std::uint32_t>(index(last.event));
        oom.events = static_cast<std::uint32_t>(m_replay.device().ooms.size());
        oom.request = last.request;
        oom.deviceFree = last.deviceFree;
        oom.slack = last.slack;
        oom.usable = last.usable();
        oom.allocated = last.allocated;
        oom.pinned = last.pinned;
        oom.largestHole = last.largestHole;
        oom.verdict = last.verdict;
        oom.thinMargin = last.thinMargin;
        m_out.oom = oom;
        m_out.oomDump = true;
    }

    void peak()
    {
        const Labels& labels = *m_found.labels;
        const AllocationColumns& columns = m_replay.timeline.allocations();
        std::map<std::pair<std::uint16_t, Role>, PeakShare> shares;
        std::unordered_map<std::string, PeakSite> named;
        std::vector<PeakSite> bySite(m_rank.sites->count());
        for (const AllocationId id : m_replay.timeline.liveAt(m_out.live.state)) {
            const std::uint64_t bytes = columns.size[index(id)];
            const std::uint16_t module = labels.moduleOf[index(id)];
            PeakShare& share = shares[{module, labels.role(id)}];
            share.bytes += bytes;
            ++share.allocations;
            const SiteId site = m_rank.sites->of(columns.stack[index(id)]);
            const bool plain = valid(site) && columns.origin[index(id)] == Origin::Traced;
            PeakSite& row = plain ? bySite[index(site)] : named[allocationSite(m_replay, *m_rank.sites, id)];
            row.bytes += bytes;
            ++row.allocations;
            countClasses(labels, id, bytes);
        }
        for (auto& [key, share] : shares) {
            share.label = key.first == Labels::unmatched ? "other" : labels.modules[key.first];
            share.role = key.second;
            m_out.shares.push_back(std::move(share));
        }
        for (std::size_t i = 0; i < bySite.size(); ++i)
            if (bySite[i].allocations > 0) {
                PeakSite& row = named[m_rank.sites->name(SiteId{static_cast<std::uint32_t>(i)})];
                row.bytes += bySite[i].bytes;
                row.allocations += bySite[i].allocations;
            }
        for (auto& [name, row] : named) {
            row.name = name;
            m_out.sites.push_back(std::move(row));
        }
        std::ranges::sort(m_out.sites, {}, &PeakSite::name);
        keepLargest(m_out.shares, RankSummary::maxShares);
        keepLargest(m_out.sites, RankSummary::maxSites);
        m_out.inFlightAtPeak = m_found.phases->inFlightAt(m_out.live.state);
    }

    void countClasses(const Labels& labels, AllocationId id, std::uint64_t bytes)
    {
        const std::uint16_t rule = labels.ruleOf[index(id)];
        const std::string_view name
            = rule == Labels::unmatched ? std::string_view() : labels.rules->rules()[rule].id;
        if (name.starts_with("F-moe"))
            m_out.expertBytes += bytes;
        if (name == "F-loss") {
            // What was saved last before the logits is what the output layer reads.
            m_out.savedActivations -= m_lastSaved;
            m_lastSaved = 0;
        } else if (labels.role(id) == Role::SavedActivation) {
            m_out.savedActivations += bytes;
            m_lastSaved = bytes;
        }
    }

    void time()
    {
        m_out.series = SeriesSummary::of(m_replay);
        const Phases& phases = *m_found.phases;
        m_out.steps = phases.steps;
        if (m_out.steps.size() > RankSummary::maxSteps)
            m_out.steps.resize(RankSummary::maxSteps);
        for (const Step& step : m_out.steps) {
            StepPeak peak;
            peak.live = m_replay.timeline.requested().extremes(step.first, step.last).max;
            if (m_replay.segments.reservedKnown())
                peak.reserved = m_replay.segments.reserved().extremes(step.first, step.last).max;
            m_out.stepPeaks.push_back(peak);
        }
        m_out.phases = phases.spans;
        if (m_out.phases.size() > RankSummary::maxPhases)
            m_out.phases.resize(RankSummary::maxPhases);
        m_out.setUpBytes = static_cast<std::uint64_t>(std::max<std::int64_t>(
            m_replay.timeline.requested().at(phases.firstForward ? *phases.firstForward : 0), 0));
        for (const Microbatch& batch : phases.microbatches)
            m_out.mostInFlight = std::max(m_out.mostInFlight, phases.inFlightAt(batch.forwardLast));
    }

    SegmentSummary segmentsAt(StateIndex at) const
    {
        const SegmentState state = m_replay.segments.stateAt(at, m_replay.timeline);
        SegmentSummary out;
        out.state = at;
        out.count = state.segments.size();
        out.reserved = state.reserved;
        out.live = state.live;
        out.waiting = state.waiting;
        out.pinned = state.pinned;
        out.releasable = state.releasable;
        out.heldByPools = state.heldByPools;
        out.largestHole = state.largestHole;
        std::vector<const SegmentView*> order;
        for (const SegmentView& segment : state.segments)
            order.push_back(&segment);
        std::ranges::stable_sort(
            order, [](const SegmentView* a, const SegmentView* b) { return a->size > b->size; });
        order.resize(std::min(order.size(), SegmentSummary::maxSegments));
        std::size_t pieces = 0;
        for (const SegmentView* segment : order) {
            SegmentSummary::Segment& to = out.segments.emplace_back();
            to.size = segment->size;
            to.stream = m_rank.snapshot->streams[index(segment->stream)];
            to.pool = m_rank.snapshot->pools[index(segment->pool)];
            to.small = isSmallPool(*segment);
            to.expandable = segment->expandable;
            for (std::uint32_t i = 0; i < segment->pieceCount; ++i) {
                const Piece& piece = state.pieces[segment->firstPiece + i];
                if (to.pieces.empty() || to.pieces.back().first != piece.kind)
                    to.pieces.emplace_back(piece.kind, 0);
                to.pieces.back().second += piece.size;
            }
            if (pieces + to.pieces.size() > SegmentSummary::maxPieces)
                to.pieces.clear();
            pieces += to.pieces.size();
        }
        return out;
    }

    void segments()
    {
        m_out.segmentsKnown = m_replay.segments.known();
        if (!m_out.segmentsKnown)
            return;
        m_out.segmentsAtPeak = segmentsAt(m_out.live.state);
        m_out.segmentsAtEnd = segmentsAt(m_replay.states() - 1);
    }

    void shape()
    {
        const AllocationColumns& columns = m_replay.timeline.allocations();
        std::vector<std::uint64_t> siteHash(m_rank.sites->count());
        for (std::size_t i = 0; i < siteHash.size(); ++i)
            siteHash[i] = hashOf(m_rank.sites->name(SiteId{static_cast<std::uint32_t>(i)}));
        std::unordered_map<std::uint64_t, bool> seen;
        std::set<std::uint32_t> lowest;
        for (std::size_t i = 0; i < columns.count(); ++i) {
            m_out.allocations += columns.origin[i] == Origin::Traced ? 1 : 0;
            if (columns.size[i] < smallestInShape || columns.origin[i] != Origin::Traced)
                continue;
            const SiteId site = m_rank.sites->of(columns.stack[i]);
            const std::uint64_t key
                = mixed((valid(site) ? siteHash[index(site)] : 0) ^ mixed(columns.size[i]));
            if (!seen.emplace(key, true).second)
                continue;
            lowest.insert(static_cast<std::uint32_t>(key));
            if (lowest.size() > RankSummary::maxShape)
                lowest.erase(std::prev(lowest.end()));
        }
        m_out.shape.assign(lowest.begin(), lowest.end());
    }

    RankSummary& m_out;
    const Rank& m_rank;
    const Replay& m_replay;
    const DeviceDiagnosis& m_found;
    std::uint64_t m_lastSaved = 0; ///< bytes of the last saved activation of a layer, in order of allocation
};

} // namespace

RankSummary makeSummary(const Diagnosis& diagnosis, const SummaryOrigin& origin)
{
    RankSummary out;
    const Rank& rank = *diagnosis.rank;
    out.file = origin.file;
    out.rank = origin.rank;
    out.rankFrom = origin.rankFrom;
    out.step = origin.step;
    out.oomDump = origin.oomDump;
    out.contentKey = origin.contentKey;
    out.fileBytes = rank.snapshot->source.fileBytes;
    out.encoding = rank.snapshot->source.encoding;
    out.devices = rank.devices.size();
    out.cardBytes = origin.cardBytes ? origin.cardBytes : deviceBytes(diagnosis.config);
    if (!rank.devices.empty()) {
        const std::size_t device = rank.mainDevice();
        DeviceSummary(out, diagnosis, device).fill();
        out.quality = rank.quality(device);
    } else {
        out.quality = rank.quality();
    }
    out.findings = diagnosis.findings;
    if (out.findings.size() > RankSummary::maxFindings)
        out.findings.resize(RankSummary::maxFindings);
    dropPeersAdvice(out.findings);
    for (Finding& finding : out.findings) {
        finding.allocations = {};
        finding.segments = {};
        for (Fix& fix : finding.fixes)
            fix.edits = nullptr;
        if (origin.rank)
            finding.rank = origin.rank;
    }
    out.undecided = diagnosis.undecided;
    for (const auto& [key, value] : diagnosis.config.values())
        if (out.settings.size() < RankSummary::maxSettings && !isIdentityKey(key))
            out.settings.emplace(key, value);
    return out;
}

std::string RankSummary::name() const
{
    return rank ? "rank " + std::to_string(*rank) : file.filename().string();
}

namespace {

template <typename Key>
std::vector<std::pair<std::string, std::uint64_t>> summed(
    const std::vector<PeakShare>& shares, const Key& keyOf)
{
    std::vector<std::pair<std::string, std::uint64_t>> out;
    std::uint64_t rest = 0;
    for (const PeakShare& share : shares) {
        if (share.label.empty()) {
            rest += share.bytes;
            continue;
        }
        const std::string key = keyOf(share);
        const auto known = std::ranges::find(out, key, &std::pair<std::string, std::uint64_t>::first);
        if (known == out.end())
            out.emplace_back(key, share.bytes);
        else
            known->second += share.bytes;
    }
    std::ranges::stable_sort(out, [](const auto& a, const auto& b) { return a.second > b.second; });
    if (rest > 0)
        out.emplace_back(std::string(), rest);
    return out;
}

} // namespace

std::vector<std::pair<std::string, std::uint64_t>> RankSummary::byLabel() const
{
    return summed(shares, [](const PeakShare& share) { return share.label; });
}

std::vector<std::pair<std::string, std::uint64_t>> RankSummary::byRole() const
{
    return summed(shares, [](const PeakShare& share) { return std::string(roleName(share.role)); });
}

RunConfig RankSummary::config() const
{
    RunConfig out;
    for (const auto& [key, value] : settings)
        out.set(key, value);
    return out;
}

} // namespace tidemark
