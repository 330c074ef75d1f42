// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/rule_tools.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace tidemark {

namespace {

/// What one capture's pool holds on one stream at the end of the file.
struct PoolUse {
    PoolId pool{};
    StreamId stream{};
    StateIndex since = 0;
    bool expandable = false;
    std::uint64_t reserved = 0;
    std::uint64_t live = 0;
    std::vector<std::uint64_t> idle; ///< sizes of the free parts
};

/// Pools in the order in which they were made.
std::vector<PoolUse> graphPools(const Replay& replay, const SegmentState& state)
{
    std::map<std::pair<PoolId, StreamId>, PoolUse> uses;
    for (const SegmentView& s : state.segments) {
        if (index(s.pool) == 0 || replay.snapshot->pools[index(s.pool)].first == 0)
            continue;
        const auto [at, fresh] = uses.try_emplace({s.pool, s.stream});
        PoolUse& use = at->second;
        use.pool = s.pool;
        use.stream = s.stream;
        use.since = fresh ? s.since : std::min(use.since, s.since);
        use.expandable = use.expandable || s.expandable;
        use.reserved += s.size;
        use.live += s.size - s.freeBytes;
        for (std::uint32_t p = 0; p < s.pieceCount; ++p)
            if (const Piece& piece = state.pieces[s.firstPiece + p]; piece.kind == PieceKind::Free)
                use.idle.push_back(piece.size);
    }
    std::vector<PoolUse> pools;
    for (auto& [key, use] : uses)
        pools.push_back(std::move(use));
    std::stable_sort(
        pools.begin(), pools.end(), [](const PoolUse& a, const PoolUse& b) { return a.since < b.since; });
    return pools;
}

/// What one pool would have to reserve for the captures one after the other: a native segment serves a later
/// capture when it is large enough, an expandable one grows to the largest. What lives cannot be shared.
std::uint64_t sharedNeed(std::vector<PoolUse> pools)
{
    std::uint64_t live = 0;
    std::multiset<std::uint64_t> segments;
    std::uint64_t largest = 0;
    for (PoolUse& pool : pools) {
        live += pool.live;
        std::sort(pool.idle.rbegin(), pool.idle.rend());
        std::vector<std::uint64_t> taken;
        std::uint64_t sum = 0;
        for (const std::uint64_t size : pool.idle) {
            sum += size;
            const auto fits = segments.lower_bound(size);
            taken.push_back(fits != segments.end() ? *fits : size);
            if (fits != segments.end())
                segments.erase(fits);
        }
        largest = std::max(largest, sum);
        segments.insert(taken.begin(), taken.end()); // this capture is over
    }
    const bool growing
        = std::all_of(pools.begin(), pools.end(), [](const PoolUse& p) { return p.expandable; });
    if (growing)
        return live + largest;
    std::uint64_t need = live;
    for (const std::uint64_t size : segments)
        need += size;
    return need;
}

void run(const RuleInput& input, RuleOutput& output, const Job&)
{
    const Replay& replay = input.replay;
    if (!isGpu(input) || !replay.segments.known())
        return;
    const SegmentState state = replay.segments.stateAt(replay.states() - 1, replay.timeline);
    std::map<StreamId, std::vector<PoolUse>> byStream;
    for (PoolUse& use : graphPools(replay, state))
        byStream[use.stream].push_back(std::move(use));
    std::uint64_t reserved = 0;
    std::uint64_t shared = 0;
    std::uint64_t pools = 0;
    std::set<PoolId> ids;
    for (const auto& [stream, uses] : byStream) {
        if (uses.size() < 2)
            continue;
        for (const PoolUse& use : uses) {
            reserved += use.reserved;
            ids.insert(use.pool);
        }
        shared += sharedNeed(uses);
        pools += uses.size();
    }
    if (shared + smallPage > reserved)
        return;
    Finding finding = makeFinding(input, "unshared-pools", Severity::Warning);
    finding.bytes = reserved - shared;
    finding.grade = Grade::B;
    finding.count = pools;
    finding.lookAt = state.state;
    for (const SegmentView& s : state.segments)
        if (ids.contains(s.pool))
            finding.segments.push_back(s.id);
    addEvidence(finding, "pools", pools);
    addEvidence(finding, "reserved", reserved);
    addEvidence(finding, "shared", shared);
    finding.title = countText(pools, "graph pool", "graph pools") + " reserve " + sizeText(reserved)
        + "; one shared pool would need " + sizeText(shared) + ".";
    finding.explanation
        = "Assumed: the graphs replay one after the other in the order of their capture, so that none "
          "needs its scratch memory while another runs.";
    finding.fixes.push_back(makeFix("share-graph-pool",
        "Capture all graphs into one pool (torch.cuda.graph_pool_handle()), the largest first.", Grade::B));
    output.findings.push_back(std::move(finding));
}

} // namespace

extern const Rule unsharedPoolsRule;
const Rule unsharedPoolsRule{
    "unshared-pools", "", "Several graph pools that hold what one would do for.", run, needs::segments};

} // namespace tidemark
