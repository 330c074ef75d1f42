// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/diagnosis.hpp"
#include "model/findings/rule.hpp"
#include "tests/support/trace_maker.hpp"

#include <QTest>

#include <algorithm>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr std::int64_t mib = 1LL << 20;
constexpr std::int64_t gib = 1LL << 30;
constexpr std::uint64_t base = 0x7f0000000000;

std::uint64_t at(std::int64_t mebibytes)
{
    return base + static_cast<std::uint64_t>(mebibytes * mib);
}

/// Phases, settings and card of a test's run, with everything the rules look at.
struct Run {
    std::shared_ptr<const Replay> replay;
    Phases phases;
    RunConfig config;
    std::optional<std::uint64_t> deviceTotal;
    std::vector<Role> roles; ///< by AllocationId

    explicit Run(TraceMaker& maker)
        : replay(Replay::build(maker.finish(), 0, {}).value())
    {
        phases.ofEvent.assign(replay->device().events.count(), Phase::Unknown);
        roles.assign(replay->timeline.allocations().count(), Role::Unknown);
    }
    void step(StateIndex first, StateIndex last) { phases.steps.push_back({"step", first, last, true}); }

    RuleOutput of(const char* id) const
    {
        const Sites sites = Sites::build(*replay->snapshot, SiteMode::User);
        Labels labels;
        labels.roleOf = roles;
        std::vector<OomAutopsy> ooms;
        for (const OomEvent& oom : replay->device().ooms)
            ooms.push_back(autopsy(*replay, oom, deviceTotal));
        const StateIndex peak = replay->timeline.requested().total().maxState;
        const auto live = replay->timeline.liveAt(peak);
        const StackFacts facts(*replay->snapshot);
        const RuleInput input{
            *replay, sites, sites, {}, phases, labels, facts, config, ooms, deviceTotal, 3, peak, live};
        for (const Rule& rule : rules())
            if (std::string(rule.id) == id) {
                RuleOutput output;
                rule.run(input, output, {});
                return output;
            }
        qFatal("there is no rule %s", id);
    }
    /// The only finding of a rule.
    Finding one(const char* id) const
    {
        const RuleOutput output = of(id);
        if (output.findings.size() != 1)
            qFatal("%s: %zu findings", id, output.findings.size());
        return output.findings.front();
    }
    std::size_t count(const char* id) const { return of(id).findings.size(); }
};

const Fix* fixOf(const Finding& finding, const char* id)
{
    const auto found = std::find_if(
        finding.fixes.begin(), finding.fixes.end(), [&](const Fix& fix) { return fix.id == id; });
    return found == finding.fixes.end() ? nullptr : &*found;
}

std::vector<std::string> idsOf(const Finding& finding)
{
    std::vector<std::string> ids;
    for (const Fix& fix : finding.fixes)
        ids.push_back(fix.id);
    return ids;
}

std::int64_t number(const Finding& finding, const char* key)
{
    for (const Evidence& each : finding.evidence)
        if (each.key == key)
            return std::get<std::int64_t>(each.value);
    qFatal("%s lacks %s", finding.rule.c_str(), key);
}

/// A segment with one block of `live` MiB at its start.
void segment(TraceMaker& maker, std::int64_t address, std::int64_t size, std::int64_t live,
    PoolId pool = PoolId{0}, std::int64_t stream = 0, StackId stack = StackId::none)
{
    maker.segment(at(address), size * mib, pool, stream);
    if (live > 0)
        maker.block(BlockState::Allocated, live * mib, live * mib, stack);
    if (live < size)
        maker.block(BlockState::Inactive, (size - live) * mib, 0);
}

void outOfMemory(TraceMaker& maker, std::int64_t request, std::int64_t free, StackId stack = StackId::none)
{
    maker.event(Action::Oom, 0, request * mib, stack).deviceFree = free * mib;
}

/// 3 × 75 MiB between blocks of 25 MiB, and a request of 90 MiB.
Run pinnedRun(bool expandable = false)
{
    TraceMaker maker;
    const StackId stack = maker.stack({"append@/app/cache.py:57"});
    for (int i = 0; i < 3; ++i)
        segment(maker, 200 * i, 100, 25, PoolId{0}, 0, stack);
    if (expandable)
        maker.builder().addSetting("expandable_segments", true);
    outOfMemory(maker, 90, 10);
    return Run(maker);
}

} // namespace

class TestRulesAllocator : public QObject {
    Q_OBJECT
private slots:
    void nothingInNothing();
    void fragmentation();
    void fragmentationFixes();
    void fragmentationWithoutFailure();
    void capacity();
    void partsOfTheOptimizerState();
    void ringsOfOneEvent();
    void wrongPool();
    void outsideAllocator();
    void thinMargin();
    void tight();
    void poolHeld();
    void unsharedPools();
    void pendingFrees();
    void allocatorRetries();
    void roundingWaste();
    void reservedCreep();
    void phaseReserved();
    void manySidePhases();
    void unreachableLargeBlocks();
    void allIdle();
    void setupPeak();
    void ranks();
};

void TestRulesAllocator::nothingInNothing()
{
    TraceMaker empty;
    empty.builder().device(0);
    const Run run(empty);
    TraceMaker plain;
    segment(plain, 0, 100, 100);
    const Run full(plain);
    for (const Rule& rule : rules()) {
        QVERIFY2(run.count(rule.id) == 0, rule.id);
        QVERIFY2(full.count(rule.id) == 0, rule.id);
    }
}

void TestRulesAllocator::fragmentation()
{
    const Finding f = pinnedRun().one("fragmentation");
    QCOMPARE(f.severity, Severity::Critical);
    QCOMPARE(f.bytes, std::uint64_t(225 * mib));
    QCOMPARE(f.count, std::uint64_t(3));
    QCOMPARE(f.allocations.size(), std::size_t(3));
    QCOMPARE(f.segments.size(), std::size_t(3));
    QCOMPARE(f.site, std::string("append@cache.py:57"));
    QCOMPARE(f.playbook, std::string("D1"));
    QCOMPARE(*f.rank, 3);
    QCOMPARE(number(f, "slack"), 145 * mib);
    QCOMPARE(number(f, "pins"), std::int64_t(3));
    QCOMPARE(number(f, "pinning_bytes"), 75 * mib);
    QCOMPARE(index(f.eventRange->first), std::size_t(0));
    QVERIFY(f.title.find("225\u00a0MiB") != std::string::npos);
    QCOMPARE(pinnedRun().count("capacity"), std::size_t(0));
}

void TestRulesAllocator::fragmentationFixes()
{
    Run run = pinnedRun();
    QVERIFY(fixOf(run.one("fragmentation"), "expandable-segments")->blockedBy.empty());
    QCOMPARE(run.one("fragmentation").fixes.front().id, std::string("expandable-segments"));
    QVERIFY(fixOf(run.one("fragmentation"), "empty-cache-before-optimizer")->blockedBy.empty());
    run.config.set("train.empty_unused_memory_level", std::int64_t(1));
    QCOMPARE(fixOf(run.one("fragmentation"), "empty-cache-before-optimizer")->blockedBy,
        std::string("it is on already"));
    run.config.set("ddp.nccl_ub", true);
    run.config.set("versions.torch", std::string("2.10.1"));
    QVERIFY(!fixOf(run.one("fragmentation"), "expandable-segments")->blockedBy.empty());
    run.config.set("versions.torch", std::string("2.11.0a0"));
    QVERIFY(fixOf(run.one("fragmentation"), "expandable-segments")->blockedBy.empty());
    QVERIFY(!fixOf(pinnedRun(true).one("fragmentation"), "expandable-segments"));
}

void TestRulesAllocator::fragmentationWithoutFailure()
{
    for (const bool fits : {false, true}) {
        TraceMaker maker;
        for (int i = 0; i < 3; ++i) {
            maker.event(Action::SegmentAlloc, at(2000 * i), gib);
            maker.alloc(at(2000 * i), 24 * mib);
        }
        maker.event(Action::SegmentAlloc, at(9000), (fits ? 900 : 1100) * mib);
        maker.alloc(at(9000), (fits ? 900 : 1100) * mib);
        maker.free(at(9000), (fits ? 900 : 1100) * mib);
        for (int i = 0; i < 3; ++i)
            segment(maker, 2000 * i, 1024, 24);
        segment(maker, 9000, fits ? 900 : 1100, 0);
        Run run(maker);
        QCOMPARE(run.count("fragmentation"), std::size_t(0)); // no steps are known
        run.step(1, 6);
        run.step(7, 10);
        QCOMPARE(run.count("fragmentation"), std::size_t(fits ? 0 : 1));
        if (fits)
            continue;
        const Finding f = run.one("fragmentation");
        QCOMPARE(f.severity, Severity::Warning);
        QCOMPARE(f.bytes, std::uint64_t(3000 * mib));
        QCOMPARE(number(f, "request"), 1100 * mib);
    }
}

void TestRulesAllocator::capacity()
{
    for (const bool expandable : {false, true}) {
        TraceMaker maker;
        const StackId stack = maker.stack({"forward@/app/logits.py:23"});
        segment(maker, 0, 100, 80, PoolId{0}, 0, stack);
        maker.builder().addSetting("expandable_segments", expandable);
        outOfMemory(maker, 100, 30);
        Run run(maker);
        const Finding f = run.one("capacity");
        QCOMPARE(f.bytes, std::uint64_t(50 * mib));
        QCOMPARE(f.playbook, std::string("D2"));
        QCOMPARE(f.site, std::string("forward@logits.py:23"));
        QCOMPARE(number(f, "largest_site_bytes"), 80 * mib);
        QVERIFY(!fixOf(f, "expandable-segments"));
        QCOMPARE(f.explanation.find("moot") != std::string::npos, expandable);
        QVERIFY(fixOf(f, "distributed-optimizer")->blockedBy.empty());
        run.config.set("optimizer.use_distributed_optimizer", true);
        QVERIFY(!fixOf(run.one("capacity"), "distributed-optimizer")->blockedBy.empty());
        QCOMPARE(run.count("fragmentation"), std::size_t(0));
        // What the memory is for is told where it is known.
        QVERIFY(f.explanation.find("Of what lives then") == std::string::npos);
        run.roles.front() = Role::SavedActivation;
        const Finding known = run.one("capacity");
        QVERIFY(known.explanation.find("MiB are saved activations.") != std::string::npos);
        QVERIFY(fixOf(known, "recompute")->text.find("Saved activations hold 80.0") != std::string::npos);
    }
}

/// Shards and offloading act on the allocations that labels call optimizer state.
void TestRulesAllocator::partsOfTheOptimizerState()
{
    TraceMaker maker;
    maker.alloc(at(0), 90 * mib);
    maker.alloc(at(100), 30 * mib);
    segment(maker, 0, 90, 90);
    segment(maker, 100, 30, 30);
    outOfMemory(maker, 100, 30);
    Run run(maker);
    run.roles.front() = Role::OptimizerState;
    run.config.set("model.num_layers", std::int64_t(4));
    const auto fix = [&](const char* id) { return *fixOf(run.one("capacity"), id); };
    QVERIFY(!fix("distributed-optimizer").edits); // over how many ranks?
    run.config.set("hardware.world_size", std::int64_t(6));
    run.config.set("model.tensor_model_parallel_size", std::int64_t(2));
    const Fix shards = fix("distributed-optimizer");
    QVERIFY(shards.edits && shards.predictable());
    QCOMPARE(shards.grade, Grade::C);
    QCOMPARE(shards.removedAtPeak, std::optional(60 * mib));
    QCOMPARE(shards.newPeak, std::optional(60 * mib));
    const Fix offload = fix("optimizer-offload");
    QCOMPARE(offload.grade, Grade::B);
    QCOMPARE(offload.removedAtPeak, std::optional(45 * mib));
    QCOMPARE(offload.newPeak, std::optional(75 * mib));
    run.config.set("optimizer.use_distributed_optimizer", false);
    QVERIFY(!fix("optimizer-offload").predictable());
    run.config.set("optimizer.use_distributed_optimizer", true);
    QVERIFY(fix("optimizer-offload").predictable());
    QVERIFY(!fix("distributed-optimizer").edits);
    run.roles.front() = Role::Unknown;
    QVERIFY(!fix("optimizer-offload").edits);
    QCOMPARE(fix("recompute").grade, Grade::C);
    QCOMPARE(fix("recompute").costGrade, std::optional(Grade::C));
}

/// What a file without a history lacks is one.
void TestRulesAllocator::ringsOfOneEvent()
{
    TraceMaker maker;
    maker.alloc(at(0), 100 * mib);
    segment(maker, 0, 100, 100);
    const Run run(maker);
    for (const char* rule : {"tight", "allocator-retries"})
        QVERIFY2(run.of(rule).undecided.empty(), rule); // the run of the rules says what they lack
}

void TestRulesAllocator::wrongPool()
{
    for (const bool isPrivate : {false, true}) {
        TraceMaker maker;
        segment(maker, 0, 100, 4, isPrivate ? maker.builder().pool(0, 1) : PoolId{0}, isPrivate ? 0 : 7);
        outOfMemory(maker, 60, 10);
        const Run run(maker);
        const Finding f = run.one("wrong-pool");
        QCOMPARE(f.bytes, std::uint64_t(96 * mib));
        QCOMPARE(f.count, std::uint64_t(1));
        QCOMPARE(f.severity, Severity::Critical);
        QCOMPARE(fixOf(f, "expandable-segments") != nullptr, !isPrivate);
        QCOMPARE(fixOf(f, "release-private-pool") != nullptr, isPrivate);
        QCOMPARE(run.count("fragmentation"), std::size_t(0));
    }
    QCOMPARE(pinnedRun().count("wrong-pool"), std::size_t(0));
}

void TestRulesAllocator::outsideAllocator()
{
    TraceMaker maker;
    segment(maker, 0, 1000, 1000);
    outOfMemory(maker, 60, 10);
    Run run(maker);
    QCOMPARE(run.count("outside-allocator"), std::size_t(0));
    QCOMPARE(run.of("outside-allocator").undecided.size(), std::size_t(1));
    run.deviceTotal = static_cast<std::uint64_t>(1010 * mib + 4 * gib);
    const Finding f = run.one("outside-allocator");
    QCOMPARE(f.bytes, std::uint64_t(4 * gib));
    QCOMPARE(number(f, "reserved"), 1000 * mib);
    run.deviceTotal = static_cast<std::uint64_t>(1010 * mib + 2 * gib);
    QCOMPARE(run.count("outside-allocator"), std::size_t(0));
    QVERIFY(run.of("outside-allocator").undecided.empty());
}

void TestRulesAllocator::thinMargin()
{
    TraceMaker maker;
    segment(maker, 0, 1000, 1000);
    outOfMemory(maker, 25, 20);
    const Finding f = Run(maker).one("thin-margin");
    QCOMPARE(f.bytes, std::uint64_t(5 * mib));
    QCOMPARE(f.grade, Grade::D);
    QCOMPARE(number(f, "slack"), -5 * mib);
    QCOMPARE(number(f, "one_percent_of_usable"), 1020 * mib / 100);
    QCOMPARE(
        idsOf(f), (std::vector<std::string>{"expandable-segments", "recompute", "distributed-optimizer"}));
    QCOMPARE(pinnedRun().count("thin-margin"), std::size_t(0));
}

void TestRulesAllocator::tight()
{
    TraceMaker maker;
    maker.event(Action::SegmentAlloc, at(0), 950 * mib);
    maker.alloc(at(0), 950 * mib);
    segment(maker, 0, 950, 950);
    Run run(maker);
    QCOMPARE(run.of("tight").undecided.size(), std::size_t(1));
    run.deviceTotal = static_cast<std::uint64_t>(1000 * mib);
    const Finding f = run.one("tight");
    QCOMPARE(f.bytes, std::uint64_t(50 * mib));
    QCOMPARE(f.lookAt, StateIndex(2));
    QCOMPARE(
        idsOf(f), (std::vector<std::string>{"expandable-segments", "recompute", "distributed-optimizer"}));
    run.config.set("model.num_layers", std::int64_t(4));
    run.config.set("optimizer.use_distributed_optimizer", true);
    QCOMPARE(idsOf(run.one("tight")).back(), std::string("optimizer-offload"));
    QCOMPARE(fixOf(run.one("tight"), "distributed-optimizer")->blockedBy, std::string("it is on already"));
    run.deviceTotal = static_cast<std::uint64_t>(1040 * mib);
    QCOMPARE(run.count("tight"), std::size_t(0));
    QVERIFY(run.of("tight").undecided.empty());
}

void TestRulesAllocator::poolHeld()
{
    TraceMaker maker;
    const PoolId user = maker.builder().pool(0, 1);
    segment(maker, 0, 100, 30, user);
    segment(maker, 200, 50, 0, user, 7);
    segment(maker, 400, 40, 0, maker.builder().pool(4, 0));
    segment(maker, 600, 40, 0, maker.builder().pool(5, 0));
    segment(maker, 800, 40, 1);
    const RuleOutput output = Run(maker).of("pool-held");
    QCOMPARE(output.findings.size(), std::size_t(2));
    QCOMPARE(output.findings[0].bytes, std::uint64_t(120 * mib)); // user pools come first
    QCOMPARE(output.findings[0].count, std::uint64_t(2));
    QCOMPARE(number(output.findings[0], "live"), 30 * mib);
    QCOMPARE(number(output.findings[0], "streams"), std::int64_t(2));
    QCOMPARE(output.findings[1].bytes, std::uint64_t(80 * mib));
    QCOMPARE(number(output.findings[1], "pools"), std::int64_t(2));

    TraceMaker used;
    segment(used, 0, 100, 100, used.builder().pool(0, 1));
    QCOMPARE(Run(used).count("pool-held"), std::size_t(0));
}

void TestRulesAllocator::unsharedPools()
{
    const auto bytes = [](std::initializer_list<std::int64_t> sizes, std::int64_t live = 0) {
        TraceMaker maker;
        std::int64_t id = 0;
        for (const std::int64_t size : sizes) {
            ++id;
            maker.event(Action::SegmentAlloc, at(10000 * id), size * mib);
        }
        id = 0;
        for (const std::int64_t size : sizes) {
            ++id;
            segment(maker, 10000 * id, size, live, maker.builder().pool(id, 0));
        }
        const RuleOutput output = Run(maker).of("unshared-pools");
        return output.findings.empty() ? std::int64_t(0)
                                       : static_cast<std::int64_t>(output.findings.front().bytes) / mib;
    };
    QCOMPARE(bytes({500, 400, 100}), std::int64_t(500)); // the first one serves all
    QCOMPARE(bytes({100, 400, 500}), std::int64_t(0)); // each is too small for the next
    QCOMPARE(bytes({400, 500, 300}), std::int64_t(300));
    QCOMPARE(bytes({500, 400}, 100), std::int64_t(300)); // what lives cannot be shared
    QCOMPARE(bytes({500}), std::int64_t(0));
}

void TestRulesAllocator::pendingFrees()
{
    for (const bool delayed : {true, false}) {
        TraceMaker maker;
        const StackId stack = maker.stack({"reduce@/app/comm.py:5"});
        maker.alloc(at(0), 100 * mib, stack);
        maker.alloc(at(200), 60 * mib, stack);
        maker.request(at(0), 100 * mib);
        if (delayed) {
            maker.request(at(200), 60 * mib);
            maker.complete(at(0), 100 * mib);
            maker.complete(at(200), 60 * mib);
        } else {
            maker.complete(at(0), 100 * mib);
            maker.free(at(200), 60 * mib);
        }
        const Run run(maker);
        QCOMPARE(run.count("pending-frees"), std::size_t(delayed ? 1 : 0));
        if (!delayed)
            continue;
        const Finding f = run.one("pending-frees");
        QCOMPARE(f.bytes, std::uint64_t(160 * mib));
        QCOMPARE(f.count, std::uint64_t(2));
        QCOMPARE(f.site, std::string("reduce@comm.py:5"));
        QCOMPARE(number(f, "pending_at_end"), std::int64_t(0));
    }
}

void TestRulesAllocator::allocatorRetries()
{
    TraceMaker maker;
    StateIndex state = 0;
    std::vector<std::pair<StateIndex, StateIndex>> steps;
    for (int i = 0; i < 4; ++i) {
        const StateIndex first = state + 1;
        if (i > 0) {
            maker.event(Action::SegmentFree, at(1000 * i), 100 * mib);
            ++state;
        }
        maker.event(Action::SegmentAlloc, at(1000 * (i + 1)), 100 * mib);
        maker.alloc(at(1000 * (i + 1)), 100 * mib);
        maker.free(at(1000 * (i + 1)), 100 * mib);
        state += 4;
        steps.emplace_back(first, state);
    }
    segment(maker, 4000, 100, 0);
    Run run(maker);
    QCOMPARE(run.count("allocator-retries"), std::size_t(0)); // no steps are known
    for (const auto& [first, last] : steps)
        run.step(first, last);
    const Finding f = run.one("allocator-retries");
    QCOMPARE(f.bytes, std::uint64_t(300 * mib));
    QCOMPARE(f.count, std::uint64_t(3));
    QCOMPARE(number(f, "steps_with_flush"), std::int64_t(3));
    QVERIFY(f.explanation.find("garbage_collection_threshold") == std::string::npos);
}

void TestRulesAllocator::roundingWaste()
{
    for (const bool waste : {true, false}) {
        TraceMaker maker;
        maker.segment(at(0), 512 * mib);
        maker.block(BlockState::Allocated, 512 * mib, (waste ? 300 : 505) * mib);
        const Run run(maker);
        QCOMPARE(run.count("rounding-waste"), std::size_t(waste ? 1 : 0));
        if (waste) {
            QCOMPARE(run.one("rounding-waste").bytes, std::uint64_t(212 * mib));
            QCOMPARE(run.one("rounding-waste").count, std::uint64_t(1));
            QCOMPARE(number(run.one("rounding-waste"), "block_bytes"), 512 * mib);
        }
    }
}

void TestRulesAllocator::reservedCreep()
{
    for (const bool live : {false, true}) {
        TraceMaker maker;
        for (int i = 0; i < 6; ++i) {
            maker.event(Action::SegmentAlloc, at(1000 * i), 100 * mib);
            maker.alloc(at(1000 * i), 100 * mib);
            if (!live)
                maker.free(at(1000 * i), 100 * mib);
        }
        for (int i = 0; i < 6; ++i)
            segment(maker, 1000 * i, 100, live ? 100 : 0);
        Run run(maker);
        const StateIndex each = live ? 2 : 4;
        for (StateIndex i = 0; i < 6; ++i)
            run.step(i * each + 1, (i + 1) * each);
        QCOMPARE(run.count("reserved-creep"), std::size_t(live ? 0 : 1));
        if (live)
            continue;
        const Finding f = run.one("reserved-creep");
        QCOMPARE(f.bytes, std::uint64_t(400 * mib));
        QCOMPARE(f.count, std::uint64_t(4));
        run.phases.steps.resize(3);
        QCOMPARE(run.count("reserved-creep"), std::size_t(0));
        QCOMPARE(run.of("reserved-creep").undecided.size(), std::size_t(1));
    }
}

void TestRulesAllocator::phaseReserved()
{
    for (const bool usedLater : {false, true}) {
        TraceMaker maker;
        maker.event(Action::SegmentAlloc, at(0), 100 * mib); // state 1
        maker.alloc(at(0), 100 * mib); // 2
        maker.event(Action::SegmentAlloc, at(1000), 94 * mib); // 3: side phase
        maker.alloc(at(1000), 94 * mib); // 4
        maker.free(at(1000), 94 * mib); // 5, 6
        maker.free(at(0), 100 * mib); // 7, 8: the program goes on
        maker.alloc(at(usedLater ? 1000 : 0), 90 * mib); // 9
        maker.free(at(usedLater ? 1000 : 0), 90 * mib); // 10, 11
        segment(maker, 0, 100, 0);
        segment(maker, 1000, 94, 0);
        Run run(maker);
        QCOMPARE(run.count("phase-reserved"), std::size_t(0));
        run.phases.spans.push_back({Phase::Side, 3, 6, true});
        QCOMPARE(run.count("phase-reserved"), std::size_t(usedLater ? 0 : 1));
        if (usedLater)
            continue;
        const Finding f = run.one("phase-reserved");
        QCOMPARE(f.bytes, std::uint64_t(94 * mib));
        QCOMPARE(f.count, std::uint64_t(1));
    }
}

/// Each side phase leaves a segment behind: the largest are told, in order, the others counted.
void TestRulesAllocator::manySidePhases()
{
    TraceMaker maker;
    std::vector<std::int64_t> sizes;
    for (int i = 0; i < 23; ++i) {
        sizes.push_back(i % 2 == 0 ? 40 + i : 80 + i);
        maker.event(Action::SegmentAlloc, at(1000 * i), sizes.back() * mib);
        maker.alloc(at(1000 * i), sizes.back() * mib);
        maker.free(at(1000 * i), sizes.back() * mib);
        maker.event(Action::SegmentAlloc, at(500000 + 100 * i), 2 * mib);
    }
    for (int i = 0; i < 23; ++i)
        segment(maker, 1000 * i, sizes[static_cast<std::size_t>(i)], 0);
    for (int i = 0; i < 23; ++i)
        segment(maker, 500000 + 100 * i, 2, 0);
    Run run(maker);
    for (StateIndex i = 0; i < 23; ++i) {
        run.phases.spans.push_back({Phase::Side, i * 5 + 1, i * 5 + 4, true});
        run.phases.spans.push_back({Phase::Forward, i * 5 + 5, i * 5 + 5, true});
    }
    const RuleOutput output = run.of("phase-reserved");
    QCOMPARE(output.findings.size(), std::size_t(20));
    QCOMPARE(output.findings.front().bytes, std::uint64_t(81 * mib)); // 40, 42 and 44 MiB are the least
    QCOMPARE(output.findings.back().bytes, std::uint64_t(62 * mib));
    QCOMPARE(output.undecided.size(), std::size_t(1));
    QVERIFY(output.undecided.front().needs.find("3 more side phases") != std::string::npos);
}

void TestRulesAllocator::unreachableLargeBlocks()
{
    for (const std::int64_t limit : {std::int64_t(128) * mib, std::int64_t(-1)}) {
        TraceMaker maker;
        segment(maker, 0, 254, 0);
        segment(maker, 1000, 200, 72);
        segment(maker, 2000, 200, 100);
        maker.builder().addSetting("max_split_size", limit);
        const Run run(maker);
        QCOMPARE(run.count("unreachable-large-blocks"), std::size_t(limit > 0 ? 1 : 0));
        if (limit < 0)
            continue;
        const Finding f = run.one("unreachable-large-blocks");
        QCOMPARE(f.bytes, std::uint64_t((254 + 128) * mib));
        QCOMPARE(f.count, std::uint64_t(2));
        QCOMPARE(f.severity, Severity::Info);
    }
}

void TestRulesAllocator::allIdle()
{
    for (const bool live : {false, true}) {
        TraceMaker maker;
        segment(maker, 0, 100, 0);
        segment(maker, 1000, 60, live ? 1 : 0);
        segment(maker, 2000, 30, 0, maker.builder().pool(1, 0));
        const Run run(maker);
        QCOMPARE(run.count("all-idle"), std::size_t(live ? 0 : 1));
        if (!live)
            QCOMPARE(run.one("all-idle").bytes, std::uint64_t(160 * mib));
    }
}

void TestRulesAllocator::setupPeak()
{
    TraceMaker maker;
    const StackId stack = maker.stack({"load@/app/model.py:5"});
    maker.event(Action::SegmentAlloc, at(0), 100 * mib); // state 1
    maker.alloc(at(0), 100 * mib, stack); // 2: the peak
    maker.free(at(0), 100 * mib); // 3, 4
    maker.alloc(at(0), 60 * mib); // 5
    segment(maker, 0, 100, 60);
    Run run(maker);
    QCOMPARE(run.count("setup-peak"), std::size_t(0)); // no forward is known
    run.phases.firstForward = 5;
    const Finding f = run.one("setup-peak");
    QCOMPARE(f.bytes, std::uint64_t(100 * mib));
    QCOMPARE(f.site, std::string("load@model.py:5"));
    QCOMPARE(number(f, "above_steps"), 40 * mib);
    run.phases.firstForward = 2;
    QCOMPARE(run.count("setup-peak"), std::size_t(0));
}

void TestRulesAllocator::ranks()
{
    QCOMPARE(rankFromName("snapshot_oom_rank-3.pickle"), std::optional<int>(3));
    QCOMPARE(rankFromName("rank0_memory_snapshot.pickle"), std::optional<int>(0));
    QCOMPARE(rankFromName("/runs/rank7/snapshot_12.pickle.gz"), std::optional<int>(12));
    QCOMPARE(rankFromName("step_12_rank_7.pickle"), std::optional<int>(7));
    QCOMPARE(rankFromName("oom_Rank5.pickle"), std::optional<int>(5));
    QCOMPARE(rankFromName("snapshot_20260714.pickle"), std::nullopt);
    QCOMPARE(rankFromName("snapshot.pickle"), std::nullopt);
    QCOMPARE(rankFromName("frank.pickle"), std::nullopt);
    QCOMPARE(rankFromName("12.pickle"), std::nullopt);
    QCOMPARE(rankFromName(""), std::nullopt);
}

QTEST_GUILESS_MAIN(TestRulesAllocator)
#include "tst_rules_allocator.moc"
