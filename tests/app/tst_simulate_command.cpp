// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/command_call.hpp"
#include "tests/support/model_recorder.hpp"
#include "tests/support/snapshot_json.hpp"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace tidemark;
using namespace tidemark::test;
using Json = nlohmann::json;

namespace {

constexpr std::uint64_t mib = 1ULL << 20;

/// Nine blocks of 100 MiB; with `fails` a request that fails.
std::shared_ptr<const Snapshot> plentyOfRoom(bool fails)
{
    ModelRecorder recorder({}, 1024 * mib);
    recorder.setConf("backend:native,pinned_use_cuda_host_register:True");
    recorder.startRecording();
    for (int i = 0; i < 9; ++i)
        recorder.allocate(100 * mib);
    if (fails)
        recorder.allocate(300 * mib);
    return recorder.finish();
}

/// QCOMPARE cannot take JSON itself; keys are sorted.
QString text(const Json& json)
{
    return QString::fromStdString(json.dump());
}

} // namespace

/// tidemark simulate: what it says of a run that failed for lack of memory in one piece.
class TestSimulateCommand : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        const Json json = snapshotJson(*fragmentedProgram());
        write("run.json", json);
        Json filtered = json; // events are missing: where memory is cannot be followed
        Json& trace = filtered["device_traces"][0];
        for (auto event = trace.begin(); event != trace.end();)
            event = (*event)["action"] == "free_completed" ? trace.erase(event) : event + 1;
        write("filtered.json", filtered);
        Json untold = snapshotJson(*plentyOfRoom(true));
        for (Json& event : untold["device_traces"][0])
            event.erase("device_free");
        write("free.json", untold);
        write("room.json", snapshotJson(*plentyOfRoom(false)));
        write("empty.json", {{"segments", Json::array()}, {"device_traces", {Json::array()}}});
    }

    void wrongUsage_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("says");
        const QString file = path("run.json");
        const auto row = [](const QStringList& arguments, const char* says) {
            QTest::newRow(says) << QStringList("simulate") + arguments << says;
        };
        row({}, "needs one file");
        row({file, file}, "simulate needs one file");
        row({file, "--set", "fast"}, "--set needs KEY=VALUE");
        row({file, "--set", "speed=1"}, "no setting \"speed\"");
        row({file, "--set", "speed=default"}, "has no setting \"speed\"");
        row({file, "--set", "max_split_size_mb=5"}, "at least 20");
        row({file, "--set", "large_segment_size_mb=2"}, "above 10");
        row({file, "--capacity", "-1"}, "--capacity needs");
        row({file, "--device", "4"}, "no device 4");
        row({file, "--search", "--search"}, "given twice");
    }

    void wrongUsage()
    {
        QFETCH(QStringList, arguments);
        QFETCH(QString, says);
        const CommandOutcome outcome = callCommand(arguments);
        QCOMPARE(outcome.status, std::optional(2));
        QCOMPARE(outcome.out, QString());
        QVERIFY2(outcome.err.contains(says), qPrintable(outcome.err));
    }

    /// The keys that scripts rely on, and figures that agree with each other.
    void expandableSegments()
    {
        const Json json = simulated({"--set", "expandable_segments=True"});
        QCOMPARE(text(json["settings"]["expandable_segments"]), text(Json(true)));
        QCOMPARE(text(json["settings"]["conf"]), text(Json("expandable_segments:True")));
        QCOMPARE(text(json["recorded_settings"]["expandable_segments"]), text(Json(false)));
        const Json& fidelity = json["fidelity"];
        QCOMPARE(text(fidelity["addresses_matched"]), text(fidelity["addresses"]));
        QVERIFY(fidelity["addresses"] > 80);
        QCOMPARE(text(fidelity["segment_allocs_matched"]), text(fidelity["segment_allocs"]));
        QCOMPARE(text(fidelity["score"]), text(Json(1.0)));
        QCOMPARE(text(json["recorded"]["oom"]), text(Json(true)));
        QCOMPARE(text(json["recorded"]["flushes"]), text(Json(1)));
        QCOMPARE(text(json["predicted"]["oom"]), text(Json(false)));
        QCOMPARE(text(json["predicted"]["served_failure_event"]), text(json["recorded"]["oom_event"]));
        QVERIFY(json["predicted"]["peak_reserved"] <= json["capacity"]);
        QCOMPARE(text(json["capacity"]), text(Json(7950 * mib)));
        QCOMPARE(text(json["refusal"]), text(Json(nullptr)));
        QCOMPARE(text(json["capacity_inferred"]), text(Json(false)));
        QCOMPARE(text(json["grade"]), text(Json("B")));
        QCOMPARE(text(json["line"]), text(Json("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True")));
        QCOMPARE(text(json["no_effect"]), text(Json(nullptr)));
        QVERIFY(!json.contains("search"));
    }

    /// Nothing changed: what is predicted is what was recorded.
    void unchanged()
    {
        const Json json = simulated({});
        for (const char* key :
            {"peak_reserved", "end_reserved", "flushes", "segment_allocs", "segment_frees", "maps", "oom"})
            QVERIFY2(json["recorded"][key] == json["predicted"][key], key);
        QCOMPARE(text(json["predicted"]["out_of_memory"]["recorded"]), text(Json(true)));
    }

    void severalSettings()
    {
        const Json json = simulated({"--set", "expandable_segments:True", "--set=roundup_power2_divisions=4",
            "--set", "max_split_size_mb=default", "--capacity", "4000000000"});
        QCOMPARE(text(json["settings"]["conf"]),
            text(Json("expandable_segments:True,roundup_power2_divisions:4")));
        QCOMPARE(text(json["capacity_source"]), text(Json("given")));
        QCOMPARE(text(json["predicted"]["oom"]), text(Json(true)));
        QCOMPARE(text(json["predicted"]["out_of_memory"]["recorded"]), text(Json(false)));
    }

    void searching()
    {
        const Json json = simulated({"--search"});
        QCOMPARE(text(json["settings"]["conf"]), text(Json("expandable_segments:True")));
        QVERIFY(json["search"].size() > 8);
        QCOMPARE(text(json["search"][0]["change"]), text(Json("expandable_segments:True")));
        QCOMPARE(text(json["search"][0]["fits"]), text(Json(true)));
        QCOMPARE(text(json["search"][0]["served_failure_event"]), text(json["recorded"]["oom_event"]));
        for (const Json& trial : json["search"])
            QCOMPARE(trial["needs_version"] == Json("PyTorch 2.10"),
                trial["change"].get<std::string>().starts_with("large_segment_size_mb"));
        QCOMPARE(text(json["search"].back()["change"]), text(Json("garbage_collection_threshold:0.8")));
        QVERIFY(json["search"].back()["barred"].is_string());
    }

    /// A configuration that rules expandable segments out is obeyed.
    void barred()
    {
        write("run_config.yaml", "ddp:\n  nccl_ub: true\n");
        const QString config = path("run_config.yaml");
        const Json json = simulated({"--search", "--config", config});
        QVERIFY(json["settings"]["conf"] != Json("expandable_segments:True"));
        const CommandOutcome forced
            = callCommand({"simulate", path("run.json"), "--set", "expandable_segments=True"});
        QVERIFY2(forced.out.contains("Not to be used here: ddp.nccl_ub"), qPrintable(forced.out));
        QVERIFY(!forced.out.contains("\nPYTORCH_CUDA_ALLOC_CONF="));
        const Json same = simulated({"--set", "expandable_segments=True", "--config", config});
        QVERIFY(same["barred"].is_string());
        QCOMPARE(text(same["line"]), text(Json(nullptr)));
        QVERIFY(QFile::remove(config));
    }

    void asText()
    {
        const CommandOutcome outcome
            = callCommand({"simulate", path("run.json"), "--set", "expandable_segments=True"});
        QCOMPARE(outcome.status, std::optional(0));
        QCOMPARE(outcome.err, QString());
        for (const char* words : {"fidelity       100.0\u00a0%", "recorded with  PyTorch's defaults",
                 "peak reserved", "flushes of the cache", "is served. How the run would have gone on",
                 "\nPYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n"})
            QVERIFY2(outcome.out.contains(words), qPrintable(outcome.out));
        const CommandOutcome search = callCommand({"simulate", path("run.json"), "--search"});
        for (const char* words : {"(as recorded)", "runs out at event", "not here: it acts only together",
                 "\nPYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n"})
            QVERIFY2(search.out.contains(words), qPrintable(search.out));
    }

    /// A capacity that no file states is not told as a fact.
    void inferredCapacity()
    {
        const Json json = simulatedFile("free.json", {});
        QCOMPARE(text(json["capacity"]), text(Json(900 * mib)));
        QCOMPARE(text(json["capacity_source"]), text(Json("failure")));
        QCOMPARE(text(json["capacity_inferred"]), text(Json(true)));
        QCOMPARE(text(json["grade"]), text(Json("D")));
        says({"free.json"},
            {"capacity       inferred: 900 MiB, the most that was reserved; a request failed",
                "grade          D, since the capacity is only inferred"});
        says({"free.json", "--search"}, {"The capacity is only inferred, so what fits"});
        says({"free.json", "--set", "large_segment_size_mb=2000"},
            {"grade          D", "PyTorch 2.10; which version the run has is not known"});
        says({"free.json", "--capacity", "1073741824"},
            {"capacity       1.00 GiB, as given", "grade          B"});
        QCOMPARE(text(simulatedFile("free.json", {"--capacity", "1073741824"})["grade"]), text(Json("B")));
    }

    /// A setting that cannot act is no advice.
    void withoutEffect()
    {
        const QStringList tried{"--set", "per_process_memory_fraction=0.1"};
        const char* const words
            = "per_process_memory_fraction has no effect here: the size of the card is not "
              "known";
        QCOMPARE(text(simulatedFile("room.json", tried)["no_effect"]), text(Json(words)));
        QCOMPARE(text(simulatedFile("room.json", tried)["line"]), text(Json(nullptr)));
        const QString out = says(QStringList("room.json") + tried, {words, "known (--capacity BYTES).\n"});
        QVERIFY(!out.contains("_ALLOC_CONF="));
        const QString known = says(QStringList("room.json") + tried + QStringList{"--capacity", "8000000000"},
            {"finds no memory, although it was served in the recording.\n", "\nNeeds PyTorch 2.10",
                "\nPYTORCH_CUDA_ALLOC_CONF=per_process_memory_fraction:0.1,backend:native,"
                "pinned_use_cuda_host_register:True\n"});
        QVERIFY(!known.contains("no effect"));
    }

    /// The table is about the recorded settings.
    void setAndSearch()
    {
        says({"room.json", "--search", "--set", "expandable_segments=True"},
            {"those of --set are not in it",
                "\nPYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,backend:native"});
        says({"room.json", "--set", "max_split_size_mb=64", "--set", "large_segment_size_mb=64"},
            {"max_split_size_mb:64,large_segment_size_mb:64"});
    }

    /// What cannot be predicted says why; what cannot be replayed is an error.
    void refusals()
    {
        const CommandOutcome filtered = callCommand({"simulate", path("filtered.json")});
        QCOMPARE(filtered.status, std::optional(0));
        QVERIFY2(filtered.out.contains("\nNo prediction: "), qPrintable(filtered.out));
        const CommandOutcome json = callCommand({"simulate", path("filtered.json"), "--json"});
        const Json parsed = Json::parse(json.out.toStdString());
        QVERIFY(parsed["predicted"].is_null() && parsed["refusal"].is_string());
        const CommandOutcome empty = callCommand({"simulate", path("empty.json"), "--json"});
        QCOMPARE(empty.status, std::optional(3));
        QVERIFY(empty.out.contains("\"error\"") && !empty.err.isEmpty());
        QCOMPARE(callCommand({"simulate", path("missing.json")}).status, std::optional(3));
    }

private:
    QString path(const char* name) const { return m_folder.filePath(name); }
    void write(const char* name, const Json& json) { write(name, json.dump().c_str()); }
    void write(const char* name, const char* content)
    {
        QFile file(path(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(content);
    }
    Json simulated(const QStringList& options) { return simulatedFile("run.json", options); }
    /// What is told as text of the file named first; it has all the words.
    QString says(QStringList arguments, std::initializer_list<const char*> words)
    {
        arguments[0] = path(qPrintable(arguments[0]));
        const CommandOutcome outcome = callCommand(QStringList("simulate") + arguments);
        if (outcome.status != std::optional(0))
            qFatal("%s", qPrintable(outcome.err));
        const QString out = QString(outcome.out).replace(QChar(0xa0), ' ');
        for (const char* word : words)
            if (!out.contains(word))
                qFatal("not said: %s\n%s", word, qPrintable(out));
        return out;
    }
    Json simulatedFile(const char* name, const QStringList& options)
    {
        const CommandOutcome outcome = callCommand(QStringList{"simulate", path(name), "--json"} + options);
        if (outcome.status != std::optional(0))
            qFatal("%s", qPrintable(outcome.err));
        return Json::parse(outcome.out.toStdString());
    }

    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(TestSimulateCommand)
#include "tst_simulate_command.moc"
