// SPDX-License-Identifier: GPL-3.0-or-later
// Settings from strangers: what is wrong with them is told in a line that can be shown.
#include "model/core/text.hpp"
#include "model/playbook/config_tree.hpp"
#include "model/simulate/allocator_settings.hpp"

#include <QTest>

using namespace tidemark;

class TestHostileSettings : public QObject {
    Q_OBJECT
private slots:
    void refusalsCanBeShown_data()
    {
        QTest::addColumn<QByteArray>("conf");
        QTest::newRow("unknown key") << QByteArray("expandable_segm\xd3:True");
        QTest::newRow("value") << QByteArray("expandable_segments:\xff\n\x1b[31m");
        QTest::newRow("reversed text") << QByteArray("\xe2\x80\xae:1");
        QTest::newRow("long key") << QByteArray(QByteArray(100'000, 'k') + ":1");
        QTest::newRow("long value") << QByteArray("max_split_size_mb:" + QByteArray(100'000, 'v'));
    }
    void refusalsCanBeShown()
    {
        QFETCH(QByteArray, conf);
        AllocatorSettings settings;
        const auto done = settings.apply(conf.toStdString());
        QVERIFY(!done);
        const std::string& text = done.error().message;
        QVERIFY(isValidUtf8(text));
        QCOMPARE(displayText(text), text);
        QVERIFY(text.size() < 500);
        QVERIFY(text.ends_with('.'));
    }

    /// The YAML reader quotes what it cannot read.
    void yamlErrorsCanBeShown()
    {
        for (const std::string text : {"a: \"\\\x01\"", "a: \"\\\xff\"", "\"\\\xe2\x80\xae\": 1"}) {
            const auto tree = parseYamlConfig(text, "run_config.yaml");
            QVERIFY2(!tree, text.c_str());
            QVERIFY(isValidUtf8(tree.error().message));
            QCOMPARE(displayText(tree.error().message), tree.error().message);
        }
    }
};

QTEST_GUILESS_MAIN(TestHostileSettings)
#include "tst_hostile_settings.moc"
