// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/oom_scene.hpp"

#include "tests/support/trace_maker.hpp"

#include <QTest>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr std::int64_t mib = 1LL << 20;

std::shared_ptr<const OomScene> sceneOf(TraceMaker& maker, std::int64_t request, std::int64_t free)
{
    maker.event(Action::Oom, 0, request * mib).deviceFree = free * mib;
    OomSceneRequest wanted;
    wanted.replay = Replay::build(maker.finish(), 0, {}).value();
    const Sites sites = Sites::build(*wanted.replay->snapshot, SiteMode::User);
    wanted.autopsy = autopsy(*wanted.replay, wanted.replay->device().ooms.front(), std::nullopt);
    wanted.grouping = Grouping::build(*wanted.replay, sites, GroupBy::Site);
    wanted.colouring = Colouring::build(*wanted.replay, sites, ColourBy::Site);
    return buildOomScene(wanted, {});
}

std::uint64_t bytesOf(const OomScene& scene, CapacityPart::Kind kind)
{
    std::uint64_t sum = 0;
    for (const CapacityPart& part : scene.parts)
        sum += part.kind == kind ? part.bytes : 0;
    return sum;
}

} // namespace

class TestOomScene : public QObject {
    Q_OBJECT
private slots:
    void pagesArePinnedAsTheAutopsySays()
    {
        TraceMaker maker;
        maker.holedSegment(0, 100, 25); // the hole holds three whole pages, and 15 MiB
        maker.builder().device(0).segments.back().expandable = true;
        maker.holedSegment(200, 30, 10);
        const auto scene = sceneOf(maker, 90, 5);
        QCOMPARE(bytesOf(*scene, CapacityPart::Kind::Pinned), std::uint64_t(35 * mib));
        QCOMPARE(bytesOf(*scene, CapacityPart::Kind::Releasable), std::uint64_t(60 * mib));
        QCOMPARE(bytesOf(*scene, CapacityPart::Kind::Pinned), scene->autopsy().pinned);
        QCOMPARE(bytesOf(*scene, CapacityPart::Kind::Releasable), scene->autopsy().unflushed);
        QCOMPARE(scene->usable, std::uint64_t(135 * mib));
        QCOMPARE(scene->freeInside, std::uint64_t(95 * mib));
    }

    void elsewhereIsTheAutopsys()
    {
        TraceMaker maker;
        maker.holedSegment(0, 100, 4, PoolId{0}, 7);
        maker.holedSegment(200, 40, 0, maker.builder().pool(0, 1));
        maker.holedSegment(400, 20, 15);
        maker.holedSegment(500, 2, 1, PoolId{0}, 7); // of the small pool: no place for the request
        maker.builder().device(0).segments.back().kind = SegmentKind::Small;
        const auto scene = sceneOf(maker, 60, 10);
        std::uint64_t sum = 0;
        for (const FreeElsewhere& other : scene->elsewhere)
            sum += other.bytes;
        QCOMPARE(sum, std::uint64_t(136 * mib));
        QCOMPARE(sum, scene->autopsy().elsewhere);
        QCOMPARE(scene->elsewhere.front().bytes, std::uint64_t(96 * mib));
        QCOMPARE(scene->stream, scene->autopsy().requestClass.stream);
        QCOMPARE(scene->pool, scene->autopsy().requestClass.pool);
        QVERIFY(scene->ghost && !scene->ghost->reachable);
        QCOMPARE(scene->ghost->size, std::uint64_t(96 * mib));
    }
};

QTEST_GUILESS_MAIN(TestOomScene)
#include "tst_oom_scene.moc"
