// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/embedded.hpp"
#include "model/playbook/playbook.hpp"

#include <QtTest>

#include <algorithm>
#include <set>

using namespace tidemark;

namespace {

/// The rules of findings, as help/findings.md lists them.
const std::set<std::string> knownRules{"fragmentation", "capacity", "wrong-pool", "capture-blocked",
    "outside-allocator", "estimate-exceeds-device", "lora-gathered-input", "lora-extra-copies",
    "recompute-candidate", "recompute-off", "checkpoint-inputs", "logits", "optimizer-peak", "gradients-kept",
    "setup-peak", "leak", "batch-free", "reserved-creep", "phase-reserved", "pool-held", "unshared-pools",
    "pending-frees", "allocator-retries", "rounding-waste", "rank-imbalance", "unreachable-large-blocks",
    "all-idle", "same-size-temporaries", "lora-input-kept", "checkpoint-level", "recompute-burst", "tight",
    "thin-margin"};

} // namespace

class TestPlaybook : public QObject {
    Q_OBJECT
private slots:
    void parses()
    {
        const auto parsed = Playbook::parse(embeddedPlaybook());
        QVERIFY2(parsed.ok(), parsed ? "" : parsed.error().message.c_str());
        QVERIFY(!Playbook::standard().entries().empty());
    }

    void refusesWhatIsNoPlaybook_data()
    {
        QTest::addColumn<QByteArray>("json");
        QTest::newRow("not JSON") << QByteArray("{");
        QTest::newRow("no steps") << QByteArray("{}");
        QTest::newRow("a step without text") << QByteArray(
            R"({"steps": [{"id": "S1"}], "rows": [], "labels": [], "results": [], "notes": []})");
        QTest::newRow("a list") << QByteArray("[]");
    }
    void refusesWhatIsNoPlaybook()
    {
        QFETCH(QByteArray, json);
        const auto parsed = Playbook::parse(json.toStdString());
        QVERIFY(!parsed.ok());
        QVERIFY(parsed.error().message.starts_with("The playbook cannot be read"));
    }

    void stepsAndRowsAreAllThereInOrder()
    {
        const Playbook& book = Playbook::standard();
        std::string steps;
        for (const PlaybookStep& each : book.steps())
            steps += each.id + " ";
        QCOMPARE(steps, std::string("S1 S2 S3 S4 S5 S6 S7 "));
        std::string rows;
        for (const PlaybookRow& each : book.rows())
            rows += each.id + " ";
        QCOMPARE(rows, std::string("D1 D2 D3 D4 D5 D6 R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12 "));
        std::string labels;
        for (const RecomputeLabel& each : book.labels())
            labels += each.name + (each.pinned ? " " : "? ");
        QCOMPARE(labels,
            std::string(
                "core_attn mla_up_proj layernorm moe_act mlp moe shared_experts gdn_norm_out gdp_in_proj? "
                "gdp_qkv? mhc? "));
        QCOMPARE(book.step("S2")->keys[1], std::string("peft.sequence_parallel_input_regather"));
        QCOMPARE(book.row("D5")->id, std::string("D5"));
        QVERIFY(!book.row("D7") && !book.step("S8") && !book.label("attention"));
    }

    void everyReferenceLeadsSomewhere()
    {
        const Playbook& book = Playbook::standard();
        std::set<std::string> ids;
        for (const PlaybookEntry& each : book.entries()) {
            QVERIFY2(ids.insert(each.id).second, each.id.c_str());
            QVERIFY2(!each.title.empty() && !each.text.empty(), each.id.c_str());
            for (const std::string& rule : each.rules)
                QVERIFY2(knownRules.contains(rule), (each.id + ": " + rule).c_str());
        }
        for (const PlaybookStep& each : book.steps()) {
            QVERIFY2(!each.source.empty() && !each.cost.empty(), each.id.c_str());
            for (const std::string& note : each.verify)
                QVERIFY2(book.note(note) && book.note(note)->kind == PlaybookNote::Kind::Verification,
                    note.c_str());
        }
        for (const MeasuredResult& each : book.results())
            QVERIFY2(
                !each.source.empty() && !each.model.empty() && !each.configuration.empty(), each.id.c_str());
        for (const PlaybookNote& each : book.notes())
            QVERIFY2(
                (each.kind == PlaybookNote::Kind::Verification) == !each.command.empty(), each.id.c_str());
    }

    void figures()
    {
        const Playbook& book = Playbook::standard();
        const auto figure = [&book](const char* id, const char* name, const char* unit) {
            const MeasuredResult* result = book.result(id);
            return result ? result->figure(name, unit).value_or(-1) : -2;
        };
        QCOMPARE(figure("llama3-70b/mlp", "against golden", "%"), -16.4);
        QCOMPARE(figure("llama3-70b/tp8", "throughput", "TFLOP/s/GPU"), 508.7);
        QCOMPARE(figure("lora-regather/qwen3-8b", "saved by the formula", "B"), 4731174912.0);
        QCOMPARE(figure("lora-regather/qwen3-30b-a3b", "throughput change", "%"), -2.89);
        QCOMPARE(figure("moonlight-16b/moe_act", "step time", "ms"), 466.26);
        QCOMPARE(figure("nemotron-3-nano/moe-layernorm", "peak", "GB"), 63.639);
        QCOMPARE(figure("optimizer-offload/100-overlap", "slowdown", "x"), 3.9);
        QCOMPARE(figure("cuda-graphs/pair-on", "peak growth", "GiB"), 33.91);
        QCOMPARE(figure("llama3-70b/cpu-offload", "peak", "GB"), -1.0);
        QCOMPARE(book.results().size(), std::size_t(44));
        const std::string text = resultText(*book.result("lora-regather/qwen3-8b"));
        QVERIFY2(text.find("throughput change \u22126.74\u00a0%") != std::string::npos, text.c_str());
        QVERIFY2(text.find("pull request 4581") != std::string::npos, text.c_str());
    }

    void searching()
    {
        const Playbook& book = Playbook::standard();
        QCOMPARE(book.search("").size(), book.entries().size());
        const auto found = book.search("EXPANDABLE  nccl");
        QVERIFY(!found.empty() && found.size() < book.entries().size());
        for (const PlaybookEntry* each : found)
            QVERIFY2(QString::fromStdString(
                         each->id + each->title + each->text + (each->tags.empty() ? "" : each->tags[0]))
                         .contains("expandable", Qt::CaseInsensitive),
                each->id.c_str());
        QVERIFY(book.search("no such word anywhere").empty());
    }

    /// What a finding of a rule leads to, in the playbook's order.
    void entriesOfARule()
    {
        std::vector<std::string> lora;
        for (const PlaybookEntry& each : Playbook::standard().entries())
            if (std::ranges::find(each.rules, "lora-gathered-input") != each.rules.end())
                lora.push_back(each.id);
        QVERIFY(lora.size() >= 3);
        QCOMPARE(lora[0], std::string("S2"));
        QCOMPARE(lora[1], std::string("D4"));
    }
};

QTEST_GUILESS_MAIN(TestPlaybook)
#include "tst_playbook.moc"
