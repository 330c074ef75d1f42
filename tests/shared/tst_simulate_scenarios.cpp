// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/reader.hpp"
#include "model/simulate/what_if.hpp"
#include "tests/support/made_up_program.hpp"
#include "tests/support/shared_paths.hpp"

#include <nlohmann/json.hpp>

#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace tidemark;
using namespace tidemark::test;

/// Whether expandable segments would have helped: against scenarios whose truth is known, and the allocator
/// against programs that the Python reference makes up on the spot.
class TestSimulateScenarios : public QObject {
    Q_OBJECT
private slots:
    void scenarios_data();
    void scenarios();
    void otherPrograms();

private:
    static QByteArray python(const QStringList& arguments, bool& there);
    int compareFolder(const std::filesystem::path& folder);
};

QByteArray TestSimulateScenarios::python(const QStringList& arguments, bool& there)
{
    QProcess process;
    process.start("python3", arguments);
    there = process.waitForStarted();
    if (!there || !process.waitForFinished(300000) || process.exitCode() != 0)
        return process.readAllStandardError();
    return process.readAllStandardOutput();
}

void TestSimulateScenarios::scenarios_data()
{
    if (sharedFolder().empty())
        QSKIP("The outside test material is not here: set TIDEMARK_SHARED.");
    QTest::addColumn<QString>("arguments");
    QTest::addColumn<int>("truths");
    const auto row
        = [](const char* arguments, int truths) { QTest::newRow(arguments) << arguments << truths; };
    row("SC-01", 1);
    row("SC-01 ranks=2 fail_rank=1 layers=16 act_mib=2048 pin_mib=100 param_mib=8000 grad_mib=16000", 1);
    row("SC-01 ranks=2 fail_rank=0 layers=30 act_mib=1200 pin_mib=48 noise=3 --torch-version 2.14", 1);
    row("SC-01 ranks=1 fail_rank=0 --scale 0.1 --torch-version 2.1", 1);
    row("SC-01 ranks=1 fail_rank=0 layers=20 act_mib=1800 pin_mib=70 noise=5", 1);
    row("SC-02", 0);
    row("SC-03", 0);
    row("SC-08", 0);
    row("SC-10", 0);
    row("SC-10 shared=1 order=ascending expandable=1", 0);
    row("SC-13 dump=pending", 0);
    row("SC-15", 0);
    row("SC-16", 1);
    row("SC-16 stranded_mib=9000 pieces=9 request_mib=5000 --torch-version 2.1", 1);
    row("SC-16 private=1", 1);
}

/// Compares the predictions with what is known; returns how many were known.
int TestSimulateScenarios::compareFolder(const std::filesystem::path& folder)
{
    nlohmann::json expected;
    std::ifstream(folder / "expected.json") >> expected;
    int truths = 0;
    for (const nlohmann::json& file : expected["files"]) {
        const auto read = readSnapshot(folder / file["file"].get<std::string>(), {}, {});
        if (!read)
            return -1;
        for (std::size_t d = 0; d < (*read)->devices.size(); ++d) {
            const auto built = Simulation::build(Replay::build(*read, d, {}).value(), {});
            if (!built)
                continue;
            const Simulation& simulation = **built;
            if (simulation.fidelity().score() < 1.0)
                return -2;
            WhatIfWish wish;
            wish.settings = simulation.recording().settings;
            const auto same = simulation.run(wish, {});
            const Replay& replay = *simulation.recording().replay;
            if (same
                && (std::int64_t(same->endReserved) != replay.segments.reserved().last()
                    || same->outOfMemory.has_value() != !replay.device().ooms.empty()))
                return -3;
            wish.settings.expandableSegments = true;
            const auto other = simulation.run(wish, {});
            for (const nlohmann::json& finding : file["must"]) {
                const auto& evidence = finding.value("evidence", nlohmann::json::object());
                if (!evidence.contains("whatif_expandable_fits"))
                    continue;
                if (!other || other->fits() != evidence["whatif_expandable_fits"].get<bool>()
                    || other->peakReserved != evidence["whatif_expandable_peak_reserved"].get<std::uint64_t>()
                    || other->counts.flushes != evidence["whatif_expandable_flushes"].get<std::uint64_t>())
                    return -4;
                ++truths;
            }
        }
    }
    return truths;
}

void TestSimulateScenarios::scenarios()
{
    QFETCH(QString, arguments);
    QFETCH(int, truths);
    QTemporaryDir out;
    QStringList words{QString::fromStdString((sharedFolder() / "tools" / "scenarios.py").string()), "make"};
    for (const QString& word : arguments.split(' '))
        words += word.contains('=') ? QStringList{"--param", word} : QStringList{word};
    bool there = false;
    python(words + QStringList{"--out", out.path()}, there);
    if (!there)
        QSKIP("python3 is not here.");
    int found = 0;
    int folders = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(out.path().toStdString())) {
        if (entry.path().filename() != "expected.json")
            continue;
        ++folders;
        const int known = compareFolder(entry.path().parent_path());
        QVERIFY2(known >= 0, std::to_string(known).c_str());
        found += known;
    }
    QVERIFY(folders > 0);
    QCOMPARE(found, truths);
}

/// As in the fixture of tst_simulate, with other seeds.
void TestSimulateScenarios::otherPrograms()
{
    if (sharedFolder().empty())
        QSKIP("The outside test material is not here: set TIDEMARK_SHARED.");
    const QString program = QStringLiteral(TIDEMARK_TEST_DATA "/allocator_placements.py");
    bool there = false;
    const QByteArray lines = python(
        {program, QString::fromStdString((sharedFolder() / "tools").string()), "700000", "300"}, there);
    if (!there)
        QSKIP("python3 is not here.");
    const QList<QByteArray> all = lines.trimmed().split('\n');
    QCOMPARE(all.size(), 300);
    for (const QByteArray& line : all)
        QCOMPARE(MadeUpProgram(std::stoull(line.toStdString())).run(), line.toStdString());
}

QTEST_GUILESS_MAIN(TestSimulateScenarios)
#include "tst_simulate_scenarios.moc"
