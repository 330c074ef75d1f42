// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/rule_tools.hpp"
#include "model/findings/rules/boundaries.hpp"
#include "model/playbook/config_checks.hpp"
#include "model/playbook/playbook.hpp"
#include "tests/support/rule_case.hpp"

#include <QRegularExpression>
#include <QTest>

#include <algorithm>
#include <cmath>

using namespace tidemark;
using namespace tidemark::test;

namespace {

/// A figure that a sentence may cite: of the playbook's measured result.
struct Cited {
    const char* result;
    const char* figure;
    const char* unit;
    /// Subtracted from it; null: nothing.
    const char* from = nullptr;
};

double valueOf(const Cited& cited)
{
    const Playbook& book = Playbook::standard();
    const auto read = [&](const char* id) {
        const MeasuredResult* result = book.result(id);
        const auto value = result ? result->figure(cited.figure, cited.unit) : std::nullopt;
        if (!value)
            qFatal("the playbook lacks %s of %s", cited.figure, id);
        return *value;
    };
    return cited.from ? read(cited.from) - read(cited.result) : read(cited.result);
}

/// The measured numbers of a sentence: those with a unit, and their partners ("704 against 704 TFLOP/s").
QStringList figuresOf(const std::string& text)
{
    static const QRegularExpression number(
        QStringLiteral("(\\d+(?:\\.\\d+)?)(?=[ \\x{a0}](?:%|GB|ms|TFLOP|(?:against|to) "
                       "\\x{2212}?\\d+(?:\\.\\d+)?[ \\x{a0}](?:%|TFLOP)))"));
    QStringList found;
    for (auto match = number.globalMatch(QString::fromStdString(text)); match.hasNext();)
        found += match.next().captured(1);
    return found;
}

/// Every number of the text is the figure named at its place, to the digits that are shown.
QString differences(const std::string& text, const std::vector<Cited>& cited)
{
    const QStringList found = figuresOf(text);
    if (found.size() != static_cast<qsizetype>(cited.size()))
        return QStringLiteral("%1 figures instead of %2 in: %3")
            .arg(found.size())
            .arg(cited.size())
            .arg(QString::fromStdString(text));
    for (std::size_t i = 0; i < cited.size(); ++i) {
        const QString& shown = found[static_cast<qsizetype>(i)];
        const qsizetype point = shown.indexOf('.');
        const int digits = point < 0 ? 0 : static_cast<int>(shown.size() - point - 1);
        const QString want = QString::number(std::abs(valueOf(cited[i])), 'f', digits);
        if (shown != want)
            return QStringLiteral("%1 is %2 in the playbook: %3")
                .arg(shown, want, QString::fromStdString(text));
    }
    return {};
}

const std::vector<Cited> regatherRange{{"lora-regather/gpt-oss-120b", "throughput change", "%"},
    {"lora-regather/qwen3-8b", "throughput change", "%"}};
const std::vector<Cited> expandable{{"llama3-70b/baseline", "throughput", "TFLOP/s/GPU"},
    {"llama3-70b/expandable", "throughput", "TFLOP/s/GPU"}};
const std::vector<Cited> mlp{
    {"llama3-70b/mlp", "against golden", "%"}, {"llama3-70b/mlp", "peak", "GB", "llama3-70b/baseline"}};

} // namespace

/// Figures measured elsewhere stand in sentences of rules, checks and the playbook's own steps: each must be
/// the one of the result it comes from.
class TestCitedFigures : public QObject {
    Q_OBJECT
private slots:
    void recomputeLabels()
    {
        const std::map<std::string, std::vector<Cited>> known{
            {"core_attn", {{"moonlight-16b/core_attn", "step time change", "%"}}},
            {"mla_up_proj",
                {{"moonlight-16b/mla_up_proj", "step time change", "%"},
                    {"moonlight-16b/mla_up_proj", "peak change", "%"}}},
            {"moe_act",
                {{"moonlight-16b/moe_act", "step time change", "%"},
                    {"moonlight-16b/moe_act", "peak change", "%"}}},
            {"layernorm", {{"moonlight-16b/layernorm-moe_act", "step time change", "%"}}}, {"mlp", mlp},
            {"moe", {{"nemotron-3-nano/moe", "step time", "ms"}}}};
        for (const Boundary& boundary : boundaries()) {
            const auto cited = known.find(boundary.label);
            const QString wrong
                = differences(boundary.cost, cited == known.end() ? std::vector<Cited>{} : cited->second);
            QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
        }
    }

    void allocatorAndCapacity()
    {
        TraceMaker maker;
        maker.alloc(0x1000, 512);
        const RuleCase rules(maker);
        RuleInput input = rules.input();
        const QString cost = differences(expandableFix(input, "pages").cost, expandable);
        QVERIFY2(cost.isEmpty(), qPrintable(cost));

        OomAutopsy oom;
        oom.verdict = Verdict::Capacity;
        oom.slack = -512;
        input.ooms = std::span(&oom, 1);
        RuleOutput output;
        for (const Rule& rule : tidemark::rules())
            if (std::string_view(rule.id) == "capacity")
                rule.run(input, output, {});
        QCOMPARE(output.findings.size(), std::size_t(1));
        for (const Fix& fix : output.findings.front().fixes) {
            std::vector<Cited> cited;
            if (fix.id == "raise-pipeline-parallel")
                cited = {{"llama3-70b/pp8", "against golden", "%"}};
            else if (fix.id == "raise-tensor-parallel")
                cited = {{"llama3-70b/tp8", "against golden", "%"}};
            else if (fix.id == "recompute")
                cited = {{"moonlight-16b/moe_act", "step time change", "%"},
                    {"moonlight-16b/layernorm-moe_act", "step time change", "%"}};
            else if (fix.id == "optimizer-offload")
                cited = {{"optimizer-offload/50", "step time", "ms"},
                    {"optimizer-offload/0", "step time", "ms"},
                    {"optimizer-offload/50", "peak", "GB", "optimizer-offload/0"},
                    {"optimizer-offload/100", "step time", "ms"},
                    {"optimizer-offload/100", "peak", "GB", "optimizer-offload/0"}};
            // Two are no results of a study but words of a guide.
            if (fix.id == "recompute-full") {
                QCOMPARE(figuresOf(fix.cost), QStringList{QStringLiteral("30")});
                continue;
            }
            if (fix.id == "distributed-optimizer") {
                QVERIFY2(fix.cost.find("1 to 2") != std::string::npos, fix.cost.c_str());
                continue;
            }
            const QString wrong = differences(fix.cost, cited);
            QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
        }
    }

    void regatherAdvice()
    {
        RunConfig config;
        QVERIFY(config.add(
            R"({"model": {"sequence_parallel": true, "tensor_model_parallel_size": 8, "num_layers": 32,
            "seq_length": 16384, "hidden_size": 8192, "cuda_graph_impl": "none"}, "train": {"micro_batch_size": 1},
            "peft": {"_target_": "megatron.bridge.peft.lora.LoRA", "target_modules": ["linear_qkv"],
            "sequence_parallel_input_regather": false}})",
            "run.json"));
        const auto checks = checkConfig(config, {});
        const auto advice = std::ranges::find(checks, "C-34", &ConfigCheck::id);
        QVERIFY(advice != checks.end());
        const QString wrong = differences(advice->text, regatherRange);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    }

    void stepsOfThePlaybook()
    {
        const std::map<std::string, std::vector<Cited>> known{{"S1", expandable}, {"S2", regatherRange},
            {"S3",
                {{"moonlight-16b/core_attn", "peak change", "%"},
                    {"moonlight-16b/core_attn", "step time change", "%"}}},
            {"S4", {{"llama3-70b/tp8", "against golden", "%"}}},
            {"S5", {{"llama3-70b/pp8", "against golden", "%"}}}, {"S6", mlp}};
        for (const PlaybookStep& step : Playbook::standard().steps()) {
            const auto cited = known.find(step.id);
            const QString wrong
                = differences(step.cost, cited == known.end() ? std::vector<Cited>{} : cited->second);
            QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
        }
    }
};

QTEST_GUILESS_MAIN(TestCitedFigures)
#include "tst_cited_figures.moc"
