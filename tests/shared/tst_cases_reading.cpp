// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/reader.hpp"
#include "tests/support/shared_cases.hpp"
#include "tests/support/shared_paths.hpp"

#include <QCoreApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <nlohmann/json.hpp>

#include <iostream>
#include <sys/resource.h>

using namespace tidemark;
using namespace tidemark::test;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* readOneFlag = "--read-one";

/// What is allowed of memory and time is meant for the program itself: under a sanitizer every byte has a
/// shadow, and freed memory is kept for a while.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double sanitizerSlack = 6;
#else
constexpr double sanitizerSlack = 1;
#endif

/// What a process of its own does: read one file and print what came of it, with the memory it took.
int readOne(const char* path, bool partial)
{
    ReadOptions options;
    options.partial = partial;
    const auto snapshot = readSnapshot(path, options, {});
    struct rusage usage { };
    ::getrusage(RUSAGE_SELF, &usage);
    Json out{{"rss_mib", usage.ru_maxrss / 1024}, {"opened", snapshot.ok()}};
    if (snapshot) {
        out["partial"] = (*snapshot)->source.partial;
        out["quality"] = Json::array();
        for (const QualityNote& note : (*snapshot)->quality)
            out["quality"].push_back(qualityName(note.id));
    } else {
        out["message"] = snapshot.error().message;
        out["code"] = errorCodeName(snapshot.error().code);
    }
    std::cout << out.dump(-1, ' ', true, Json::error_handler_t::replace) << std::endl;
    return 0;
}

} // namespace

class TestCasesReading : public QObject {
    Q_OBJECT

    static Json inOwnProcess(const fs::path& file, const QString& folder, bool partial, double& seconds)
    {
        QProcess process;
        process.setWorkingDirectory(folder);
        QElapsedTimer timer;
        timer.start();
        process.start(QCoreApplication::applicationFilePath(),
            {readOneFlag, QString::fromStdString(file.string()), partial ? "partial" : "whole"});
        if (!process.waitForFinished(120000) || process.exitStatus() != QProcess::NormalExit) {
            process.kill();
            process.waitForFinished();
            return {{"crashed", true}};
        }
        seconds = static_cast<double>(timer.elapsed()) / 1000;
        const std::string output = process.readAllStandardOutput().toStdString();
        return Json::parse(output, nullptr, false);
    }

private slots:
    void initTestCase()
    {
        if (sharedFolder().empty())
            QSKIP("the outside test material is not here");
    }

    void cases_data()
    {
        QTest::addColumn<QString>("folder");
        QTest::addColumn<QString>("file");
        if (sharedFolder().empty())
            return;
        const std::vector<CaseFile> files = caseFiles();
        for (const CaseFile& file : files)
            QTest::newRow(file.id().c_str())
                << QString::fromStdString(file.folder.string()) << QString::fromStdString(file.name);
        QVERIFY(caseFolders().size() >= fewestCases);
        QVERIFY(files.size() >= fewestCaseFiles);
    }
    void cases()
    {
        QFETCH(QString, folder);
        QFETCH(QString, file);
        const std::string name = file.toStdString();
        const Json expected = caseExpectation(folder.toStdString());
        QTemporaryDir empty;
        double seconds = 0;
        const Json got = inOwnProcess(fs::path(folder.toStdString()) / name, empty.path(), false, seconds);
        QVERIFY2(got.is_object() && !got.contains("crashed"), "crashed or hung");

        const std::string message = got.value("message", "");
        const bool opens = expectedOf(expected, name, "opens").get<bool>();
        if (!mayGoEitherWay(expected, name))
            QVERIFY2(got["opened"] == opens, message.c_str());
        if (!got["opened"].get<bool>()) {
            for (const Json& word : expectedOf(expected, name, "error_contains"))
                QVERIFY2(messageHas(message, word), (word.dump() + " is not in: " + message).c_str());
            QVERIFY2(message.ends_with('.'), message.c_str());
        }
        const Json limits = expectedOf(expected, name, "limits");
        if (limits.is_object()) {
            const double slack = sanitizerSlack;
            QVERIFY2(
                got["rss_mib"].get<double>() <= limits["rss_mib"].get<double>() * slack, got.dump().c_str());
            QVERIFY2(seconds <= limits["seconds"].get<double>() * slack, std::to_string(seconds).c_str());
        }
        for (const Json& forbidden : expected.value("never", Json::array()))
            QVERIFY(!QDir(empty.path()).exists(QString::fromStdString(forbidden.get<std::string>())));
        QVERIFY(QDir(empty.path()).isEmpty());
    }

    void cutFilesKeepWhatIsWhole()
    {
        int kept = 0;
        for (const auto& file : fs::directory_iterator(sharedFolder() / "cases" / "F-17-truncated")) {
            if (file.path().filename() == "expected.json")
                continue;
            double seconds = 0;
            QTemporaryDir empty;
            const Json refused = inOwnProcess(file.path(), empty.path(), false, seconds);
            QVERIFY2(refused["code"] == "truncated-file", refused.dump().c_str());
            const Json got = inOwnProcess(file.path(), empty.path(), true, seconds);
            if (!got["opened"].get<bool>())
                continue;
            ++kept;
            QVERIFY(got["partial"].get<bool>());
            QVERIFY(got["quality"].dump().find("truncated-file") != std::string::npos);
        }
        // Those cut before the end of the segments hold nothing whole.
        QCOMPARE(kept, 6);
    }

    void notesOfReading_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("note");
        QTest::newRow("attack") << "F-12-attack/os-system.pickle"
                                << "foreign-object";
        QTest::newRow("numpy") << "F-11-foreign-objects/objects.pickle"
                               << "foreign-object";
        QTest::newRow("key") << "F-13-memo-bomb/in-an-unknown-key.pickle"
                             << "unknown-key";
        QTest::newRow("state") << "F-32-unknown-words/snapshot.pickle"
                               << "unknown-state";
        QTest::newRow("action") << "U-45-annotations-on-allocations/snapshot.pickle"
                                << "unknown-action";
        QTest::newRow("size") << "U-02-nine-byte-longs/snapshot.pickle"
                              << "absurd-size";
        QTest::newRow("text") << "F-28-strings/invalid-utf-8.pickle"
                              << "bad-text";
    }
    void notesOfReading()
    {
        QFETCH(QString, file);
        QFETCH(QString, note);
        double seconds = 0;
        QTemporaryDir empty;
        const Json got
            = inOwnProcess(sharedFolder() / "cases" / file.toStdString(), empty.path(), false, seconds);
        QVERIFY2(got["quality"].dump().find('"' + note.toStdString() + '"') != std::string::npos,
            got.dump().c_str());
    }
};

int main(int argc, char** argv)
{
    if (argc == 4 && std::string_view(argv[1]) == readOneFlag)
        return readOne(argv[2], std::string_view(argv[3]) == "partial");
    const QCoreApplication application(argc, argv);
    TestCasesReading test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_cases_reading.moc"
