// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/search.hpp"
#include "tests/support/trace_maker.hpp"

#include <QTest>

using namespace tidemark;
using namespace tidemark::test;

namespace {

/// Addresses of the allocations a search finds, in stacking order.
std::vector<std::uint64_t> found(const std::shared_ptr<const Replay>& replay, const char* text)
{
    const Sites sites = Sites::build(*replay->snapshot, SiteMode::User);
    const auto query = SearchQuery::parse(text);
    if (!query)
        qFatal("%s", query.error().message.c_str());
    const auto flags = query.value().match(*replay, sites, {});
    std::vector<std::uint64_t> addresses;
    for (std::size_t i = 0; i < flags->size(); ++i)
        if ((*flags)[i] != 0)
            addresses.push_back(replay->timeline.allocations().address[i]);
    return addresses;
}

using Addresses = std::vector<std::uint64_t>;

} // namespace

class TestSearch : public QObject {
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

    void figures()
    {
        QCOMPARE(found(m_replay, "size>=128 size<4096"), (Addresses{0x4000, 0x2000}));
        QCOMPARE(found(m_replay, "stream:7"), (Addresses{0x3000}));
        QCOMPARE(found(m_replay, "0x2001"), (Addresses{0x2000}));
        QCOMPARE(found(m_replay, "train.py"), (Addresses{0x1000, 0x2000}));
        QVERIFY(!SearchQuery::parse("size>many"));
    }

private:
    std::shared_ptr<const Replay> m_replay;
};

QTEST_GUILESS_MAIN(TestSearch)
#include "tst_search.moc"
