// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/frame_matcher.hpp"
#include "model/lens/label_rules.hpp"

#include <QTest>

#include <algorithm>
#include <set>

using namespace tidemark;

class TestLabelRules : public QObject {
    Q_OBJECT
private slots:
    void patterns()
    {
        QVERIFY(fitsGlob("a*c", "abbc"));
        QVERIFY(!fitsGlob("a*c", "ab/c"));
        QVERIFY(fitsGlob("a**c", "ab/c"));
        QVERIFY(fitsGlob("*a*b", "xaab"));
        QVERIFY(!fitsGlob("a", "ab"));
        QVERIFY(fitsGlob("**/moe/**", "megatron/moe/experts.py"));
        QVERIFY(fitsPathEnd("torch/optim/*.py", "/usr/lib/site-packages/torch/optim/adam.py"));
        QVERIFY(fitsPathEnd("torch/optim/*.py", "C:\\py\\torch\\optim\\adam.py"));
        QVERIFY(!fitsPathEnd("torch/optim/*.py", "/x/mytorch/optim/adam.py"));
        QVERIFY(!fitsPathEnd("optim/adam.py", "/x/torch/myoptim/adam.py"));
        QVERIFY(fitsPathEnd("adam.py", "adam.py"));
        QVERIFY(fitsPathEnd("megatron/core/ssm/**", "/o/megatron/core/ssm/gdn/net.py"));
        QVERIFY(fitsPathEnd("", "/anything"));
    }

    void builtInTable()
    {
        const auto rules = LabelRules::standard();
        QVERIFY(rules->rules().size() > 40);
        std::vector<std::string> order;
        for (const LabelRule& rule : rules->rules())
            if (std::ranges::find(order, rule.id) == order.end())
                order.push_back(rule.id);
        // The order of the definitions decides; rules of our own may stand between.
        const std::vector<std::string> defined{"F-ncclub", "F-graph", "F-mfsdp", "F-fsdp2", "F-ddpbuf",
            "F-master", "F-opt", "F-opttmp", "F-gmb", "F-loraA", "F-lora", "F-loss", "F-emb", "F-attn",
            "F-mla", "F-qkv", "F-proj", "F-mlp-act", "F-mlp", "F-norm", "F-bda", "F-ssm", "F-tpcomm", "F-ub",
            "F-ppcomm", "F-fp8", "F-off", "F-data", "F-ckpt", "F-wt", "F-nn", "F-bwd"};
        std::size_t at = 0;
        for (const std::string& id : order)
            if (at < defined.size() && id == defined[at])
                ++at;
        QCOMPARE(at, defined.size());
        QVERIFY(rules->find("F-moe-act") && rules->find("F-shared"));
        QVERIFY(!rules->find("F-nothing"));
    }

    void ownRulesComeFirst()
    {
        const auto rules = LabelRules::withUser(
            R"({"rules": [{"id": "mine", "label": "my cache", "all": [["cache.py:put,get", ":keep"]]}]})",
            "my.json");
        QVERIFY(rules.ok());
        QCOMPARE((*rules)->find("mine"), std::optional<std::size_t>(0));
        QCOMPARE((*rules)->rules().size(), LabelRules::standard()->rules().size() + 1);
        const LabelRule& rule = (*rules)->rules().front();
        QCOMPARE(rule.all.size(), std::size_t(1));
        QCOMPARE(rule.all[0][0].path, std::string("cache.py"));
        QCOMPARE(rule.all[0][0].functions, (std::vector<std::string>{"put", "get"}));
        QCOMPARE(rule.all[0][1].path, std::string());
    }

    /// The colons of C++ names and of drive letters do not part path and functions.
    void colonsWithinNames()
    {
        const auto rules = LabelRules::withUser(
            R"({"rules": [{"id": "mine", "label": "x", "all": [[":at::native::empty", "C:/lib/a.py:put", "b.py"]]}]})",
            "my.json");
        QVERIFY(rules.ok());
        const std::vector<FramePattern>& patterns = (*rules)->rules().front().all[0];
        QCOMPARE(patterns[0].path, std::string());
        QCOMPARE(patterns[0].functions, (std::vector<std::string>{"at::native::empty"}));
        QCOMPARE(patterns[1].path, std::string("C:/lib/a.py"));
        QCOMPARE(patterns[1].functions, (std::vector<std::string>{"put"}));
        QCOMPARE(patterns[2].path, std::string("b.py"));
        QVERIFY(patterns[2].functions.empty());
    }

    /// Expressions see "function@path:line"; colours are those of the palette.
    void expressions()
    {
        const RegexFactory contains = [](const std::string& pattern) -> Result<TextPredicate> {
            return TextPredicate(
                [pattern](std::string_view text) { return text.find(pattern) != std::string_view::npos; });
        };
        const auto rules = LabelRules::withUser(
            R"({"rules": [{"label": "x", "match": ["put@/a/cache.py:7", "train"], "colour": "sage"}]})",
            "my.json", contains);
        QVERIFY2(rules.ok(), rules.ok() ? "" : rules.error().message.c_str());
        const LabelRule& rule = (*rules)->rules().front();
        QCOMPARE((*rules)->own(), std::size_t(1));
        QCOMPARE(LabelRules::standard()->own(), std::size_t(0));
        QCOMPARE(rule.all.size(), std::size_t(2));
        QVERIFY(rule.all[0][0].expression("put@/a/cache.py:7"));
        QVERIFY(!rule.all[0][0].expression("put@/a/cache.py:8"));
        QCOMPARE(rule.colour, std::optional<std::uint8_t>(8));
        QCOMPARE(rule.id, std::string("rule 1"));
        // Without somebody who knows expressions they are refused, not ignored.
        QVERIFY(!LabelRules::withUser(R"({"rules": [{"label": "x", "match": "a"}]})", "my.json"));
    }

    void errorsNameRuleAndKey_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QStringList>("words");
        QTest::newRow("not JSON") << QByteArray("{") << QStringList{"my.json", "JSON"};
        QTest::newRow("list") << QByteArray("[]") << QStringList{"rules"};
        QTest::newRow("no rules") << QByteArray("{}") << QStringList{"\"rules\""};
        QTest::newRow("unknown top") << QByteArray(R"({"rule": []})") << QStringList{"\"rule\""};
        QTest::newRow("no label") << QByteArray(R"({"rules": [{"id": "a"}]})")
                                  << QStringList{"rule 1 (a)", "\"label\""};
        QTest::newRow("second") << QByteArray(
            R"({"rules": [{"id": "a", "label": "x"}, {"id": "b", "label": "y", "al": []}]})")
                                << QStringList{"rule 2 (b)", "\"al\""};
        QTest::newRow("colour") << QByteArray(R"({"rules": [{"id": "a", "label": "x", "colour": "puce"}]})")
                                << QStringList{"rule 1 (a)", "\"colour\"", "teal"};
        QTest::newRow("flat group") << QByteArray(
            R"({"rules": [{"id": "a", "label": "x", "all": ["p.py"]}]})")
                                    << QStringList{"rule 1 (a)", "\"all\""};
        QTest::newRow("number") << QByteArray(R"({"rules": [{"id": "a", "label": "x", "none": [3]}]})")
                                << QStringList{"rule 1 (a)", "\"none\""};
        QTest::newRow("flag") << QByteArray(R"({"rules": [{"id": "a", "label": "x", "innermost": 1}]})")
                              << QStringList{"rule 1 (a)", "\"innermost\""};
        QTest::newRow("empty function")
            << QByteArray(R"({"rules": [{"id": "a", "label": "x", "all": [["p.py:f,"]]}]})")
            << QStringList{"rule 1 (a)", "\"all\"", "p.py:f,"};
    }
    void errorsNameRuleAndKey()
    {
        QFETCH(QByteArray, text);
        QFETCH(QStringList, words);
        const auto rules = LabelRules::withUser(text.toStdString(), "my.json");
        QVERIFY(!rules.ok());
        const QString message = QString::fromStdString(rules.error().message);
        for (const QString& word : words)
            QVERIFY2(message.contains(word), qPrintable(message));
    }
};

QTEST_APPLESS_MAIN(TestLabelRules)
#include "tst_label_rules.moc"
