// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/rule_case.hpp"

#include <QtTest>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr std::int64_t mib = 1LL << 20;

/// What one rule says of a trace and its failed requests.
RuleOutput outputOf(const RuleCase& rules, std::string_view id)
{
    std::vector<OomAutopsy> ooms;
    for (const OomEvent& oom : rules.replay().device().ooms)
        ooms.push_back(autopsy(rules.replay(), oom, std::nullopt));
    RuleInput input = rules.input();
    input.ooms = ooms;
    RuleOutput output;
    for (const Rule& each : tidemark::rules())
        if (id == each.id)
            each.run(input, output, Job{});
    return output;
}

} // namespace

class TestRulesPools : public QObject {
    Q_OBJECT
private slots:
    void wrongPoolOfACapture()
    {
        TraceMaker maker;
        const PoolId own = maker.builder().pool(1, 0);
        maker.holedSegment(0, 100, 4);
        maker.holedSegment(1000, 30, 10, own, 7);
        maker.holedSegment(2000, 20, 10, maker.builder().pool(2, 0));
        maker.setPool(own);
        maker.event(Action::Oom, 0, 60 * mib).deviceFree = 10 * mib;
        const RuleOutput output = outputOf(RuleCase(maker), "wrong-pool");
        QCOMPARE(output.findings.size(), std::size_t(1));
        const Finding& f = output.findings.front();
        QCOMPARE(f.bytes, std::uint64_t(126 * mib));
        QCOMPARE(evidenceNumber(f, "elsewhere_default_pool"), 96 * mib);
        QCOMPARE(evidenceNumber(f, "elsewhere_streams"), 20 * mib);
        QCOMPARE(evidenceNumber(f, "elsewhere_private_pools"), 10 * mib);
        QVERIFY2(f.title.ends_with("lay free in other streams, the default pool and other private pools."),
            f.title.c_str());
        QVERIFY(fixOf(f, "empty-cache-before-capture"));
        QVERIFY(!fixOf(f, "expandable-segments")); // nothing is flushed while the scope is open
    }

    void manyGraphPools()
    {
        constexpr int count = 20000;
        TraceMaker maker;
        for (int i = 0; i < count; ++i)
            maker.holedSegment(100 * i, 4, 0, maker.builder().pool(i + 1, 0));
        const RuleCase rules(maker);
        QElapsedTimer timer;
        timer.start();
        const RuleOutput unshared = rules.run("unshared-pools");
        QCOMPARE(unshared.findings.size(), std::size_t(1));
        QCOMPARE(unshared.findings.front().bytes, std::uint64_t(count - 1) * 4 * mib);
        QCOMPARE(unshared.findings.front().segments.size(), std::size_t(count));
        const RuleOutput held = rules.run("pool-held");
        QCOMPARE(held.findings.size(), std::size_t(1));
        QCOMPARE(held.findings.front().bytes, std::uint64_t(count) * 4 * mib);
        QCOMPARE(evidenceNumber(held.findings.front(), "pools"), std::int64_t(count));
        QVERIFY2(timer.elapsed() < 10000, qPrintable(QString::number(timer.elapsed())));
    }
};

QTEST_GUILESS_MAIN(TestRulesPools)
#include "tst_rules_pools.moc"
