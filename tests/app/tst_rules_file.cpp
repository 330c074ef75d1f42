// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/rules_file.hpp"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace tidemark;

class TestRulesFile : public QObject {
    Q_OBJECT

private slots:
    /// Whatever its name says, and with nothing but blanks.
    void emptyFiles()
    {
        for (const char* name : {"rules.json", "rules.yaml"})
            for (const char* text : {"", " \n\t\n", "# rules\n  # none"}) {
                const auto read = readLabelRules(write(name, text));
                QVERIFY(!read);
                QVERIFY2(read.error().message.find("the file is empty") != std::string::npos,
                    read.error().message.c_str());
            }
    }

    /// What would run for ages is cut short, and after a while not tried any more.
    void expressionsWithoutEnd()
    {
        const auto regex = makeRegex("^(a+)+$");
        QVERIFY(regex.ok());
        QVERIFY((*regex)("aaaa"));
        const std::string hostile = std::string(60, 'a') + "!";
        for (int i = 0; i < 20; ++i)
            QVERIFY(!(*regex)(hostile));
        QVERIFY(!(*regex)("aaaa"));
        QVERIFY(takeSlowExpressions().empty()); // a filter's: nobody asked
    }

    void slowRulesAreTold()
    {
        const auto rules
            = readLabelRules(write("slow.json", R"({"rules": [{"label": "x", "match": "^(a+)+$"}]})"));
        QVERIFY2(rules.ok(), rules ? "" : rules.error().message.c_str());
        const TextPredicate& expression = (*rules)->rules().front().all.front().front().expression;
        const std::string hostile = std::string(60, 'a') + "!";
        for (int i = 0; i < 30; ++i)
            QVERIFY(!expression(hostile));
        const std::vector<std::string> told = takeSlowExpressions();
        QCOMPARE(told.size(), std::size_t(1));
        QVERIFY2(told.front().find("slow.json: the expression ^(a+)+$ takes too long") != std::string::npos,
            told.front().c_str());
        QVERIFY(takeSlowExpressions().empty());
    }

    /// Usual expressions on long names are not cut short.
    void longNames()
    {
        const auto regex = makeRegex("attention.*forward@.*\\.py:\\d+");
        QVERIFY(regex.ok());
        QVERIFY((*regex)(std::string(3000, 'x') + "Attention_forward@" + std::string(3000, 'y') + ".py:12"));
        for (int i = 0; i < 50; ++i)
            QVERIFY(!(*regex)(std::string(8000, 'a')));
        QVERIFY((*regex)("attention forward@m.py:1"));
    }

private:
    std::filesystem::path write(const char* name, const char* text)
    {
        QFile file(m_folder.filePath(QLatin1String(name)));
        if (!file.open(QIODevice::WriteOnly) || file.write(text) < 0)
            qFatal("cannot write %s", name);
        return file.fileName().toStdString();
    }
    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(TestRulesFile)
#include "tst_rules_file.moc"
