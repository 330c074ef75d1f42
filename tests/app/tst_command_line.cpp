// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command_line.hpp"
#include "app/version.hpp"
#include "tests/support/command_call.hpp"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

using namespace tidemark;
using namespace tidemark::test;
using Json = nlohmann::json;

namespace {

/// QCOMPARE cannot take JSON itself; keys are sorted.
QString text(const Json& json)
{
    return QString::fromStdString(json.dump());
}

using Outcome = CommandOutcome;

Outcome call(const QStringList& arguments)
{
    return callCommand(arguments);
}

/// A trace of one device: two sites, one allocation older than the recording, one delayed free.
Json snapshot()
{
    const auto frames = [](const char* name, int line) {
        return Json::array({{{"filename", "/site-packages/torch/_ops.py"}, {"line", 1}, {"name", "op"}},
            {{"filename", "/home/me/model.py"}, {"line", line}, {"name", name}}});
    };
    const auto event = [](const char* action, std::int64_t address, std::int64_t size, int n) {
        return Json{{"action", action}, {"addr", address}, {"size", size}, {"stream", 0},
            {"time_us", 1790000000000000 + n * 500000}};
    };
    Json trace = Json::array();
    trace.push_back(event("alloc", 0x1000, 1000, 0));
    trace.back()["frames"] = frames("forward", 7);
    trace.push_back(event("alloc", 0x2000, 3000, 1));
    trace.back()["frames"] = frames("loss", 9);
    trace.push_back(event("free_requested", 0x1000, 1000, 2));
    trace.push_back(event("alloc", 0x3000, 500, 3));
    trace.back()["frames"] = frames("forward", 7);
    trace.push_back(event("free_completed", 0x1000, 1000, 4));
    const auto block
        = [](std::int64_t address, std::int64_t size, std::int64_t requested, const char* state) {
              return Json{{"address", address}, {"size", size}, {"requested_size", requested},
                  {"state", state}, {"frames", Json::array()}};
          };
    Json segment{{"device", 0}, {"address", 0x1000}, {"total_size", 0x4000}, {"stream", 0},
        {"segment_type", "small"}, {"segment_pool_id", {0, 0}}, {"is_expandable", false}};
    segment["blocks"]
        = {block(0x1000, 0x1000, 0, "inactive"), block(0x2000, 0x1000, 3000, "active_allocated"),
            block(0x3000, 0x1000, 500, "active_allocated"), block(0x4000, 0x1000, 200, "active_allocated")};
    return {{"segments", {segment}}, {"device_traces", {trace}}};
}

} // namespace

class TestCommandLine : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        write("good.json", QByteArray::fromStdString(snapshot().dump()));
        write("bad.txt", "this is no snapshot\n");
    }

    void wrongUsage_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("says");
        const QString file = path("good.json");
        const auto row = [](const QStringList& arguments, const char* says) {
            QTest::newRow(qPrintable(arguments.mid(0, 1).join("") + " " + says)) << arguments << says;
        };
        row({"info"}, "needs a file");
        row({"info", file, "--jsn"}, "no option --jsn");
        row({"info", file, "--json=yes"}, "takes no value");
        row({"info", file, "--json", "--json"}, "given twice");
        row({"info", file, "--events", "5"}, "FIRST:LAST");
        row({"info", file, "--events", "5:1"}, "FIRST:LAST");
        row({"info", file, "--events"}, "needs a value");
        row({"at", file}, "one of --event N");
        row({"at", file, "--peak", "--event", "1"}, "one of --event N");
        row({"at", file, file, "--peak"}, "one file");
        row({"at", "--peak"}, "one file");
        row({"at", file, "--event", "5"}, "event 5 is not among -1 to 4 of GPU 0");
        row({"at", file, "--peak", "--events", "5:9"}, "--events begins at 5, but the trace has 5 events");
        row({"at", file, "--event", "x"}, "whole number");
        row({"at", file, "--time", "soon"}, "needs seconds");
        row({"at", file, "--peak", "--device", "3"}, "no device 3; it has 0");
        row({"at", file, "--peak", "--by", "label", "--rules", "/does/not/exist.json"}, "no such file");
        row({"at", file, "--peak", "--by", "colour"}, "\"colour\"");
        row({"at", file, "--peak", "--top", "-1"}, "from 0 on");
        row({"fnord"}, "neither a command nor a file");
        row({"--fnord"}, "no option --fnord");
    }

    void wrongUsage()
    {
        QFETCH(QStringList, arguments);
        QFETCH(QString, says);
        const Outcome outcome = call(arguments);
        QCOMPARE(outcome.status, std::optional(2));
        QCOMPARE(outcome.out, QString());
        QVERIFY2(outcome.err.contains(says), qPrintable(outcome.err));
        QVERIFY(outcome.err.startsWith("tidemark: "));
        QCOMPARE(outcome.err.count('\n'), 1);
    }

    void helpAndVersion()
    {
        QCOMPARE(call({"--version"}).out, QString("tidemark %1\n").arg(versionText()));
        const Outcome help = call({"--help"});
        QCOMPARE(help.status, std::optional(0));
        for (const char* word : {"info", "at", "--partial", "exit status"})
            QVERIFY2(help.out.contains(word), word);
        const Outcome at = call({"at", "--help"});
        QCOMPARE(at.status, std::optional(0));
        for (const char* word :
            {"--event", "--time", "--peak", "--device", "--by", "--top", "--json", "--partial"})
            QVERIFY2(at.out.contains(word), word);
    }

    void theWindowIsWanted()
    {
        QCOMPARE(call({}).status, std::optional<int>());
        const Outcome outcome = call(
            {"--platform", "offscreen", path("good.json"), "--partial", "-style=fusion", "--events=2:"});
        QCOMPARE(outcome.status, std::optional<int>());
        QCOMPARE(outcome.window.paths.size(), std::size_t(1));
        QVERIFY(outcome.window.options.partial);
        QCOMPARE(outcome.window.options.events->first, std::uint64_t(2));
        QVERIFY(!outcome.window.noCache);
        const Outcome last = call({path("good.json"), "--events", "-3:", "--no-cache"});
        QCOMPARE(last.window.options.lastEvents, std::optional<std::uint64_t>(3));
        QVERIFY(last.window.noCache);
        // A file may be called like a command or an option.
        QCOMPARE(call({"--", "--help"}).window.paths.at(0).string(), std::string("--help"));
    }

    void infoAsJson()
    {
        const Outcome outcome = call({"info", path("good.json"), "--json"});
        QCOMPARE(outcome.status, std::optional(0));
        QCOMPARE(outcome.err, QString());
        QCOMPARE(outcome.out.count('\n'), 1);
        const Json info = Json::parse(outcome.out.toStdString());
        QCOMPARE(info["file"].get<std::string>(), path("good.json").toStdString());
        QCOMPARE(info["encoding"].get<std::string>(), std::string("json"));
        QVERIFY(info["pickle_protocol"].is_null());
        const Json& device = info["devices"][0];
        QCOMPARE(device["events"].get<int>(), 5);
        QCOMPARE(
            text(device["actions"]), text(Json{{"alloc", 3}, {"free_completed", 1}, {"free_requested", 1}}));
        QCOMPARE(text(device["live"]),
            text(Json{{"at_start", 200}, {"at_end", 3700}, {"peak", 4700}, {"peak_event", 3},
                {"delayed_frees", 1}, {"peak_pending", 1000}}));
        QCOMPARE(device["predating"]["alive_at_end_bytes"].get<int>(), 200);
        QCOMPARE(device["reserved"]["peak"].get<int>(), 0x4000);
        QCOMPARE(info["data_quality"][0]["id"].get<std::string>(), std::string("late-start"));
    }

    /// Memory from before the range counts as predating; nothing else changes.
    void eventsThatNoTraceHolds()
    {
        for (const char* command : {"info", "diagnose"}) {
            const Outcome outcome = call({command, path("good.json"), "--events", "5:"});
            QCOMPARE(outcome.status, std::optional(0));
            QVERIFY2(outcome.err.contains("--events begins at 5, but the trace has 5 events"),
                qPrintable(outcome.err));
            QVERIFY(call({command, path("good.json"), "--events", "4:"}).err.isEmpty());
        }
    }

    void infoOfSomeEvents()
    {
        const Json info
            = Json::parse(call({"info", path("good.json"), "--json", "--events", "1:2"}).out.toStdString());
        const Json& device = info["devices"][0];
        QCOMPARE(device["events"].get<int>(), 2);
        QCOMPARE(text(device["actions"]), text(Json{{"alloc", 1}, {"free_requested", 1}}));
        QCOMPARE(text(device["live"]),
            text(Json{{"at_start", 1200}, {"at_end", 4200}, {"peak", 4200}, {"peak_event", 1},
                {"delayed_frees", 1}, {"peak_pending", 1000}}));
        QCOMPARE(text(device["predating"]),
            text(Json{{"freed_in_trace", 0}, {"freed_in_trace_bytes", 0}, {"alive_at_end", 2},
                {"alive_at_end_bytes", 1200}}));
        QCOMPARE(device["segments"]["requested"].get<int>(), 4200);
        QCOMPARE(device["first_time_us"].get<std::int64_t>(), std::int64_t(1790000000500000));
    }

    void theLastEvents()
    {
        for (const char* events : {"-2:", "3:4", "3:"}) {
            const Json info = Json::parse(
                call({"info", path("good.json"), "--json", "--events", events}).out.toStdString());
            const Json& device = info["devices"][0];
            QCOMPARE(device["events"].get<int>(), 2);
            QCOMPARE(device["opened"]["first"].get<int>(), 3);
            QCOMPARE(device["opened"]["events_in_file"].get<int>(), 5);
            QCOMPARE(device["live"]["peak_event"].get<int>(), 3);
            QCOMPARE(device["live"]["at_end"].get<int>(), 3700);
            QCOMPARE(info["data_quality"][0]["id"].get<std::string>(), std::string("event-range"));
        }
    }

    /// Whatever opens a file opens a part of it.
    void everyCommandTakesEvents()
    {
        for (const QStringList& command : {QStringList{"info"}, {"at", "--peak"}, {"diagnose"},
                 {"compare", path("good.json")}, {"simulate"}}) {
            const Outcome outcome = call(command + QStringList{path("good.json"), "--events", "1:3"});
            QVERIFY2(!outcome.err.contains("--events"), qPrintable(outcome.err));
            QVERIFY(outcome.status != std::optional(2));
        }
        for (const char* command :
            {"info", "at", "diagnose", "compare", "report", "render", "simulate", "digest"})
            QVERIFY2(call({command, "--help"}).out.contains("--events"), command);
    }

    void infoForPeople()
    {
        const Outcome outcome = call({"info", path("good.json")});
        for (const char* word :
            {"GPU 0: 5 events", "peak of the recorded window", "at event 3", "late-start"})
            QVERIFY2(outcome.out.contains(word), qPrintable(outcome.out));
    }

    void unreadableFiles()
    {
        const Outcome all = call({"info", path("bad.txt"), path("missing.pickle"), "--json"});
        QCOMPARE(all.status, std::optional(3));
        QCOMPARE(all.err.count('\n'), 2);
        const QStringList lines = all.out.split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 2);
        for (const QString& line : lines) {
            const Json json = Json::parse(line.toStdString());
            QVERIFY(json.contains("file"));
            QVERIFY(!json["error"]["code"].get<std::string>().empty());
            QVERIFY(!json["error"]["message"].get<std::string>().empty());
            QVERIFY(json["error"].contains("offset"));
        }
        QCOMPARE(call({"info", path("bad.txt"), path("good.json")}).status, std::optional(4));
        QCOMPARE(call({"at", path("bad.txt"), "--peak"}).status, std::optional(3));
    }

    void aFolderIsItsFilesByName()
    {
        const Outcome outcome = call({"info", m_folder.path(), "--json"});
        QCOMPARE(outcome.status, std::optional(4));
        const QStringList lines = outcome.out.split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 2);
        QVERIFY(lines[0].contains("bad.txt"));
        QVERIFY(lines[1].contains("good.json"));
    }

    void whoIsLive_data()
    {
        QTest::addColumn<QStringList>("moment");
        QTest::addColumn<int>("event");
        QTest::newRow("event") << QStringList{"--event", "3"} << 3;
        QTest::newRow("peak") << QStringList{"--peak"} << 3;
        QTest::newRow("seconds after the first event") << QStringList{"--time", "1.9"} << 3;
        QTest::newRow("the first event itself") << QStringList{"--time", "0"} << 0;
        QTest::newRow("Unix seconds") << QStringList{"--time", "1790000001.5"} << 3;
        QTest::newRow("before the first event") << QStringList{"--event=-1"} << -1;
        QTest::newRow("peak of some events") << QStringList{"--peak", "--events", "0:0"} << 0;
    }

    void whoIsLive()
    {
        QFETCH(QStringList, moment);
        QFETCH(int, event);
        for (const char* by : {"site", "stack", "size", "stream", "pool"}) {
            for (const char* top : {"0", "1", "9"}) {
                const Outcome outcome
                    = call(QStringList{"at", path("good.json"), "--json", "--by", by, "--top", top} + moment);
                QCOMPARE(outcome.status, std::optional(0));
                const Json at = Json::parse(outcome.out.toStdString());
                QCOMPARE(at["event"].get<int>(), event);
                std::int64_t bytes = at["other"]["bytes"];
                std::int64_t allocations = at["other"]["allocations"];
                for (const Json& group : at["groups"]) {
                    bytes += group["bytes"].get<std::int64_t>();
                    allocations += group["allocations"].get<std::int64_t>();
                }
                QCOMPARE(bytes, at["live"].get<std::int64_t>());
                QCOMPARE(allocations, at["allocations"].get<std::int64_t>());
            }
        }
    }

    void rowsAtThePeak()
    {
        const Json at = Json::parse(call({"at", path("good.json"), "--peak", "--json"}).out.toStdString());
        QCOMPARE(text(at),
            text(Json{{"file", path("good.json").toStdString()}, {"device", 0}, {"event", 3},
                {"time_us", 1790000001500000}, {"live", 4700}, {"reserved", 0x4000}, {"pending", 1000},
                {"allocations", 4},
                {"groups",
                    {{{"key", "loss@model.py:9"}, {"bytes", 3000}, {"allocations", 1}},
                        {{"key", "forward@model.py:7"}, {"bytes", 1500}, {"allocations", 2}},
                        {{"key", "before recording → end"}, {"bytes", 200}, {"allocations", 1}}}},
                {"other", {{"bytes", 0}, {"allocations", 0}}}}));
        const Outcome people = call({"at", path("good.json"), "--peak", "--top", "1"});
        for (const char* word : {"loss@model.py:9", "2 more sites", "= curve at event 3"})
            QVERIFY2(people.out.contains(word), qPrintable(people.out));
        QVERIFY(call({"at", path("good.json"), "--peak", "--raw"}).out.contains("op@_ops.py:1"));
    }

    /// Flame-graph tools read them; they add up to the curve.
    void foldedStacks()
    {
        const Outcome folded = call({"at", path("good.json"), "--peak", "--folded"});
        QCOMPARE(folded.status, std::optional(0));
        std::int64_t bytes = 0;
        const QStringList lines = folded.out.trimmed().split('\n');
        for (const QString& line : lines)
            bytes += line.section(' ', -1).toLongLong();
        QCOMPARE(bytes, std::int64_t(4700));
        QVERIFY2(folded.out.contains("loss@model.py:9 3000\n"), qPrintable(folded.out));
        QVERIFY(folded.out.contains("before recording;alive at the end 200\n"));
        QVERIFY(call({"at", path("good.json"), "--peak", "--folded", "--raw"}).out.contains("op@_ops.py:1"));
        QCOMPARE(call({"at", path("good.json"), "--folded", "--json"}).status, std::optional(2));
    }

private:
    QString path(const char* name) const { return m_folder.filePath(name); }
    void write(const char* name, const QByteArray& bytes)
    {
        QFile file(path(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        QCOMPARE(file.write(bytes), bytes.size());
    }

    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(TestCommandLine)
#include "tst_command_line.moc"
