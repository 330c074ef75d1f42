// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/groups.hpp"
#include "model/replay/figures.hpp"
#include "tests/support/model_recorder.hpp"
#include "tests/support/report_case.hpp"
#include "tests/support/small_runs.hpp"
#include "tests/support/trace_maker.hpp"
#include "tests/support/training_trace.hpp"

#include <QCryptographicHash>
#include <QRegularExpression>
#include <QTest>

#include <nlohmann/json.hpp>

using namespace tidemark;
using namespace tidemark::test;
using Json = nlohmann::json;

namespace {

std::shared_ptr<const report::Document> built(
    const report::ReportInput& input, const report::ReportWish& wish = {})
{
    return report::buildReport(input, wish, nullptr, {});
}

report::ReportInput training()
{
    TrainingTrace trace;
    trace.full = true;
    trace.leak = true;
    return reportInput(trace.make());
}

std::int64_t exactOf(const report::Document& document, const char* id)
{
    const report::Figure* figure = figureOf(document, id);
    const auto* number = figure != nullptr ? std::get_if<std::int64_t>(&figure->exact) : nullptr;
    return number != nullptr ? *number : -1;
}

/// Two pictures, one of which is no harmless SVG.
class TwoPictures : public report::Pictures {
public:
    std::vector<report::Picture> draw(const report::PictureAsk& ask) override
    {
        if (ask.kind != report::PictureKind::Timeline)
            return {};
        report::Picture good{"good", report::Picture::Kind::Svg,
            "<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"10\" "
            "height=\"10\"><text>secret_fn@a</text></svg>",
            10, 10, "One.", "A caption"};
        report::Picture bad = good;
        bad.data = "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>";
        report::Picture png{"png", report::Picture::Kind::Png, "\x89PNG", 10, 10, "", ""};
        return {good, bad, png};
    }
};

} // namespace

class TestReport : public QObject {
    Q_OBJECT
private slots:
    void figuresAreThoseOfTheCommandLine()
    {
        for (std::uint64_t seed = 1; seed <= 12; ++seed) {
            RandomTrace random;
            random.seed = seed;
            random.segments = seed % 3 != 0;
            const report::ReportInput input = reportInput(randomTrace(random));
            const auto document = built(input);
            const Replay& replay = *input.rank->devices[input.device];
            const DeviceFigures figures = deviceFigures(replay);
            QCOMPARE(exactOf(*document, "peak-live"), figures.live.peak);
            if (figures.reserved) {
                QCOMPARE(exactOf(*document, "peak-reserved"), figures.reserved->peak);
                QCOMPARE(exactOf(*document, "gap"),
                    replay.segments.reserved().at(stateOf(figures.live.peakMoment)) - figures.live.peak);
            } else {
                QCOMPARE(figureOf(*document, "peak-reserved")->value, std::string("unknown"));
            }
            const Json json = Json::parse(report::writeJson(*document));
            QVERIFY(json["data"]["diagnosis"]
                == Json::parse(input.diagnosis->json(input.rank->snapshot->source.name)));
        }
    }

    void liveTableAddsUpToTheCurve()
    {
        for (const std::size_t top : {1U, 3U, 1000U}) {
            report::ReportWish wish;
            wish.topRows = top;
            for (const report::ReportInput& input : {training(), reportInput(attackSnapshot())}) {
                const auto document = built(input, wish);
                const Replay& replay = *input.rank->devices[input.device];
                const StateIndex peak = replay.timeline.requested().total().maxState;
                const auto grouping = Grouping::build(replay, *input.rank->sites, GroupBy::Site);
                const std::vector<GroupRow> expected = groupLive(replay, *grouping, peak);
                for (const char* id : {"live", "roles", "modules"}) {
                    const report::Table* table = tableOf(*document, "live", id);
                    QVERIFY(table != nullptr);
                    QVERIFY(table->rows.size() <= top);
                    std::int64_t sum = 0;
                    std::int64_t count = 0;
                    for (const auto& row : table->rows) {
                        sum += numberOf(row[1]);
                        count += numberOf(row[3]);
                    }
                    for (std::size_t i = 0; i + 1 < table->foot.size(); ++i) {
                        sum += numberOf(table->foot[i][1]);
                        count += numberOf(table->foot[i][3]);
                    }
                    QCOMPARE(sum, replay.timeline.requested().at(peak));
                    QCOMPARE(numberOf(table->foot.back()[1]), sum);
                    QCOMPARE(count, std::int64_t{replay.timeline.liveCountAt(peak)});
                }
                const report::Table* live = tableOf(*document, "live", "live");
                for (std::size_t i = 0; i < live->rows.size(); ++i)
                    QCOMPARE(numberOf(live->rows[i][1]), static_cast<std::int64_t>(expected[i].bytes));
            }
        }
    }

    void htmlIsWellFormedAndFetchesNothing()
    {
        for (const report::ReportInput& input : {training(), reportInput(attackSnapshot())}) {
            TwoPictures pictures;
            report::ReportWish wish;
            wish.title = "</title><script>x</script> A & B";
            wish.summary = "First.\n\nSecond <b>.";
            const auto document = report::buildReport(input, wish, &pictures, {});
            const std::string page = report::writeHtml(*document);
            QCOMPARE(htmlFault(page), std::string());
            QVERIFY2(page.size() < 3U << 20, "too large");
            for (const char* name : {"src", "href", "xlink:href", "srcset", "data", "action"})
                for (const std::string& value : htmlAttributes(page, name))
                    QVERIFY2(value.starts_with("data:") || value.starts_with("#"), value.c_str());
            for (const std::string& value : htmlAttributes(page, "style"))
                QVERIFY2(value.starts_with("padding-left:"), value.c_str());
            for (const char* handler : {"onclick", "onerror", "onload"})
                QVERIFY(htmlAttributes(page, handler).empty());
            QCOMPARE(QString::fromStdString(page).count("<script"), 1);
            QCOMPARE(page.find("url("), std::string::npos);
            QCOMPARE(page.find("@import"), std::string::npos);
            const auto alts = htmlAttributes(page, "alt");
            QCOMPARE(alts.size(), std::size_t(2)); // the third is inline, with a label
            const std::string peak = figureOf(*document, "peak-live")->value;
            for (const std::string& alt : alts)
                QVERIFY2(alt.find(peak) != std::string::npos, alt.c_str());
            QVERIFY(htmlAttributes(page, "aria-label").front().find(peak) != std::string::npos);
        }
    }

    void theScriptIsTheOneThatIsAllowed()
    {
        const QByteArray hash
            = QCryptographicHash::hash(QByteArray(report::htmlScript()), QCryptographicHash::Sha256)
                  .toBase64();
        QCOMPARE(QByteArray(report::htmlScriptHash()), "sha256-" + hash);
    }

    void longNamesAreCutVisibly()
    {
        const std::string page = report::writeHtml(*built(reportInput(attackSnapshot())));
        QCOMPARE(page.find(std::string(3000, 'Q')), std::string::npos);
        QVERIFY(page.find("Long_secret_QQ") != std::string::npos);
        QVERIFY(page.find("…") != std::string::npos);
    }

    void markdownFitsAnIssue()
    {
        for (const std::size_t sites : {3U, 3000U}) {
            SmallRun run;
            for (std::size_t i = 0; i < sites; ++i)
                run.sites.push_back(
                    {"function_number_" + std::to_string(i) + "_of_many@/x/m.py:7", 1 << 20, 1});
            report::ReportWish wish;
            wish.topRows = 10000;
            const std::string text = report::writeMarkdown(*built(reportInput(run.make()), wish));
            QVERIFY2(characters(text) <= report::maxMarkdownChars, std::to_string(text.size()).c_str());
            QCOMPARE(text.find("Left out") != std::string::npos, sites == 3000U);
            QCOMPARE(QString::fromStdString(text).count("<details>"),
                QString::fromStdString(text).count("</details>"));
        }
    }

    /// Of thousands of notes as many as fit, and how many are not there; what comes after them is there.
    void markdownKeepsTheFirstNotes()
    {
        SmallRun run;
        run.sites = {{"f@/x/m.py:7", 1 << 20, 1}};
        report::ReportInput input = reportInput(run.make());
        for (int i = 0; i < 4000; ++i) {
            report::Annotation note;
            note.device = input.rank->devices[0]->device().ordinal;
            note.text = "remark number " + std::to_string(i + 1);
            note.from = report::PointAnchor{0, 100};
            input.annotations.push_back(note);
        }
        const QString text = QString::fromStdString(report::writeMarkdown(*built(input)));
        QVERIFY(characters(text.toStdString()) <= report::maxMarkdownChars);
        static const QRegularExpression rest(QStringLiteral("… ([0-9,]+) more are left out here"));
        const auto match = rest.match(text);
        QVERIFY(match.hasMatch());
        const int left = match.captured(1).remove(u',').toInt();
        QVERIFY2(left > 2000 && left < 4000, qPrintable(match.captured(1)));
        QVERIFY(text.contains(QStringLiteral("remark number %1 ").arg(4000 - left)));
        QVERIFY(!text.contains(QStringLiteral("remark number %1 ").arg(4000 - left + 1)));
        QVERIFY(text.contains(QStringLiteral("# Findings")));
        QVERIFY(text.contains(QStringLiteral("**Left out")));
    }

    /// A session can hold notes on what its file does not have.
    void notesThatPointNowhereSaySo()
    {
        SmallRun run;
        run.sites = {{"f@/x/m.py:7", 1 << 20, 1}};
        report::ReportInput input = reportInput(run.make());
        const int device = input.rank->devices[0]->device().ordinal;
        const auto note = [device](report::Anchor from, int on = -1) {
            report::Annotation made;
            made.device = on < 0 ? device : on;
            made.from = std::move(from);
            return made;
        };
        const auto last = static_cast<std::int64_t>(input.rank->devices[0]->states()) - 2;
        input.annotations = {note(report::PointAnchor{last, 5}), note(report::PointAnchor{last + 1, 5}),
            note(report::PointAnchor{1'000'000'000'000'000, 5}), note(report::PointAnchor{0, 5}, 99),
            note(report::AllocationAnchor{0, 0x123, 0}), note(report::PointAnchor{-1, 5}),
            note(report::SegmentAnchor{1, -7})};
        const auto document = built(input);
        const report::Section* section = document->section("annotations");
        QVERIFY(section);
        const auto& list = std::get<report::List>(section->blocks.front());
        QStringList lost;
        for (std::size_t i = 0; i < list.items.size(); ++i) {
            const QString text = QString::fromStdString(list.items[i].plain());
            if (const qsizetype at = text.indexOf("points nowhere: "); at >= 0)
                lost << QString::number(i + 1) + ' ' + text.mid(at + 16);
        }
        QCOMPARE(lost,
            (QStringList{QString("2 this file has no event %1.").arg(last + 1),
                "3 this file has no event 1,000,000,000,000,000.", "4 this file has no device 99.",
                "5 this file has no such allocation.", "7 this file has no event \u22127."}));
    }

    void markdownEscapes()
    {
        const std::string text = report::writeMarkdown(*built(reportInput(attackSnapshot())));
        QVERIFY(characters(text) <= report::maxMarkdownChars);
        const QString shown = QString::fromStdString(text);
        // Outside of fences and code spans nothing of the file can be markup.
        bool fenced = false;
        for (const QString& line : shown.split('\n')) {
            if (line.startsWith("```")) {
                fenced = !fenced;
                continue;
            }
            if (fenced)
                continue;
            QString plain = line;
            plain.remove(QRegularExpression("(`+)(?!`).*?(?<!`)\\1(?!`)"));
            QVERIFY2(!plain.contains("<script") && !plain.contains("<img"), qPrintable(line));
            QVERIFY2(!plain.contains("](http"), qPrintable(line));
            QVERIFY2(!plain.contains("@octocat"), qPrintable(line));
            QVERIFY2(!line.startsWith("# heading"), qPrintable(line));
            if (line.startsWith('|')) {
                QString cells = line;
                cells.remove("\\|");
                QVERIFY2(cells.endsWith('|'), qPrintable(line));
            }
        }
        QVERIFY(!fenced);
    }

    void jsonKeepsItsShape()
    {
        const auto document = built(training());
        const std::string text = report::writeJson(*document);
        const Json json = Json::parse(text);
        QCOMPARE(json["schema"].get<int>(), 1);
        QCOMPARE(json["kind"].get<std::string>(), std::string("tidemark-report"));
        QCOMPARE(json["sections"].size(), document->sections.size());
        for (std::size_t s = 0; s < document->sections.size(); ++s) {
            const Json& section = json["sections"][s];
            QCOMPARE(section["id"].get<std::string>(), document->sections[s].id);
            QCOMPARE(section["blocks"].size(), document->sections[s].blocks.size());
            for (std::size_t b = 0; b < document->sections[s].blocks.size(); ++b) {
                const Json& block = section["blocks"][b];
                if (const auto* table = std::get_if<report::Table>(&document->sections[s].blocks[b])) {
                    QCOMPARE(block["type"].get<std::string>(), std::string("table"));
                    QCOMPARE(block["rows"].size(), table->rows.size());
                    for (std::size_t r = 0; r < table->rows.size(); ++r) {
                        QCOMPARE(block["rows"][r].size(), table->columns.size());
                        for (std::size_t c = 0; c < table->columns.size(); ++c) {
                            const report::Cell& cell = table->rows[r][c];
                            const Json& written = block["rows"][r][c];
                            QCOMPARE(written["text"].get<std::string>(), cell.text.plain());
                            if (std::holds_alternative<std::int64_t>(cell.exact))
                                QCOMPARE(written["value"].get<std::int64_t>(), numberOf(cell));
                        }
                    }
                }
            }
        }
        QCOMPARE(nlohmann::ordered_json::parse(text).dump(1, ' ', false) + '\n', text);
    }

    void equalInputGivesEqualBytes()
    {
        for (const report::Exporter& exporter : report::exporters()) {
            const std::string a = exporter.write(*built(training()));
            const std::string b = exporter.write(*built(training()));
            QVERIFY2(a == b, exporter.name);
        }
        report::ReportInput input = training();
        input.nowUs = 1'700'000'000'000'000;
        QCOMPARE(built(input)->foot.find("written"), std::string::npos);
        report::ReportWish wish;
        wish.includeTime = true;
        QVERIFY(built(input, wish)->foot.find("written 2023-11-14") != std::string::npos);
    }

    void partsInTheOrderWishedFor()
    {
        report::ReportWish wish;
        wish.parts = {report::Part::Glossary, report::Part::Live, report::Part::Figures, report::Part::Live};
        const auto document = built(training(), wish);
        QCOMPARE(document->sections.size(), std::size_t(3));
        QCOMPARE(document->sections[0].id, std::string("glossary"));
        QCOMPARE(document->sections[1].id, std::string("live"));
        QCOMPARE(document->sections[2].id, std::string("figures"));
        for (const report::Part part : report::allParts())
            QVERIFY(report::partFromName(report::partName(part)) == part);
        QVERIFY(!report::partFromName("nonsense"));
    }

    void verdictComesFirst()
    {
        SmallRun quiet;
        quiet.sites = {{"f@/x/a.py:1", 1 << 20, 2}};
        const auto document = built(reportInput(quiet.make()));
        QVERIFY2(document->title.find("could not be decided") != std::string::npos, document->title.c_str());
        const report::ReportInput failed = reportInput(fragmentedProgram());
        const auto busy = built(failed);
        QCOMPARE(busy->title, std::string("Out of memory by fragmentation, not by size"));
        const OomAutopsy& oom = failed.diagnosis->devices[0].ooms.back();
        QCOMPARE(exactOf(*busy, "failed-request"), static_cast<std::int64_t>(*oom.request));
        QCOMPARE(exactOf(*busy, "pinned"), static_cast<std::int64_t>(oom.pinned));
        QCOMPARE(exactOf(*busy, "slack"), *oom.slack);
        QCOMPARE(exactOf(*busy, "reserved-at-failure"), oom.reserved);
        QVERIFY(tableOf(*busy, "verdict", "fixes") != nullptr);
    }

    void comparison()
    {
        SmallRun a;
        a.sites = {{"f@/x/attn.py:91", 64 << 20, 2}, {"g@/x/mlp.py:5", 10 << 20, 1}};
        SmallRun b = a;
        b.sites[0].count = 5;
        const compare::Side left = diagnosedSide(a.make());
        report::ReportInput input;
        input.rank = left.rank;
        input.diagnosis = left.diagnosis;
        input.comparison = compare::compareSides(left, diagnosedSide(b.make()), {}, {});
        report::ReportWish wish;
        wish.topRows = 1;
        const auto document = built(input, wish);
        const report::Table* table = tableOf(*document, "comparison", "differences");
        QVERIFY(table != nullptr);
        std::int64_t sum = 0;
        for (const auto& row : table->rows)
            sum += numberOf(row[3]);
        for (std::size_t i = 0; i + 1 < table->foot.size(); ++i)
            sum += numberOf(table->foot[i][3]);
        QCOMPARE(sum, input.comparison->table.delta);
        QCOMPARE(numberOf(table->foot.back()[3]), sum);
        QCOMPARE(htmlFault(report::writeHtml(*document)), std::string());
        const Json json = Json::parse(report::writeJson(*document));
        QCOMPARE(
            json["data"]["comparison"]["peak"]["delta"].get<std::int64_t>(), input.comparison->peak.delta());
    }

    void filesWithoutAnything()
    {
        TraceMaker maker;
        report::ReportInput input = reportInput(maker.finish());
        const auto document = built(input);
        QVERIFY(!document->title.empty());
        for (const report::Exporter& exporter : report::exporters())
            QVERIFY(!exporter.write(*document).empty());
        TraceMaker segments;
        segments.holedSegment(0, 20, 4);
        const auto state = built(reportInput(segments.finish()));
        QCOMPARE(exactOf(*state, "live"), std::int64_t{4 << 20});
        QCOMPARE(htmlFault(report::writeHtml(*state)), std::string());
    }

    void stopped()
    {
        std::stop_source stop;
        stop.request_stop();
        Job job;
        job.stop = stop.get_token();
        QVERIFY(report::buildReport(training(), {}, nullptr, job) == nullptr);
    }

    void annotationsAndRanks()
    {
        report::ReportInput input = training();
        report::Annotation note;
        note.text = "This is the step to move.";
        note.from = report::PointAnchor{12, 1 << 30};
        input.annotations = {note, note};
        input.annotations[1].input = 7; // of another file
        input.ranks = {report::rankRow(*input.diagnosis), report::rankRow(*input.diagnosis)};
        input.ranks[1].problem = "cannot be read";
        const auto document = built(input);
        const auto& list = std::get<report::List>(document->section("annotations")->blocks.front());
        // All of them, so that numbers are those on the pictures.
        QCOMPARE(list.items.size(), std::size_t(2));
        QCOMPARE(list.items[0].plain(),
            std::string("This is the step to move. – note, event 12 at 1.00\u00a0GiB"));
        QCOMPARE(list.items[1].plain(),
            std::string("This is the step to move. – note, event 12 at 1.00\u00a0GiB, on another file"));
        const report::Table* ranks = tableOf(*document, "ranks", "ranks");
        QCOMPARE(numberOf(ranks->rows[0][2]), exactOf(*document, "peak-live"));
        QCOMPARE(numberOf(ranks->rows[1][2]), std::int64_t{-1});
    }
};

QTEST_GUILESS_MAIN(TestReport)
#include "tst_report.moc"
