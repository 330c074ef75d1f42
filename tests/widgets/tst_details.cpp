// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/widgets/panel_fixture.hpp"
#include "widgets/details/details_view.hpp"
#include "widgets/details/text_block.hpp"

#include <QCheckBox>
#include <QClipboard>
#include <QSignalSpy>
#include <QtTest>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr std::int64_t MiB = 1 << 20;
constexpr std::uint64_t base = 0x7f0000000000;

struct DetailsFixture : PanelFixture {
    DetailsView details;

    explicit DetailsFixture(std::shared_ptr<const Snapshot> snapshot)
        : PanelFixture(std::move(snapshot))
        , details(session, view, style)
    {
        details.resize(372, 500);
        details.show();
    }
    /// The sheet's value of a key with its second text: "256 MiB | 268,435,456 B".
    QString fact(const QString& key)
    {
        details.flush();
        for (const SheetFact& fact : details.sheet().facts)
            if (fact.key == key)
                return fact.value + (fact.second.isEmpty() ? QString() : QStringLiteral(" | ") + fact.second);
        return QStringLiteral("(none)");
    }
    QString text()
    {
        details.flush();
        return details.shownPlainText();
    }
    void selectLast() { view.selectAllocation(AllocationId(replay().timeline.allocations().count() - 1)); }
    /// Follows a link of the facts or the stacks as a click would.
    void follow(const QString& link)
    {
        for (TextBlock* const block : details.findChildren<TextBlock*>())
            if (block->toHtml().contains(QStringLiteral("href=\"%1\"").arg(link))) {
                emit block->anchorClicked(QUrl(link));
                return;
            }
        QFAIL(qPrintable(QStringLiteral("no link ") + link));
    }
};

std::shared_ptr<const Snapshot> oneLife()
{
    TraceMaker maker;
    const StackId stack = maker.stack({"empty@torch/_ops.py:5", "softmax@/srv/app/nn_utils.py:6",
        "call@torch/nn/modules/module.py:9", "forward@/srv/app/model.py:39"});
    maker.setTime(1'752'480'000'000'000);
    maker.alloc(base, 64 * MiB, stack);
    maker.free(base, 64 * MiB);
    maker.setTime(1'752'480'000'244'000);
    maker.alloc(base, 256 * MiB, stack);
    maker.setTime(1'752'480'000'488'000);
    maker.free(base, 256 * MiB);
    maker.alloc(base + 512 * MiB, 1000, stack);
    maker.segment(base, 1024 * MiB);
    maker.block(BlockState::Inactive, 512 * MiB, 0);
    maker.block(BlockState::Allocated, 1024, 1000, stack);
    maker.block(BlockState::Inactive, 512 * MiB - 1024, 0);
    return maker.finish();
}

} // namespace

class TestDetails : public QObject {
    Q_OBJECT

private slots:
    void allocationSaysEverything()
    {
        DetailsFixture f(oneLife());
        f.view.setCursor(stateOf(3));
        f.view.selectAllocation(f.liveAt(base));
        QCOMPARE(f.fact(QStringLiteral("Size")), QStringLiteral("256\u00a0MiB | 268,435,456\u00a0B"));
        QVERIFY2(f.fact(QStringLiteral("Lives")).startsWith(QStringLiteral("event 3 → 5 | 244")),
            qPrintable(f.fact(QStringLiteral("Lives"))));
        QCOMPARE(
            f.fact(QStringLiteral("Address")), QStringLiteral("0x7f0000000000 | use 2 of 2 of this address"));
        QCOMPARE(f.fact(QStringLiteral("Place")), QStringLiteral("GPU 0 · default stream · default pool"));
        QVERIFY(f.fact(QStringLiteral("Cursor")).startsWith(QStringLiteral("live · 100.0\u00a0% of live")));
        QVERIFY(
            f.fact(QStringLiteral("Segment")).startsWith(QStringLiteral("0x7f0000000000 | 1.00\u00a0GiB")));
        QVERIFY(f.fact(QStringLiteral("Allocated")).contains(QStringLiteral("2025-07-14")));
        QCOMPARE(f.details.sheet().title, QStringLiteral("softmax@nn_utils.py:6"));
        f.view.setCursor(0);
        QCOMPARE(
            f.fact(QStringLiteral("Cursor")), QStringLiteral("not allocated yet | before the first event"));
        f.view.setCursor(f.replay().states() - 1);
        QVERIFY(f.fact(QStringLiteral("Cursor")).startsWith(QStringLiteral("already freed")));
    }

    void sameAddressIsNotTheSameAllocation()
    {
        DetailsFixture f(oneLife());
        f.view.selectAllocation(AllocationId{0});
        QVERIFY(f.fact(QStringLiteral("Size")).startsWith(QStringLiteral("64.0\u00a0MiB")));
        QVERIFY(f.fact(QStringLiteral("Address")).endsWith(QStringLiteral("use 1 of 2 of this address")));
    }

    void blockSizeSaysWhetherItIsInferred()
    {
        DetailsFixture f(oneLife());
        f.selectLast();
        QCOMPARE(f.fact(QStringLiteral("Block")),
            QStringLiteral("1\u00a0KiB | 1,024\u00a0B · waste 24\u00a0B · stated by the file"));
        QVERIFY(f.fact(QStringLiteral("Lives")).endsWith(QStringLiteral("alive at the end of the file")));
        f.view.selectAllocation(AllocationId{1});
        QVERIFY2(f.fact(QStringLiteral("Block")).startsWith(QChar(u'≈')),
            qPrintable(f.fact(QStringLiteral("Block"))));
    }

    void frameworkFramesFold()
    {
        DetailsFixture f(oneLife());
        f.view.selectAllocation(AllocationId{1});
        QString shown = f.text();
        QVERIFY(shown.contains(QStringLiteral("softmax")));
        QVERIFY(shown.contains(QStringLiteral("model.py:39")));
        QVERIFY(!shown.contains(QStringLiteral("_ops.py")));
        QVERIFY(shown.contains(QStringLiteral("⋯ 1 framework frame")));
        auto* const box = f.details.findChild<QCheckBox*>();
        QCOMPARE(box->text(), QStringLiteral("hide 2 framework frames"));
        QSignalSpy changed(&f.details, &DetailsView::frameworkHiddenChanged);
        QTest::mouseClick(box, Qt::LeftButton, {}, QPoint(8, box->height() / 2));
        QCOMPARE(changed.count(), 1);
        shown = f.text();
        QVERIFY(shown.contains(QStringLiteral("_ops.py:5")));
        QVERIFY(shown.contains(QStringLiteral("module.py:9")));
        QVERIFY(shown.indexOf(QStringLiteral("_ops.py")) < shown.indexOf(QStringLiteral("softmax  "))
            || shown.indexOf(QStringLiteral("_ops.py")) < shown.indexOf(QStringLiteral("model.py:39")));
        // The copied text leaves nothing out.
        QVERIFY(f.details.copyText().contains(QStringLiteral("/srv/app/nn_utils.py:6")));
        QVERIFY(f.details.copyText().contains(QStringLiteral("torch/_ops.py:5")));
    }

    void onlyFrameworkFramesAreShown()
    {
        TraceMaker maker;
        maker.alloc(base, MiB, maker.stack({"empty@torch/_ops.py:5"}));
        DetailsFixture f(maker.finish());
        f.selectLast();
        QVERIFY(f.text().contains(QStringLiteral("_ops.py:5")));
    }

    void withoutStackSaysWhy()
    {
        TraceMaker maker;
        const StackId stack = maker.stack({"f@a.py:1"});
        maker.alloc(base, MiB);
        maker.alloc(base + 2 * MiB, MiB, stack);
        maker.free(base + 8 * MiB, MiB);
        DetailsFixture f(maker.finish());
        QStringList reasons;
        for (const AllocationId id : {AllocationId{0}, AllocationId{1}}) {
            f.view.selectAllocation(id);
            f.details.flush();
            QVERIFY(!f.details.sheet().noStack.isEmpty());
            QVERIFY(f.text().contains(f.details.sheet().noStack));
            reasons << f.details.sheet().noStack;
        }
        QVERIFY(reasons[0] != reasons[1]);
        f.view.selectAllocation(AllocationId{2});
        f.details.flush();
        QVERIFY(f.details.sheet().noStack.isEmpty());
    }

    void attachedTextsAreAllThere()
    {
        TraceMaker maker;
        StringTable& strings = maker.builder().strings();
        const StackId stack = maker.stack({"f@a.py:1"});
        EventRow& made = maker.event(Action::Alloc, base, 48 * MiB, stack);
        made.userMetadata = strings.intern("from the loader");
        made.compileContext = strings.intern("0/1");
        made.forwardStack = maker.stack({"forward_of_it@b.py:7"});
        maker.event(Action::Annotate, base, 48 * MiB).userMetadata = strings.intern("saved_for_backward");
        maker.event(Action::Annotate, base + 64 * MiB, MiB).userMetadata = strings.intern("of another");
        maker.event(Action::Annotate, base, 48 * MiB).userMetadata = strings.intern("saved: input of Linear");
        maker.event(Action::FreeRequested, base, 48 * MiB, maker.stack({"freed_here@c.py:3"}));
        maker.event(Action::FreeCompleted, base, 48 * MiB, maker.stack({"freed_here@c.py:3"}));
        maker.event(Action::Annotate, base, 48 * MiB).userMetadata = strings.intern("after its end");
        DetailsFixture f(maker.finish());
        f.view.selectAllocation(AllocationId{0});
        const QString shown = f.text();
        for (const char* text : {"from the loader", "0/1", "saved_for_backward", "saved: input of Linear",
                 "Annotation at event 1", "Annotation at event 3", "forward_of_it", "freed_here", "Freed by"})
            QVERIFY2(shown.contains(QString::fromLatin1(text)), text);
        QVERIFY(!shown.contains(QStringLiteral("of another")));
        QVERIFY(!shown.contains(QStringLiteral("after its end")));
    }

    void fxFieldsStandWithTheirFrame()
    {
        TraceMaker maker;
        SnapshotBuilder& builder = maker.builder();
        const FrameId frame = builder.frames().intern(
            {builder.strings().intern("call"), builder.strings().intern("generated.py"), 12});
        FxInfo fx;
        fx.op = builder.strings().intern("call_function");
        fx.name = builder.strings().intern("add_1");
        fx.target = builder.strings().intern("aten.add");
        fx.trace = builder.strings().intern("File \"model.py\", line 4\n    y = x + 1");
        builder.frames().setFx(frame, fx);
        maker.alloc(base, MiB, builder.stacks().intern(std::array{frame}));
        DetailsFixture f(maker.finish());
        f.selectLast();
        QVERIFY(f.text().contains(QStringLiteral("FX op call_function · node add_1 · target aten.add")));
        QVERIFY(f.text().contains(QStringLiteral("y = x + 1")));
    }

    void hostileTextStaysText()
    {
        TraceMaker maker;
        StringTable& strings = maker.builder().strings();
        const StackId stack = maker.stack({"<b>bold</b>&amp;\n\x1b[31m\xff@<img src='x'>.py:1"});
        maker.event(Action::Alloc, base, MiB, stack).userMetadata
            = strings.intern(std::string_view("one\0two<script>", 15));
        DetailsFixture f(maker.finish());
        f.selectLast();
        const QString shown = f.text();
        QVERIFY(shown.contains(QStringLiteral("<b>bold</b>&amp;")));
        QVERIFY(shown.contains(QStringLiteral("one␀two<script>")));
        QVERIFY(!shown.contains(QChar(0x1b)));
        QVERIFY(!shown.contains(QChar(0)));
        const QString copied = f.details.copyText();
        QVERIFY(!copied.contains(QChar(0x1b)) && !copied.contains(QChar(0)));
    }

    void longNamesOpenOnDemand()
    {
        TraceMaker maker;
        const std::string name = "void " + std::string(400, 'x') + "::operator()";
        maker.alloc(base, MiB, maker.stack({name + "@kernel.cu:1"}));
        DetailsFixture f(maker.finish());
        f.selectLast();
        QVERIFY(!f.text().contains(QString::fromStdString(name)));
        f.follow(QStringLiteral("open:0:0"));
        QVERIFY(f.details.shownPlainText().contains(QString::fromStdString(name)));
        QVERIFY(f.details.copyText().contains(QString::fromStdString(name)));
    }

    void absurdSizesStandAsWritten()
    {
        TraceMaker maker;
        maker.alloc(base, -1);
        DetailsFixture f(maker.finish());
        f.selectLast();
        QVERIFY2(f.fact(QStringLiteral("Size"))
                     .contains(QStringLiteral("written as \u22121\u00a0B, counted as 0")),
            qPrintable(f.fact(QStringLiteral("Size"))));
    }

    void groupCountsOverTheTrace()
    {
        DetailsFixture f(oneLife());
        f.view.setCursor(stateOf(3));
        Selection selection;
        selection.kind = Selection::Kind::Group;
        f.view.select(selection);
        QVERIFY(f.fact(QStringLiteral("Live"))
                    .startsWith(QStringLiteral("256\u00a0MiB | 268,435,456\u00a0B · 1 allocation")));
        QVERIFY(f.fact(QStringLiteral("In the trace")).startsWith(QStringLiteral("3 allocations")));
        QCOMPARE(f.fact(QStringLiteral("Own peak")), QStringLiteral("256\u00a0MiB | event 3"));
        QVERIFY(
            f.fact(QStringLiteral("At the end")).startsWith(QStringLiteral("1,000\u00a0B | 1 allocation")));
    }

    void holeListsWhatPinsIt()
    {
        TraceMaker maker;
        const StackId small = maker.stack({"small@a.py:1"});
        const StackId far = maker.stack({"far@a.py:2"});
        maker.segment(base, 100 * MiB);
        maker.block(BlockState::Allocated, 10 * MiB, 10 * MiB, far);
        maker.block(BlockState::Allocated, 2 * MiB, 2 * MiB, small);
        maker.block(BlockState::Inactive, 68 * MiB, 0);
        maker.block(BlockState::Allocated, 20 * MiB, 20 * MiB, far);
        DetailsFixture f(maker.finish());
        Selection selection;
        selection.kind = Selection::Kind::Hole;
        selection.address = base + 12 * MiB;
        selection.size = 68 * MiB;
        f.view.select(selection);
        f.details.flush();
        const DetailsSheet& sheet = f.details.sheet();
        QCOMPARE(sheet.title, QStringLiteral("Hole of 68.0\u00a0MiB"));
        QCOMPARE(sheet.tables.size(), std::size_t{1});
        const SheetTable& pins = sheet.tables.front();
        QCOMPARE(pins.title, QStringLiteral("Pinned by"));
        QCOMPARE(pins.rows.size(), std::size_t{3});
        // By what they hold, the cheapest first; what touches nothing comes last.
        QCOMPARE(pins.rows[0].name, QStringLiteral("small@a.py:1"));
        QCOMPARE(pins.rows[0].figures,
            (QStringList{
                QStringLiteral("2.0\u00a0MiB"), QStringLiteral("68.0\u00a0MiB"), QStringLiteral("34.0 ×")}));
        QCOMPARE(pins.rows[2].figures[1], QStringLiteral("0\u00a0B"));
        f.follow(pins.rows[0].link);
        QCOMPARE(f.view.selection().kind, Selection::Kind::Allocation);
        QCOMPARE(f.details.sheet().kind, QStringLiteral("free, pinned"));
        f.details.flush();
        QCOMPARE(f.details.sheet().title, QStringLiteral("small@a.py:1"));
    }

    void segmentListsItsBlocks()
    {
        DetailsFixture f(oneLife());
        f.selectLast();
        f.view.setCursor(f.replay().states() - 1);
        f.details.flush();
        f.follow(QStringLiteral("segment:0x7f0000000000"));
        QCOMPARE(f.view.selection().kind, Selection::Kind::Segment);
        QVERIFY(f.fact(QStringLiteral("Free"))
                    .startsWith(QStringLiteral("1.00\u00a0GiB | 1,073,740,800\u00a0B")));
        QVERIFY(f.fact(QStringLiteral("Largest hole")).startsWith(QStringLiteral("512\u00a0MiB")));
        QCOMPARE(f.details.sheet().tables.front().rows.size(), std::size_t{1});
    }

    void momentSumsUp()
    {
        DetailsFixture f(oneLife());
        f.view.setCursor(stateOf(3));
        QCOMPARE(
            f.fact(QStringLiteral("Event")), QStringLiteral("alloc | 256\u00a0MiB · softmax@nn_utils.py:6"));
        QVERIFY(f.fact(QStringLiteral("Live"))
                    .startsWith(QStringLiteral("256\u00a0MiB | 268,435,456\u00a0B · 1 allocation")));
        QVERIFY(f.fact(QStringLiteral("Reserved")).startsWith(QStringLiteral("1.00\u00a0GiB")));
        QCOMPARE(f.details.sheet().title, QStringLiteral("At event 3"));
        // The allocator's metrics follow.
        QTRY_VERIFY(!f.details.sheet().tables.empty());
        const SheetTable& metrics = f.details.sheet().tables.back();
        QCOMPARE(metrics.title, QStringLiteral("Allocator"));
        QCOMPARE(metrics.rows.size(), std::size_t(15));
        QCOMPARE(metrics.rows[0].name, QStringLiteral("M1 · inactive share of reserved"));
        QCOMPARE(metrics.rows[0].figures, QStringList{QStringLiteral("75.0\u00a0%")});
        QCOMPARE(metrics.rows[5].figures, QStringList{QStringLiteral("768\u00a0MiB")});
        QVERIFY(f.details.copyText().contains(QStringLiteral("M8 · releasable")));
    }

    void unknownIsSaid()
    {
        TraceMaker maker;
        maker.alloc(base, MiB);
        DetailsFixture f(maker.finish());
        QCOMPARE(f.fact(QStringLiteral("Reserved")), QStringLiteral("unknown | the file lists no segments"));
        QCOMPARE(f.fact(QStringLiteral("Time")), QStringLiteral("unknown | the events carry no times"));
    }

    void rangeAddsUp()
    {
        DetailsFixture f(PanelFixture(trainingStep()).session.rank()->snapshot);
        const StateIndex first = 10;
        const StateIndex last = f.replay().states() - 20;
        f.view.setRange(std::pair{first, last});
        f.details.flush();
        const RangeSums sums = rangeSums(f.replay(), first, last);
        const Series& live = f.replay().timeline.requested();
        QCOMPARE(static_cast<std::int64_t>(sums.allocatedBytes) - static_cast<std::int64_t>(sums.freedBytes),
            live.at(last) - live.at(first));
        QCOMPARE(f.details.sheet().kind, QStringLiteral("range"));
        QVERIFY(f.fact(QStringLiteral("Allocated")) != QStringLiteral("(none)"));
    }

    void linksMoveTheCursor()
    {
        DetailsFixture f(oneLife());
        f.view.selectAllocation(AllocationId{1});
        f.view.setCursor(0);
        f.details.flush();
        f.follow(QStringLiteral("event:5"));
        QCOMPARE(f.view.cursor(), stateOf(5));
        QVERIFY(f.view.canGoBack());
        QSignalSpy search(&f.view, &ViewState::searchRequested);
        f.follow(QStringLiteral("frame:0:1"));
        QCOMPARE(search.count(), 1);
        QCOMPARE(search.front().front().toString(), QStringLiteral("softmax@nn_utils.py:6"));
    }

    void cursorIsFollowedWhenItRests()
    {
        DetailsFixture f(oneLife());
        f.details.flush();
        f.view.setCursor(1);
        QTRY_COMPARE(f.details.sheet().title, QStringLiteral("At event 0"));
    }

    void nothingOpenAndForgottenFiles()
    {
        DetailsFixture f(oneLife());
        f.selectLast();
        f.details.flush();
        f.session.setRank(nullptr);
        f.details.flush();
        QVERIFY(f.details.sheet().facts.empty());
        QVERIFY(!f.details.sheet().hint.isEmpty());
        QVERIFY(f.details.copyText().isEmpty());
    }
};

QTEST_MAIN(TestDetails)
#include "tst_details.moc"
