// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/rule_tools.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace tidemark {

namespace {

/// Memory of the private pools of one kind of owner at the end of the file.
struct Owner {
    struct Bytes {
        std::uint64_t reserved = 0;
        std::uint64_t idle = 0;
    };
    std::map<PoolId, Bytes> pools;
    std::set<StreamId> streams;
    StateMetrics metrics;
    std::vector<SegmentId> holding; ///< segments with free bytes
};

std::string poolsText(const RuleInput& input, const Owner& owner, bool graphs)
{
    if (owner.pools.size() == 1)
        return "the private " + poolName(*input.replay.snapshot, owner.pools.begin()->first);
    return countText(owner.pools.size(), "", graphs ? "graph pools" : "memory pools");
}

void report(
    const RuleInput& input, RuleOutput& output, const SegmentState& state, const Owner& owner, bool graphs)
{
    const StateMetrics& m = owner.metrics;
    // Alignment leftovers of pools that are in use are no finding, but a small pool that idles beside a large
    // one is.
    const bool held = std::ranges::any_of(owner.pools, [](const auto& pool) {
        return pool.second.idle >= smallPage && pool.second.idle * 100 >= pool.second.reserved;
    });
    if (!held)
        return;
    constexpr std::uint64_t much = 1ULL << 30;
    Finding finding
        = makeFinding(input, "pool-held", m.inactive >= much ? Severity::Warning : Severity::Info);
    finding.bytes = m.inactive;
    finding.count = owner.holding.size();
    finding.segments = owner.holding;
    finding.lookAt = state.state;
    const std::uint64_t live = m.reserved - m.inactive;
    addEvidence(finding, "reserved", m.reserved);
    addEvidence(finding, "live", live);
    addEvidence(finding, "pools", static_cast<std::uint64_t>(owner.pools.size()));
    addEvidence(finding, "streams", static_cast<std::uint64_t>(owner.streams.size()));
    std::vector<std::int64_t> reserved;
    std::vector<std::int64_t> idle;
    std::vector<std::string> names;
    for (const auto& [pool, bytes] : owner.pools) {
        reserved.push_back(static_cast<std::int64_t>(bytes.reserved));
        idle.push_back(static_cast<std::int64_t>(bytes.idle));
        names.push_back(poolName(*input.replay.snapshot, pool));
    }
    addEvidence(finding, "reserved_by_pool", EvidenceValue(reserved));
    addEvidence(finding, "idle_by_pool", EvidenceValue(idle));
    addEvidence(finding, "pool_ids", EvidenceValue(names));
    finding.title = sizeText(m.inactive) + " idle in " + poolsText(input, owner, graphs) + ": "
        + sizeText(m.reserved) + " reserved, " + sizeText(live) + " live.";
    finding.explanation = graphs ? "A graph writes into this memory at every replay without an event in the "
                                   "trace, so it looks free and is not: "
                                   "nothing else may use it while the graph lives."
                                 : "A MemPool keeps what it reserved until its owner lets go; no request "
                                   "outside it may use the free part.";
    if (graphs)
        finding.fixes.push_back(makeFix("narrow-graph-scope",
            "Capture fewer modules (model.cuda_graph_scope), or run without graphs where memory decides.",
            Grade::D, "playbook row R10"));
    else
        finding.fixes.push_back(makeFix("release-mempool",
            "Delete the torch.cuda.MemPool once its tensors are gone, or use it only where its allocator is "
            "needed.",
            Grade::B));
    output.findings.push_back(std::move(finding));
}

void run(const RuleInput& input, RuleOutput& output, const Job&)
{
    const Replay& replay = input.replay;
    if (!isGpu(input) || !replay.segments.known())
        return;
    const SegmentState state = replay.segments.stateAt(replay.states() - 1, replay.timeline);
    // Graph captures name their pools (n, 0), user pools are (0, n).
    std::map<bool, Owner> owners;
    for (const SegmentView& s : state.segments) {
        if (index(s.pool) == 0)
            continue;
        Owner& owner = owners[replay.snapshot->pools[index(s.pool)].first != 0];
        Owner::Bytes& bytes = owner.pools[s.pool];
        bytes.reserved += s.size;
        bytes.idle += s.freeBytes;
        owner.streams.insert(s.stream);
        if (s.freeBytes > 0)
            owner.holding.push_back(s.id);
    }
    for (auto& [graphs, owner] : owners) {
        owner.metrics = metricsOf(
            state, [&pools = owner.pools](const SegmentView& s) { return pools.count(s.pool) != 0; });
        report(input, output, state, owner, graphs);
    }
}

} // namespace

extern const Rule poolHeldRule;
const Rule poolHeldRule{"pool-held", "R11",
    "Private pools of graphs or MemPools that hold memory nobody uses.", run, needs::segments};

} // namespace tidemark
