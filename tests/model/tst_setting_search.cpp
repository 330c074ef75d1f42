// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/setting_bar.hpp"
#include "model/simulate/setting_search.hpp"
#include "tests/support/model_recorder.hpp"

#include <QTest>

#include <algorithm>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr std::uint64_t mib = 1ULL << 20;

std::shared_ptr<const Simulation> simulationOf(std::shared_ptr<const Snapshot> snapshot)
{
    return Simulation::build(Replay::build(std::move(snapshot), 0, {}).value(), {}).value();
}

const SettingTrial* named(const std::vector<SettingTrial>& trials, std::string_view text)
{
    const auto found = std::find_if(
        trials.begin(), trials.end(), [&](const SettingTrial& t) { return t.change.text == text; });
    return found == trials.end() ? nullptr : &*found;
}

} // namespace

/// Which single setting fits with the most headroom?
class TestSettingSearch : public QObject {
    Q_OBJECT
private slots:
    void changesDiffer();
    void expandableIsBest();
    void barredOnesAreNoAdvice();
    void needsAreHonest();
    void noChangeIsBest();
    void line_data();
    void line();
    void ascend();
    void versions();
    void stopping();
};

/// Every change is one setting, differs from the recorded ones and can be told as a line to paste.
void TestSettingSearch::changesDiffer()
{
    for (const char* conf : {"", "expandable_segments:True", "max_split_size_mb:128",
             "roundup_power2_divisions:4,garbage_collection_threshold:0.8,per_process_memory_fraction:0.9"}) {
        AllocatorSettings own;
        QVERIFY(own.apply(conf));
        const auto changes = singleChanges(own);
        QVERIFY(changes.size() > 5);
        QVERIFY(changes[0].text.empty() && changes[0].settings == own);
        for (std::size_t i = 1; i < changes.size(); ++i) {
            QVERIFY(!(changes[i].settings == own));
            for (std::size_t j = 1; j < i; ++j)
                QVERIFY(!(changes[i].settings == changes[j].settings));
            AllocatorSettings again;
            QVERIFY(again.apply(changes[i].settings.conf()) && again == changes[i].settings);
        }
        const bool split = std::any_of(changes.begin(), changes.end(),
            [](const SettingChange& c) { return c.text == "without max_split_size_mb"; });
        QCOMPARE(split, own.splitLimited());
    }
    AllocatorSettings own;
    QVERIFY(!own.reset("max_split_size"));
}

void TestSettingSearch::expandableIsBest()
{
    const auto simulation = simulationOf(fragmentedProgram());
    const auto ranked = rankSettings(*simulation, {}, {}, {}).value();
    QCOMPARE(ranked.front().change.text, "expandable_segments:True");
    QVERIFY(ranked.front().fits && ranked.front().servedFailure);
    QCOMPARE(bestChange(ranked), &ranked.front());
    const SettingTrial* own = named(ranked, "");
    QVERIFY(own != nullptr && !own->fits && own->outOfMemory && own->outOfMemory->recorded);
    QCOMPARE(
        own->peakReserved, std::uint64_t(simulation->recording().replay->segments.reserved().total().max));
    QVERIFY(!own->headroom);
    // Best first: whatever fits stands before what does not, and needs grow.
    for (std::size_t i = 1; i < ranked.size(); ++i) {
        QVERIFY(ranked[i - 1].barred.empty() || !ranked[i].barred.empty());
        if (ranked[i].fits)
            QVERIFY(ranked[i - 1].fits && ranked[i - 1].needs / (64 * mib) <= ranked[i].needs / (64 * mib));
    }
}

void TestSettingSearch::barredOnesAreNoAdvice()
{
    const auto simulation = simulationOf(fragmentedProgram());
    const auto ranked = rankSettings(*simulation, {},
        [](const AllocatorSettings& s) { return s.expandableSegments ? "not here" : std::string(); }, {})
                            .value();
    const SettingTrial* barred = named(ranked, "expandable_segments:True");
    QVERIFY(barred != nullptr);
    QCOMPARE(barred->barred, "not here");
    QVERIFY(!barred->fits && barred->peakReserved == 0);
    QVERIFY(bestChange(ranked) != barred);
    QVERIFY(!named(ranked, "garbage_collection_threshold:0.8")->barred.empty());
}

/// What is said to be needed suffices, and a little less does not.
void TestSettingSearch::needsAreHonest()
{
    const auto simulation = simulationOf(fragmentedProgram());
    const auto ranked = rankSettings(*simulation, {}, {}, {}).value();
    for (const SettingTrial& trial : ranked) {
        if (!trial.fits)
            continue;
        WhatIfWish wish;
        wish.settings = trial.change.settings;
        wish.capacity = trial.needs;
        QVERIFY2(simulation->run(wish, {})->fits(), trial.change.text.c_str());
        QCOMPARE(*trial.headroom, 7950 * mib - trial.needs);
        wish.capacity = trial.needs - std::max(33 * mib, trial.needs / 900);
        QVERIFY2(!simulation->run(wish, {})->fits(), trial.change.text.c_str());
    }
}

/// Where nothing is gained, nothing is advised.
void TestSettingSearch::noChangeIsBest()
{
    ModelRecorder recorder({}, 8000 * mib);
    recorder.startRecording();
    for (int i = 0; i < 8; ++i)
        recorder.allocate(100 * mib);
    const auto simulation = simulationOf(recorder.finish());
    const auto ranked = rankSettings(*simulation, {}, {}, {}).value();
    QVERIFY(bestChange(ranked) == nullptr);
    QVERIFY(ranked.front().fits && !ranked.front().headroom); // the recording does not tell the capacity
    QCOMPARE(named(ranked, "")->needs, 800 * mib);
}

void TestSettingSearch::line_data()
{
    QTest::addColumn<std::string>("recorded");
    QTest::addColumn<std::string>("tried");
    QTest::addColumn<std::string>("line");
    const auto row = [](const char* recorded, const char* tried, const char* line) {
        QTest::newRow(line) << std::string(recorded) << std::string(tried) << std::string(line);
    };
    row("", "expandable_segments:True", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
    row("max_split_size_mb:128", "", "unset PYTORCH_CUDA_ALLOC_CONF");
    row("backend:native,pinned_use_cuda_host_register:True,max_split_size_mb:128", "expandable_segments:True",
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,backend:native,pinned_use_cuda_host_register:True");
    row("backend:native", "", "PYTORCH_CUDA_ALLOC_CONF=backend:native");
    // A shell would act on these.
    row("backend:native;reboot,$(id):1,pinned_num_register_threads:8", "",
        "PYTORCH_CUDA_ALLOC_CONF=pinned_num_register_threads:8");
}

/// The whole line: the other keys of the recorded process stay.
void TestSettingSearch::line()
{
    QFETCH(std::string, recorded);
    QFETCH(std::string, tried);
    QFETCH(std::string, line);
    SnapshotBuilder builder;
    builder.addSetting("PYTORCH_CUDA_ALLOC_CONF", recorded);
    AllocatorSettings settings;
    QVERIFY(settings.apply(tried));
    QCOMPARE(settingsLine(*builder.finish(), settings), line);
}

/// torch_npu has a variable of its own, and refuses some pairs.
void TestSettingSearch::ascend()
{
    AllocatorSettings settings;
    settings.baseAlign = 16 << 10;
    settings.expandableSegments = true;
    QCOMPARE(settingsLine(*SnapshotBuilder().finish(), settings),
        std::string("PYTORCH_NPU_ALLOC_CONF=expandable_segments:True"));
    QCOMPARE(settingBarred({}, settings), std::string());
    for (const char* conf : {"max_split_size_mb:128", "garbage_collection_threshold:0.8"}) {
        AllocatorSettings both = settings;
        QVERIFY(both.apply(conf));
        QVERIFY(settingBarred({}, both).starts_with("torch_npu refuses"));
        both.expandableSegments = false;
        QCOMPARE(settingBarred({}, both), std::string());
    }
}

/// What PyTorch has since 2.10 is marked unless the version is known or the recorded run had it.
void TestSettingSearch::versions()
{
    for (const char* conf : {"large_segment_size_mb:32", "per_process_memory_fraction:0.5"}) {
        AllocatorSettings settings;
        QVERIFY(settings.apply(conf));
        QCOMPARE(settingNeeds({}, settings, {}), std::string("PyTorch 2.10"));
        QCOMPARE(settingNeeds({}, settings, settings), std::string());
        QCOMPARE(settingNeeds({}, {}, {}), std::string());
    }
}

void TestSettingSearch::stopping()
{
    const auto simulation = simulationOf(fragmentedProgram());
    std::stop_source source;
    source.request_stop();
    const auto stopped = rankSettings(*simulation, {}, {}, Job{source.get_token(), {}});
    QVERIFY(!stopped);
    QCOMPARE(stopped.error().code, ErrorCode::Cancelled);
}

QTEST_GUILESS_MAIN(TestSettingSearch)
#include "tst_setting_search.moc"
