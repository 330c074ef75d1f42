// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/widgets/timeline_window.hpp"
#include "widgets/style/empty_state.hpp"

#include <QBuffer>
#include <QPushButton>
#include <QSignalSpy>
#include <QSvgGenerator>

using namespace tidemark;
using test::afterForward;
using test::bySize;
using test::difference;
using test::handMade;
using test::MiB;
using Window = test::TimelineWindowUnderTest;

Q_DECLARE_METATYPE(std::shared_ptr<const tidemark::Rank>)

class TestTimelinePicture : public QObject {
    Q_OBJECT
private slots:
    // ---- colours

    void pixelsHaveTheColoursOfTheTheme()
    {
        for (const ThemeChoice choice : {ThemeChoice::Light, ThemeChoice::Dark}) {
            Window w(test::makeRank(test::trainingStep()), choice);
            const Theme& theme = w.style.theme();
            QCOMPARE(w.colourAt(afterForward, 184 * MiB), theme.category(0));
            QCOMPARE(w.colourAt(30, 1000 * MiB), theme.rgb(Tone::Plot));
            // Older than the recording: tone and hatch, nothing else.
            const QImage picture = w.picture();
            const QRgb tone = theme.colourOf(colourSlot::predatingStays, false);
            const QPoint centre = w.atState(20, 50 * MiB);
            int plain = 0;
            int hatched = 0;
            for (int x = 0; x < 14; ++x)
                (picture.pixel(centre + QPoint(x, 0)) == tone ? plain : hatched) += 1;
            QVERIFY(plain >= 6);
            QVERIFY(hatched >= 2);
        }
    }

    void matchesKeepTheirColourAndTheRestFades()
    {
        Window w;
        const auto grouping = w.session.grouping(GroupBy::Site);
        auto flags = std::make_shared<std::vector<std::uint8_t>>(w.replay().timeline.allocations().count());
        for (std::uint32_t i = 0; i < flags->size(); ++i)
            (*flags)[i] = grouping->name(grouping->of(AllocationId{i})) == "softmax@nn_utils.py:6";
        w.state.setMatches(flags);
        w.settle();
        const Theme& theme = w.style.theme();
        QCOMPARE(w.colourAt(afterForward, 190 * MiB), theme.category(0));
        QCOMPARE(w.colourAt(afterForward, 216 * MiB), theme.faded(theme.category(1)));
        w.state.setMatches(nullptr);
        w.settle();
        QCOMPARE(w.colourAt(afterForward, 216 * MiB), theme.category(1));
    }

    void selectedGroupStandsOut()
    {
        Window w;
        w.click({w.plot().left() + 4, w.canvas()->height() - 13});
        w.settle();
        const Theme& theme = w.style.theme();
        QCOMPARE(w.colourAt(afterForward, 184 * MiB), theme.category(0));
        QCOMPARE(w.colourAt(afterForward, 216 * MiB), theme.faded(theme.category(1)));
    }

    void selectionIsOutlinedOverItsLife()
    {
        Window w;
        w.state.setCursor(0);
        const QImage before = w.picture();
        w.state.selectAllocation(bySize(w.replay(), 100 * MiB));
        const QImage after = w.picture();
        // Just above its top edge, at 100 MiB, over the whole trace.
        for (const StateIndex s : {75U, 95U, 110U}) {
            const QPoint edge = w.atState(s, 100 * MiB);
            bool ink = false;
            for (int dy = -2; dy <= 2; ++dy)
                ink = ink || after.pixel(edge + QPoint(0, dy)) == w.style.theme().rgb(Tone::Ink);
            QVERIFY(ink);
        }
        QVERIFY(before != after);
    }

    void colourOverlaysNeedNoNewLayout()
    {
        Window w;
        w.state.setColourBy(ColourBy::Size);
        w.settle();
        QCOMPARE(w.colourAt(afterForward, 184 * MiB), w.style.theme().sequential(4)); // 16…64 MiB
        w.style.setChoice(ThemeChoice::Dark);
        w.settle();
        QCOMPARE(w.colourAt(afterForward, 184 * MiB), w.style.theme().sequential(4));
    }

    // ---- pictures

    void goldenPictures_data()
    {
        QTest::addColumn<bool>("dark");
        QTest::newRow("light") << false;
        QTest::newRow("dark") << true;
    }
    void goldenPictures()
    {
        QFETCH(bool, dark);
        Window w(test::makeRank(test::trainingStep()), dark ? ThemeChoice::Dark : ThemeChoice::Light);
        w.state.setCursor(30);
        w.state.setRange(std::pair<StateIndex, StateIndex>{12, 100});
        w.state.selectAllocation(AllocationId{20});
        w.settle();
        QImage image(800, 500, QImage::Format_RGB32);
        w.view.renderTo(image, {800, 500});
        const QString path = QStringLiteral(TIDEMARK_TEST_DATA "/timeline-%1.png")
                                 .arg(dark ? QStringLiteral("dark") : QStringLiteral("light"));
        if (qEnvironmentVariableIsSet("TIDEMARK_UPDATE_PICTURES"))
            QVERIFY(image.save(path));
        const QImage wanted = QImage(path).convertToFormat(QImage::Format_RGB32);
        QVERIFY2(!wanted.isNull(), qPrintable(path));
        const double share = difference(image, wanted);
        QVERIFY2(share < 0.03, qPrintable(QStringLiteral("%1 of the pixels differ").arg(share)));
    }

    void exportMatchesTheScreen()
    {
        Window w;
        const QImage screen = w.picture();
        QImage image(screen.size(), QImage::Format_RGB32);
        w.view.renderTo(image, screen.size());
        QVERIFY(difference(image, screen) < 0.002);
        QImage twice(screen.size() * 2, QImage::Format_RGB32);
        w.view.renderTo(twice, screen.size(), 2);
        QVERIFY(
            difference(twice.scaled(screen.size(), Qt::IgnoreAspectRatio, Qt::SmoothTransformation), screen)
            < 0.2);
        const QPoint pos = w.atState(afterForward, 184 * MiB);
        QCOMPARE(twice.pixel(pos * 2), w.style.theme().category(0));
    }

    void exportsVectors()
    {
        Window w;
        QBuffer buffer;
        buffer.open(QIODevice::WriteOnly);
        QSvgGenerator svg;
        svg.setOutputDevice(&buffer);
        svg.setSize({800, 500});
        svg.setViewBox(QRect(0, 0, 800, 500));
        w.view.renderTo(svg, {800, 500});
        const QByteArray text = buffer.data();
        QVERIFY(text.contains("<svg"));
        QVERIFY(text.contains("peak of the recorded window"));
        QVERIFY(text.contains("data:image/png"));
    }

    void theLatestWindowWins()
    {
        Window w;
        for (int i = 0; i < 60; ++i) {
            w.state.setWindow({i * 0.5, 60 + i * 0.5});
            QTest::qWait(1);
        }
        w.settle();
        QImage fresh(w.canvas()->size(), QImage::Format_RGB32);
        w.view.renderTo(fresh, w.canvas()->size());
        QVERIFY(difference(w.picture(), fresh) < 0.002);
    }

    void closesWhileAPictureIsInTheMaking()
    {
        for (int i = 0; i < 20; ++i) {
            Window w;
            for (int k = 1; k < 4; ++k) {
                w.state.setWindow({k * 1.0, 50.0 + k});
                w.canvas()->replot();
            }
        }
    }

    void otherDeviceRatiosStaySharp()
    {
        Window w;
        for (const double ratio : {1.25, 1.5, 2.0}) {
            const QSize pixels(static_cast<int>(800 * ratio), static_cast<int>(500 * ratio));
            QImage image(pixels, QImage::Format_RGB32);
            w.view.renderTo(image, {800, 500}, ratio);
            int category = 0;
            for (int y = 0; y < pixels.height(); ++y)
                for (int x = 0; x < pixels.width(); ++x)
                    category += image.pixel(x, y) == w.style.theme().category(0);
            // 8 softmax allocations fill a good part of the plot, unmixed with their neighbours.
            QVERIFY(category > 0.02 * pixels.width() * pixels.height());
        }
    }

    // ---- little to draw

    void noHistorySaysWhyAndOffersTheCure()
    {
        Window w(handMade([](test::TraceMaker& maker) {
            maker.segment(0x1000000, 64 << 20);
            maker.block(BlockState::Allocated, 48 << 20, 40 << 20);
            maker.block(BlockState::Inactive, 16 << 20, 0);
        }));
        auto* empty = w.view.findChild<EmptyState*>();
        QVERIFY(empty->isVisible());
        QCOMPARE(empty->heading(), QStringLiteral("This file has no history to draw"));
        QSignalSpy opened(&w.state, &ViewState::openFileRequested);
        QTest::mouseClick(empty->findChildren<QPushButton*>().front(), Qt::LeftButton);
        QCOMPARE(opened.count(), 1);
        QImage image(800, 500, QImage::Format_RGB32);
        w.view.renderTo(image, {800, 500});
        QVERIFY(difference(image, w.picture().copy(0, 0, 800, 500)) < 0.2);
    }

    void oneEventIsNoHistory()
    {
        Window w(handMade([](test::TraceMaker& maker) { maker.alloc(0x1000, 1 << 20); }));
        QCOMPARE(w.view.findChild<EmptyState*>()->heading(), QStringLiteral("One event only"));
    }

    void degenerateTraces_data()
    {
        QTest::addColumn<std::shared_ptr<const Rank>>("rank");
        QTest::newRow("equal times") << handMade([](test::TraceMaker& maker) {
            maker.setTime(1000);
            for (std::uint64_t i = 0; i < 50; ++i)
                maker.alloc(0x1000000 * (i + 1), 1 << 20);
        });
        QTest::newRow("all older") << handMade([](test::TraceMaker& maker) {
            for (std::uint64_t i = 0; i < 20; ++i) {
                maker.setTime(static_cast<std::int64_t>(1000 * i));
                maker.free(0x1000000 * (i + 1), 1 << 20);
            }
        });
        QTest::newRow("a spike") << handMade([](test::TraceMaker& maker) {
            maker.setTime(0);
            maker.alloc(0x1000000, 64 << 20);
            maker.setTime(5'000'000);
            maker.alloc(0x9000000, 1 << 30);
            maker.setTime(5'002'000);
            maker.free(0x9000000, 1 << 30);
            maker.setTime(10'000'000);
            maker.free(0x1000000, 64 << 20);
        });
        QTest::newRow("no size") << handMade([](test::TraceMaker& maker) {
            for (std::uint64_t i = 0; i < 5; ++i)
                maker.alloc(0x1000000 * (i + 1), 0);
        });
        QTest::newRow("huge") << handMade([](test::TraceMaker& maker) {
            for (std::uint64_t i = 0; i < 5; ++i)
                maker.alloc(0x10000000000 * (i + 1), std::int64_t{1} << 52);
        });
        QTest::newRow("two events") << handMade([](test::TraceMaker& maker) {
            maker.alloc(0x1000000, 1 << 20);
            maker.alloc(0x2000000, 1 << 20);
        });
    }
    void degenerateTraces()
    {
        QFETCH(std::shared_ptr<const Rank>, rank);
        Window w(rank);
        for (const XAxis axis : {XAxis::Events, XAxis::Time}) {
            w.state.setAxis(axis);
            w.key(Qt::Key_Home);
            w.settle();
            const auto whole = w.state.window();
            for (int i = 0; i < 40; ++i)
                w.wheel(w.plot().center(), 1);
            w.settle();
            w.wheel(w.plot().center(), 20, Qt::ControlModifier);
            w.settle();
            for (int i = 0; i < 60; ++i)
                w.wheel(w.plot().center(), -1);
            w.key(Qt::Key_Home);
            w.settle();
            QCOMPARE(w.state.window(), whole);
            w.view.stepPeak(1);
            w.view.zoomToSelection();
            w.view.fitY();
            w.click(w.plot().center());
            w.doubleClick(w.plot().center());
            w.settle();
        }
    }

    void aShortSpikeIsVisibleInALongTrace()
    {
        Window w(handMade([](test::TraceMaker& maker) {
            maker.setTime(0);
            maker.alloc(0x1000000, 64 << 20);
            maker.setTime(5'000'000);
            maker.alloc(0x9000000, 1 << 30);
            maker.setTime(5'002'000);
            maker.free(0x9000000, 1 << 30);
            maker.setTime(10'000'000);
            maker.free(0x1000000, 64 << 20);
        }));
        w.state.setAxis(XAxis::Time);
        w.state.setCursor(0);
        w.settle();
        const QImage picture = w.picture();
        const int y = w.at(0, 400 * MiB).y();
        int drawn = 0;
        for (int x = w.plot().left() + 8; x <= w.plot().right(); ++x)
            drawn += picture.pixel(x, y) != w.style.theme().rgb(Tone::Plot);
        QVERIFY(drawn >= 1 && drawn <= 4);
    }

    void otherDeviceIsOffered()
    {
        test::TraceMaker maker(0);
        SnapshotBuilder& builder = maker.builder();
        EventBuffer events;
        for (std::uint64_t i = 0; i < 9; ++i) {
            EventRow row;
            row.action = Action::Alloc;
            row.address = 0x1000000 * (i + 1);
            row.size = 1 << 20;
            row.hasSize = true;
            builder.append(events, row);
        }
        builder.addTrace(1, std::move(events));
        maker.segment(0x70000000, 1 << 20);
        maker.block(BlockState::Allocated, 1 << 20, 1 << 20);
        Window w(test::makeRank(maker.finish()));
        w.state.reset(1, 0);
        w.session.setDevice(0);
        w.state.reset(w.session.replay()->states(), 0);
        QCOMPARE(w.state.states(), StateIndex{1});
        connect(&w.state, &ViewState::deviceRequested, &w.view, [&](std::size_t device) {
            w.session.setDevice(device);
            w.state.reset(w.session.replay()->states(), 0);
        });
        auto* empty = w.view.findChild<EmptyState*>();
        QCOMPARE(empty->heading(), QStringLiteral("No event for GPU 0"));
        QTest::mouseClick(empty->findChildren<QPushButton*>().last(), Qt::LeftButton);
        QCOMPARE(w.session.deviceIndex(), std::size_t{1});
        QVERIFY(!empty->isVisible());
    }

    void categoriesAreStackedOverTime()
    {
        SnapshotBuilder builder;
        CategoryTimeline timeline;
        for (int i = 0; i < 100; ++i)
            timeline.timesUs.push_back(1'000'000 + i * 1000);
        for (auto& column : timeline.bytes)
            column.assign(100, 0);
        timeline.bytes[0].assign(100, 100 << 20); // parameters
        for (std::size_t i = 40; i < 60; ++i)
            timeline.bytes[4][i] = 200 << 20; // activations
        builder.setCategories(timeline);
        Window w(test::makeRank(builder.finish()));
        QCOMPARE(w.state.axis(), XAxis::Time);
        QCOMPARE(w.state.states(), StateIndex{100});
        QCOMPARE(w.state.cursor(), StateIndex{40}); // the peak
        w.state.setCursor(0);
        w.settle();
        const QImage picture = w.picture();
        QCOMPARE(picture.pixel(w.at(50'500, 50 * MiB)), w.style.theme().category(5));
        QCOMPARE(picture.pixel(w.at(50'500, 200 * MiB)), w.style.theme().category(0));
        QCOMPARE(picture.pixel(w.at(20'500, 200 * MiB)), w.style.theme().rgb(Tone::Plot));
    }

    void capacityIsDrawnOrSaidToBeOutOfRange()
    {
        Window w(test::makeRank(test::trainingStep({.oom = false})));
        QBuffer buffer;
        const auto text = [&] {
            buffer.close();
            buffer.setData({});
            buffer.open(QIODevice::WriteOnly);
            QSvgGenerator svg;
            svg.setOutputDevice(&buffer);
            svg.setSize({800, 500});
            w.view.renderTo(svg, {800, 500});
            return QString::fromUtf8(buffer.data());
        };
        QVERIFY(!text().contains(QStringLiteral("card ")));
        w.session.setCardSize(std::uint64_t{80} << 30);
        QVERIFY(text().contains(QStringLiteral("▲ card 80.00\u00a0GiB")));
        w.session.setCardSize(std::uint64_t{1800} << 20);
        w.settle();
        QVERIFY(text().contains(QStringLiteral("card 1.76\u00a0GiB")));
        QVERIFY(!text().contains(QStringLiteral("▲")));
    }
};

QTEST_MAIN(TestTimelinePicture)
#include "tst_timeline_picture.moc"
