// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/filter.hpp"
#include "tests/support/made_up_program.hpp"
#include "tests/support/trace_maker.hpp"

#include <QTest>

#include <array>

using namespace tidemark;
using namespace tidemark::test;

namespace {

/// Addresses of the allocations a search finds, in stacking order.
std::vector<std::uint64_t> found(const std::shared_ptr<const Replay>& replay, const char* text)
{
    const Sites sites = Sites::build(*replay->snapshot, SiteMode::User);
    const auto filter = Filter::parse(text);
    if (!filter)
        qFatal("%s", filter.error().message.c_str());
    const auto flags = filter.value().match({*replay, sites, nullptr, {}}, {});
    std::vector<std::uint64_t> addresses;
    for (std::size_t i = 0; i < flags->size(); ++i)
        if ((*flags)[i] != 0)
            addresses.push_back(replay->timeline.allocations().address[i]);
    return addresses;
}

using Addresses = std::vector<std::uint64_t>;

} // namespace

class TestFilter : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        TraceMaker maker;
        const StackId empty = maker.builder().stacks().intern({});
        maker.setStream(0);
        maker.alloc(0x1000, 64, maker.stack({"f@m.py:1", "main@train.py:9"}));
        maker.alloc(0x2000, 128, maker.stack({"f@m.py:12", "main@train.py:9"}));
        maker.setStream(7);
        maker.alloc(0x3000, 4096, empty);
        maker.segment(0x1000, 0x4000);
        maker.block(BlockState::Allocated, 0x1000, 64);
        maker.block(BlockState::Allocated, 0x1000, 128);
        maker.block(BlockState::Allocated, 0x1000, 4096);
        maker.block(BlockState::Allocated, 0x1000, 512, empty);
        m_replay = *Replay::build(maker.finish(), 0, {});
    }

    /// A whole site is that site alone; a part of its name is all that contain it.
    void sites()
    {
        QCOMPARE(found(m_replay, "site:f@m.py:1"), (Addresses{0x1000}));
        QCOMPARE(found(m_replay, "site:f@m.py:12"), (Addresses{0x2000}));
        QCOMPARE(found(m_replay, "site:f@m.py"), (Addresses{0x1000, 0x2000}));
        QCOMPARE(found(m_replay, "-site:f@m.py:1"), (Addresses{0x4000, 0x2000, 0x3000}));
    }

    /// Memory with an empty stack is found by the name under which it is listed.
    void emptyStacks()
    {
        QCOMPARE(found(m_replay, "\"before recording\""), (Addresses{0x4000}));
        QCOMPARE(found(m_replay, "\"no stack\""), (Addresses{0x3000}));
    }

    /// Values with spaces and parentheses stand in quotes; what a view offers finds what it is offered for.
    void quotedValues()
    {
        QCOMPARE(found(m_replay, "site:\"before recording → end\""), (Addresses{0x4000}));
        QCOMPARE(found(m_replay, "site:\"no stack\" size>1"), (Addresses{0x3000}));
        QCOMPARE(found(m_replay, "(site:\"no stack\")"), (Addresses{0x3000}));
        QCOMPARE(found(m_replay, "site:\"no stack"), (Addresses{0x3000})); // still being typed
        QCOMPARE(filterTerm("site:", "f@m.py:1"), std::string("site:f@m.py:1"));
        QCOMPARE(
            filterTerm("site:", "DivBackward0 (backward)"), std::string("site:\"DivBackward0 (backward)\""));
        const Sites sites = Sites::build(*m_replay->snapshot, SiteMode::User);
        for (std::uint32_t i = 0; i < m_replay->timeline.allocations().count(); ++i) {
            const std::string site = allocationSite(*m_replay, sites, AllocationId{i});
            const Addresses hits = found(m_replay, filterTerm("site:", site).c_str());
            QVERIFY2(std::ranges::find(hits, m_replay->timeline.allocations().address[i]) != hits.end(),
                site.c_str());
        }
    }

    void figures()
    {
        QCOMPARE(found(m_replay, "size>=128 size<4096"), (Addresses{0x4000, 0x2000}));
        QCOMPARE(found(m_replay, "stream:7"), (Addresses{0x3000}));
        QCOMPARE(found(m_replay, "0x2001"), (Addresses{0x2000}));
        QCOMPARE(found(m_replay, "train.py"), (Addresses{0x1000, 0x2000}));
        QVERIFY(!Filter::parse("size>many"));
    }

    void joined()
    {
        QCOMPARE(found(m_replay, "site:f@m.py:1 or site:f@m.py:12"), (Addresses{0x1000, 0x2000}));
        QCOMPARE(found(m_replay, "size>100 and (stream:7 or train.py)"), (Addresses{0x2000, 0x3000}));
        QCOMPARE(found(m_replay, "(size>100)(stream:7 OR train.py)"), (Addresses{0x2000, 0x3000}));
        QCOMPARE(found(m_replay, "not (stream:7 or train.py)"), (Addresses{0x4000}));
        QCOMPARE(found(m_replay, "-(stream:7 or train.py)"), (Addresses{0x4000}));
        QCOMPARE(found(m_replay, "not -stream:7"), (Addresses{0x3000}));
        // "and" binds before "or".
        QCOMPARE(found(m_replay, "size=64 or size>100 and stream:7"), (Addresses{0x1000, 0x3000}));
        QCOMPARE(found(m_replay, "\"or\""), (Addresses{0x4000})); // before recORding
        QCOMPARE(found(m_replay, ""), (Addresses{0x4000, 0x1000, 0x2000, 0x3000}));
    }

    void fields()
    {
        QCOMPARE(found(m_replay, "file:train.py"), (Addresses{0x1000, 0x2000}));
        QCOMPARE(found(m_replay, "file:main"), Addresses{}); // that is a function
        QCOMPARE(found(m_replay, "addr:0x2001"), (Addresses{0x2000}));
        QCOMPARE(found(m_replay, "state:before"), (Addresses{0x4000}));
        QCOMPARE(found(m_replay, "state:live").size(), std::size_t(4));
        QCOMPARE(found(m_replay, "state:freed"), Addresses{});
        QCOMPARE(found(m_replay, "event:1"), (Addresses{0x2000}));
        QCOMPARE(found(m_replay, "event:1..2"), (Addresses{0x2000, 0x3000}));
        QCOMPARE(found(m_replay, "device:0").size(), std::size_t(4));
        QCOMPARE(found(m_replay, "device:1"), Addresses{});
        // Without labels and findings nothing has any.
        QCOMPARE(found(m_replay, "label:mlp"), Addresses{});
        QCOMPARE(found(m_replay, "role:saved or finding:leak"), Addresses{});
        QVERIFY(Filter::parse("not role:saved")->needsDiagnosis());
        QVERIFY(!Filter::parse("site:f size>1")->needsDiagnosis());
    }

    void errors_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("says");
        QTest::newRow("open") << "(size>1"
                              << "closing parenthesis is missing";
        QTest::newRow("close") << "size>1)"
                               << "has no opening one";
        QTest::newRow("nothing inside") << "a ()"
                                        << "missing behind the opening";
        QTest::newRow("or first") << "or a"
                                  << "stands between two things";
        QTest::newRow("or last") << "a or"
                                 << "stands between two things";
        QTest::newRow("and or") << "a and or b"
                                << "stands between two things";
        QTest::newRow("not what") << "a not"
                                  << "missing behind it";
        QTest::newRow("only and") << "and"
                                  << "stands between two things";
        QTest::newRow("or )") << "(a or )"
                              << "before the closing parenthesis";
        QTest::newRow("state") << "state:x"
                               << "live, freed or before";
        QTest::newRow("event") << "event:9..2"
                               << "events are numbers";
        QTest::newRow("pool") << "pool:7"
                              << "two numbers";
        QTest::newRow("address") << "addr:7"
                                 << "hexadecimal";
        QTest::newRow("no field") << "foo:bar"
                                  << "no field of that name; there are site:";
        QTest::newRow("no field inside") << "size>1 (a or modul:mlp)"
                                         << "no field of that name";
        QTest::newRow("size") << "size:64M"
                              << "size>64M";
        QTest::newRow("age") << "Age:1s"
                             << "age<1s";
        QTest::newRow("device") << "device:gpu"
                                << "a number";
    }
    void errors()
    {
        QFETCH(QString, text);
        QFETCH(QString, says);
        const auto filter = Filter::parse(text.toStdString());
        QVERIFY(!filter);
        QVERIFY2(filter.error().message.find(says.toStdString()) != std::string::npos,
            filter.error().message.c_str());
    }

    /// Names of code, paths and what is quoted are texts, whatever colons they have.
    void colonsInTexts()
    {
        for (const char* text : {"std::sort", "at::native:x", "model.py:57", "C:/a", "foo:", "https://a.b",
                 "\"foo:bar\"", "f@m.py:3", "_x:1", "site:foo:bar"})
            QVERIFY2(Filter::parse(text).ok(), text);
    }

    /// Chips: what all must hold, each for itself; anything else is one.
    void parts_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QStringList>("parts");
        QTest::newRow("terms") << "site:a size>1" << QStringList{"site:a", "size>1"};
        QTest::newRow("and") << " site:a and  (b or c) " << QStringList{"site:a", "(b or c)"};
        QTest::newRow("not") << "-x not y" << QStringList{"-x", "not y"};
        QTest::newRow("or") << "a or b c" << QStringList{"a or b c"};
        QTest::newRow("quoted") << "\"a b\" c" << QStringList{"\"a b\"", "c"};
        QTest::newRow("quoted value")
            << "site:\"a (b) c\" size>1" << QStringList{"site:\"a (b) c\"", "size>1"};
        QTest::newRow("one") << "a" << QStringList{"a"};
        QTest::newRow("none") << " " << QStringList{};
    }
    void parts()
    {
        QFETCH(QString, text);
        QFETCH(QStringList, parts);
        QStringList got;
        const std::string typed = text.toStdString();
        const auto filter = Filter::parse(typed);
        QVERIFY(filter);
        for (const auto& [begin, end] : filter->parts())
            got << QString::fromStdString(typed.substr(begin, end - begin));
        QCOMPARE(got, parts);
    }

    /// Whatever is typed is a filter or an error, and a filter of random parts is what logic says.
    void random()
    {
        SeededNumbers numbers(5);
        const std::array words{"site:f", "size>100", "stream:7", "train.py", "-state:before", "(", ")", "and",
            "or", "not", "-", "\"", "/x/", "pool:(0,", "0x1000", "size>"};
        for (int i = 0; i < 5000; ++i) {
            std::string text;
            for (std::uint64_t n = numbers.below(7); n > 0; --n)
                text += std::string(words[numbers.below(words.size())]) + (numbers.below(4) ? " " : "");
            if (const auto filter = Filter::parse(text)) {
                const std::string twice = "not not (" + text + ")";
                if (!filter->empty() && Filter::parse(twice))
                    QVERIFY2(found(m_replay, text.c_str()) == found(m_replay, twice.c_str()), text.c_str());
            }
        }
    }

private:
    std::shared_ptr<const Replay> m_replay;
};

QTEST_GUILESS_MAIN(TestFilter)
#include "tst_filter.moc"
