// SPDX-License-Identifier: GPL-3.0-or-later
// Reports of the outside test material: figures that others computed.
#include "tests/shared/scenario_maker.hpp"
#include "tests/support/report_case.hpp"
#include "tests/support/shared_cases.hpp"

#include <QTest>

#include <nlohmann/json.hpp>

using namespace tidemark;
using namespace tidemark::test;

namespace {

report::ReportInput inputOf(const std::filesystem::path& file)
{
    const auto rank = openRank(file, {}, {});
    if (!rank)
        qFatal("%s", rank.error().message.c_str());
    DiagnosisOptions options;
    options.rank = rankFromName(file.string());
    for (const std::filesystem::path& each : configFilesBeside(file))
        if (const auto added = options.config.addFile(each); !added)
            qFatal("%s", added.error().message.c_str());
    report::ReportInput input;
    input.rank = *rank;
    input.device = input.rank->devices.empty() ? 0 : input.rank->mainDevice();
    input.diagnosis = diagnose(input.rank, options, {});
    return input;
}

compare::Side sideOf(const report::ReportInput& input)
{
    compare::Side side;
    side.rank = input.rank;
    side.device = input.device;
    side.diagnosis = input.diagnosis;
    return side;
}

std::int64_t exactOf(const report::Document& document, const char* id)
{
    const report::Figure* figure = figureOf(document, id);
    const auto* number = figure != nullptr ? std::get_if<std::int64_t>(&figure->exact) : nullptr;
    return number != nullptr ? *number : -1;
}

/// What must hold of every report; with redaction, what must be gone too.
QString faultOf(const report::ReportInput& input, const report::Redaction& redaction)
{
    report::ReportWish wish;
    wish.redaction = redaction;
    const auto document = report::buildReport(input, wish, nullptr, {});
    const std::vector<std::string> secrets
        = report::redactedStrings(report::redactionInput(input), redaction);
    for (const report::Exporter& exporter : report::exporters()) {
        const std::string written = exporter.write(*document);
        const std::string shown = shownText(written, exporter.extension);
        for (const std::string& secret : secrets)
            if (report::mentions(written, secret) || report::mentions(shown, secret))
                return QString("%1 holds %2")
                    .arg(exporter.name, QString::fromStdString(secret.substr(0, 200)));
        if (exporter.extension == std::string_view(".html")) {
            if (const std::string fault = htmlFault(written); !fault.empty())
                return QString::fromStdString(fault);
            if (written.size() > 3U << 20)
                return "the page is larger than 3 MiB";
        }
        if (exporter.extension == std::string_view(".md") && characters(written) > report::maxMarkdownChars)
            return "the Markdown is too long";
        if (exporter.extension == std::string_view(".json") && !nlohmann::json::accept(written))
            return "no JSON";
    }
    const report::Table* live = tableOf(*document, "live", "live");
    if (input.device >= input.rank->devices.size())
        return {};
    std::int64_t sum = 0;
    for (const auto& row : live->rows)
        sum += numberOf(row[1]);
    for (std::size_t i = 0; i + 1 < live->foot.size(); ++i)
        sum += numberOf(live->foot[i][1]);
    const std::int64_t curve = input.rank->devices[input.device]->timeline.requested().total().max;
    return sum == curve ? QString() : QString("the live table has %1, the curve %2").arg(sum).arg(curve);
}

} // namespace

class TestReportCases : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        if (sharedFolder().empty())
            QSKIP("The outside test material is not here: set TIDEMARK_SHARED.");
    }

    /// A fragmented rank that ran out of memory.
    void fragmented()
    {
        ScenarioMaker maker("SC-01", "", false);
        if (!maker.started())
            QSKIP("python3 is not here.");
        QVERIFY2(maker.wait().isEmpty(), "the scenario cannot be made");
        const report::ReportInput input = inputOf(maker.folder() / "snapshot_oom_rank-3.pickle");
        const auto document = report::buildReport(input, {}, nullptr, {});
        QCOMPARE(document->title, std::string("Rank 3 ran out of memory by fragmentation, not by size"));
        QCOMPARE(exactOf(*document, "failed-request"), std::int64_t{1610612736});
        QCOMPARE(figureOf(*document, "pinned")->value, std::string("34.50\u00a0GiB"));
        QCOMPARE(figureOf(*document, "slack")->value, std::string("+33.34\u00a0GiB"));
        QCOMPARE(figureOf(*document, "reserved-at-failure")->value, std::string("77.30\u00a0GiB"));
        const report::Table* fixes = tableOf(*document, "verdict", "fixes");
        QVERIFY(fixes != nullptr && !fixes->rows.empty());
        QCOMPARE(faultOf(input, {}), QString());
        QCOMPARE(faultOf(input, report::Redaction::full()), QString());
    }

    /// Gathered LoRA inputs kept, and gathered again.
    void compared()
    {
        ScenarioMaker off("SC-04", "", false);
        ScenarioMaker on("SC-05", "", false);
        if (!off.started() || !on.started())
            QSKIP("python3 is not here.");
        QVERIFY2(off.wait().isEmpty() && on.wait().isEmpty(), "the scenarios cannot be made");
        report::ReportInput input = inputOf(off.folder() / "snapshot_0.pickle");
        input.comparison = compare::compareSides(
            sideOf(input), sideOf(inputOf(on.folder() / "snapshot_0.pickle")), {}, {});
        const auto document = report::buildReport(input, {}, nullptr, {});
        const report::Table* sides = tableOf(*document, "comparison", "sides");
        QCOMPARE(numberOf(sides->foot[0][2]), std::int64_t{-4731174912});
        const report::Table* parts = tableOf(*document, "comparison", "explained-peak");
        QCOMPARE(numberOf(parts->rows[0][1]), std::int64_t{-4831838208});
        QCOMPARE(numberOf(parts->foot[0][1]), std::int64_t{-4731174912});
        const report::Table* settings = tableOf(*document, "comparison", "settings");
        QVERIFY(settings != nullptr);
        QVERIFY(std::any_of(settings->rows.begin(), settings->rows.end(),
            [](const auto& row) { return row[0].text.plain().find("input_regather") != std::string::npos; }));
        QCOMPARE(faultOf(input, {}), QString());
        QCOMPARE(faultOf(input, report::Redaction::full()), QString());
    }

    void everyFileOfTheCorpus()
    {
        std::size_t built = 0;
        bool training = false;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(sharedFolder() / "corpus")) {
            if (!entry.is_regular_file())
                continue;
            const auto rank = openRank(entry.path(), {}, {});
            if (!rank)
                continue;
            const report::ReportInput input = inputOf(entry.path());
            for (const report::Redaction& redaction : {report::Redaction{}, report::Redaction::full(),
                     report::Redaction{report::Redaction::Paths::Hash, true, true, true}}) {
                const QString fault = faultOf(input, redaction);
                QVERIFY2(fault.isEmpty(),
                    qPrintable(QString::fromStdString(entry.path().string()) + ": " + fault));
            }
            ++built;
            if (entry.path().parent_path().filename().string().starts_with("42-")) {
                training = true;
                const auto document = report::buildReport(input, {}, nullptr, {});
                QCOMPARE(figureOf(*document, "peak-live")->value, std::string("22.54\u00a0GiB"));
                QCOMPARE(figureOf(*document, "peak-reserved")->value, std::string("23.45\u00a0GiB"));
                QVERIFY(figureOf(*document, "peak-live")->note.starts_with("after event 3,737"));
            }
        }
        QVERIFY2(built >= 25 && training, std::to_string(built).c_str());
    }

    /// Files made to break programs.
    void everyFileOfTheCases()
    {
        for (const CaseFile& file : caseFiles("F-")) {
            const auto rank = openRank(file.path(), {}, {});
            if (!rank)
                continue;
            const auto diagnosis = diagnose(*rank, {}, {});
            report::ReportInput input;
            input.rank = *rank;
            input.diagnosis = diagnosis;
            input.device = input.rank->devices.empty() ? 0 : input.rank->mainDevice();
            for (const report::Redaction& redaction : {report::Redaction{}, report::Redaction::full()}) {
                const QString fault = faultOf(input, redaction);
                QVERIFY2(fault.isEmpty(), qPrintable(QString::fromStdString(file.id()) + ": " + fault));
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestReportCases)
#include "tst_report_cases.moc"
