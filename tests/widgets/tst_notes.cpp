// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/anchors.hpp"
#include "tests/widgets/panel_fixture.hpp"
#include "tests/widgets/timeline_window.hpp"
#include "widgets/notes/note_editor.hpp"
#include "widgets/notes/notes_view.hpp"
#include "widgets/segments/segment_map_view.hpp"

#include <QPointer>
#include <QSignalSpy>
#include <QTableView>

using namespace tidemark;
using report::AllocationAnchor;
using report::AnnotationKind;
using report::PointAnchor;
using report::SegmentAnchor;
using test::afterForward;
using test::bySize;
using test::MiB;
using Window = test::TimelineWindowUnderTest;

namespace {

NoteEditor* editorIn(QWidget& view)
{
    for (NoteEditor* editor : view.findChildren<NoteEditor*>())
        if (editor->isVisible())
            return editor;
    return nullptr;
}

void typeNote(QWidget& view, const QString& text)
{
    NoteEditor* editor = editorIn(view);
    QVERIFY(editor);
    QTest::keyClicks(editor->field(), text);
    QTest::keyClick(editor->field(), Qt::Key_Return);
}

report::Annotation noteAt(std::int64_t event, std::int64_t bytes, const char* text)
{
    report::Annotation note;
    note.from = PointAnchor{event, bytes};
    note.text = text;
    return note;
}

/// Two segments; the first holds a (20 MiB), a hole (30), c (50).
struct MapWithNotes : test::PanelFixture {
    static constexpr std::uint64_t base = 0x7f0000000000;

    static std::shared_ptr<const Snapshot> file()
    {
        constexpr std::int64_t mib = 1 << 20;
        test::TraceMaker maker;
        const StackId a = maker.stack({"a@net.py:1"});
        maker.event(Action::SegmentAlloc, base, 100 * mib);
        maker.event(Action::SegmentAlloc, base + 0x10000000, 40 * mib);
        maker.alloc(base, 20 * mib, a);
        maker.alloc(base + 50 * mib, 50 * mib, a);
        maker.segment(base, 100 * mib);
        maker.block(BlockState::Allocated, 20 * mib, 20 * mib, a);
        maker.block(BlockState::Inactive, 30 * mib, 0);
        maker.block(BlockState::Allocated, 50 * mib, 50 * mib, a);
        maker.segment(base + 0x10000000, 40 * mib);
        maker.block(BlockState::Inactive, 40 * mib, 0);
        return maker.finish();
    }

    MapWithNotes()
        : PanelFixture(file())
        , map(session, view, style)
    {
        map.setNotes(notes, {"segments", 0});
        map.resize(600, 300);
        map.show();
        view.setCursor(static_cast<StateIndex>(session.replay()->states() - 1));
        map.flush();
    }
    QPoint centreOf(std::uint64_t address) const
    {
        for (const MapBox& box : map.scene().picture->boxes)
            if (map.scene().state->pieces[box.piece].address == address)
                return QPointF(box.x + box.width / 2 + style.metrics().padding,
                    box.y + box.height / 2 + style.metrics().unit)
                    .toPoint();
        return {};
    }
    QWidget* canvas() { return map.canvas().viewport(); }

    NotesState notes;
    SegmentMapView map;
};

} // namespace

class TestNotes : public QObject {
    Q_OBJECT
private slots:
    // ---- timeline

    void noteToolTiesTextToEventAndBytes()
    {
        Window w;
        w.state.setTool(Tool::Note);
        w.click(w.atState(30, 400 * MiB));
        QCOMPARE(w.state.tool(), Tool::Pointer);
        typeNote(w.view, QStringLiteral("here"));
        const auto& items = w.view.notes().items();
        QCOMPARE(items.size(), std::size_t{1});
        QCOMPARE(items[0].text, std::string("here"));
        QCOMPARE(items[0].kind, AnnotationKind::Note);
        QCOMPARE(items[0].device, 0);
        const auto from = std::get<PointAnchor>(items[0].from);
        QCOMPARE(from.event, std::int64_t{29});
        QVERIFY(std::abs(static_cast<double>(from.bytes) - 400 * MiB) < 12 * MiB);
        QCOMPARE(w.state.selection().kind, Selection::Kind::None); // the click was for the note alone
    }

    void boxAndArrowAreDragged()
    {
        Window w;
        w.state.setTool(Tool::Box);
        w.drag(w.atState(20, 600 * MiB), w.atState(50, 300 * MiB));
        typeNote(w.view, QStringLiteral("box"));
        w.state.setTool(Tool::Arrow);
        w.drag(w.atState(70, 800 * MiB), w.atState(60, 500 * MiB));
        typeNote(w.view, QStringLiteral("arrow"));
        w.state.setTool(Tool::Box);
        w.click(w.atState(90, 300 * MiB)); // no drag, no box
        const auto& items = w.view.notes().items();
        QCOMPARE(items.size(), std::size_t{2});
        QCOMPARE(items[0].kind, AnnotationKind::Box);
        QCOMPARE(std::get<PointAnchor>(items[0].from).event, std::int64_t{19});
        QCOMPARE(std::get<PointAnchor>(items[0].to).event, std::int64_t{49});
        QCOMPARE(items[1].kind, AnnotationKind::Arrow);
        QCOMPARE(std::get<PointAnchor>(items[1].to).event, std::int64_t{59});
        QVERIFY(!w.state.range());
    }

    void escTakesAFreshNoteBackAndKeepsAnOldText()
    {
        Window w;
        w.state.setTool(Tool::Note);
        w.click(w.atState(30, 400 * MiB));
        QTest::keyClick(editorIn(w.view)->field(), Qt::Key_Escape);
        QVERIFY(w.view.notes().items().empty());
        const std::uint64_t id = w.view.notes().add(noteAt(40, 300 << 20, "old"));
        QVERIFY(w.view.editNote(id));
        QTest::keyClicks(editorIn(w.view)->field(), QStringLiteral("new"));
        QTest::keyClick(editorIn(w.view)->field(), Qt::Key_Escape);
        QCOMPARE(w.view.notes().find(id)->text, std::string("old"));
    }

    void anchorsHoldThroughZoomAxisAndStacking()
    {
        Window w;
        const report::Annotation note = noteAt(40, 300 << 20, "x");
        const std::uint64_t id = w.view.notes().add(note);
        w.state.setWindow({30, 60});
        w.state.setStackOrder(StackOrder::Group);
        w.state.setAxis(XAxis::Time);
        w.settle();
        QCOMPARE(w.view.notes().find(id)->from, note.from);
        w.state.setAxis(XAxis::Events);
        w.state.setWindow({30, 60});
        w.settle();
        // The disc is drawn beside the anchor: a click on it chooses the note.
        w.view.notes().choose(std::nullopt);
        w.click(w.at(41.5, 300 * MiB) + QPoint(-20, -26));
        QCOMPARE(w.view.notes().chosen(), std::optional(id));
        w.key(Qt::Key_Delete);
        QVERIFY(w.view.notes().items().empty());
        w.view.notes().undo();
        QCOMPARE(w.view.notes().items().size(), std::size_t{1});
    }

    void discCanBeDraggedAndBoxEndsMoved()
    {
        Window w;
        const std::uint64_t id = w.view.notes().add(noteAt(40, 300 << 20, "x"));
        const QPoint disc = w.at(41.5, 300 * MiB) + QPoint(-20, -26);
        w.drag(disc, disc + QPoint(60, -40));
        QVERIFY(std::abs(w.view.notes().find(id)->labelX - 60) <= 1);
        QVERIFY(std::abs(w.view.notes().find(id)->labelY + 40) <= 1);
        QCOMPARE(w.view.notes().find(id)->from, noteAt(40, 300 << 20, "").from);
        report::Annotation arrow = noteAt(20, 600 << 20, "");
        arrow.kind = AnnotationKind::Arrow;
        arrow.to = PointAnchor{60, 700 << 20};
        const std::uint64_t second = w.view.notes().add(arrow);
        w.drag(w.atState(61, 700 * MiB), w.atState(80, 500 * MiB));
        QCOMPARE(std::get<PointAnchor>(w.view.notes().find(second)->to).event, std::int64_t{79});
        QCOMPARE(w.view.notes().find(second)->from, arrow.from);
    }

    void pinsStayWithTheirAllocation()
    {
        Window w;
        const AllocationId id = bySize(w.replay(), 100 * MiB);
        w.state.selectAllocation(id);
        w.view.noteSelected(AnnotationKind::Pin);
        const auto& pin = w.view.notes().items().front();
        QCOMPARE(report::findAllocation(w.replay(), std::get<AllocationAnchor>(pin.from)), id);
        w.state.clearSelection();
        w.state.setWindow({50, 60});
        w.view.goToNote(pin.id);
        QCOMPARE(w.state.selection().allocation, id);
    }

    void pinsOfThinAllocationsLieWhereTheyAre()
    {
        // A row is some MiB high: what is smaller is under no pixel.
        Window w;
        const auto& all = w.replay().timeline.allocations();
        AllocationId thin = AllocationId::none;
        for (std::uint32_t i = 0; i < all.count(); ++i)
            if (all.origin[i] == Origin::Traced && all.endState[i] > all.firstState[i] + 20
                && (!valid(thin) || all.size[i] < all.size[index(thin)]))
                thin = AllocationId{i};
        QVERIFY(valid(thin));
        w.state.selectAllocation(thin);
        w.view.noteSelected(AnnotationKind::Pin);
        const std::uint64_t id = w.view.notes().items().front().id;
        const auto middle = static_cast<StateIndex>(
            (all.firstState[index(thin)] + std::min(all.endState[index(thin)], w.replay().states())) / 2);
        double below = 0;
        for (const AllocationId each : w.replay().timeline.liveAt(middle))
            if (index(each) < index(thin))
                below += static_cast<double>(all.size[index(each)]);
        w.view.notes().choose(std::nullopt);
        w.state.clearSelection();
        w.settle();
        w.click(w.atState(middle, below) + QPoint(-20, -26));
        QCOMPARE(w.view.notes().chosen(), std::optional(id));
    }

    void whatIsTypedIsKeptBeforeItIsCommitted()
    {
        Window w;
        const std::uint64_t id = w.view.notes().add(noteAt(40, 300 << 20, "old"));
        QVERIFY(w.view.editNote(id));
        QTest::keyClicks(editorIn(w.view)->field(), QStringLiteral("new"));
        NoteEditor::keepAll(w.view);
        QCOMPARE(w.view.notes().find(id)->text, std::string("new"));
        QTest::keyClick(editorIn(w.view)->field(), Qt::Key_Escape); // back to what it was
        QCOMPARE(w.view.notes().find(id)->text, std::string("old"));
    }

    void everyAllocationIsFoundByItsAnchor()
    {
        Window w;
        for (std::uint32_t i = 0; i < w.replay().timeline.allocations().count(); ++i)
            QCOMPARE(
                report::findAllocation(w.replay(), report::allocationAnchor(w.replay(), AllocationId{i})),
                AllocationId{i});
        QVERIFY(!valid(report::findAllocation(w.replay(), {std::int64_t{1} << 60, 1, 0})));
        QVERIFY(!valid(report::findAllocation(w.replay(), {std::nullopt, 1, 0})));
        QCOMPARE(report::stateOfEvent(w.replay(), INT64_MIN), StateIndex{0});
        QCOMPARE(report::stateOfEvent(w.replay(), INT64_MAX), w.replay().states() - 1);
        for (StateIndex s = 0; s < w.replay().states(); ++s)
            QCOMPARE(report::stateOfEvent(w.replay(), report::eventOf(w.replay(), s)), s);
    }

    void showsOnlyWhatIsAboutItsFileDeviceAndView()
    {
        Window w;
        NotesState notes;
        w.view.setNotes(notes, {"timeline", 1});
        const QImage bare = w.picture();
        report::Annotation note = noteAt(60, 900 << 20, "elsewhere");
        notes.add(note); // input 0
        note.input = 1;
        note.device = 3;
        notes.add(note);
        note.device = 0;
        note.view = "segments";
        notes.add(note);
        notes.choose(std::nullopt);
        w.settle();
        QCOMPARE(test::difference(w.picture(), bare), 0.0);
        note.view = "timeline";
        notes.add(note);
        w.settle();
        QVERIFY(test::difference(w.picture(), bare) > 0);
    }

    void hostileAnchorsAreHarmless()
    {
        Window w;
        for (const std::int64_t far : {INT64_MIN, std::int64_t{-1}, std::int64_t{1} << 40, INT64_MAX})
            for (const auto kind : {AnnotationKind::Note, AnnotationKind::Box, AnnotationKind::Arrow,
                     AnnotationKind::Ruler, AnnotationKind::Pin}) {
                report::Annotation note = noteAt(far, far, "far");
                note.kind = kind;
                note.to = PointAnchor{-far - 1, 5};
                note.labelX = 1e300;
                const std::uint64_t id = w.view.notes().add(note);
                w.view.goToNote(id);
                note.from = AllocationAnchor{far, 7, 9};
                w.view.goToNote(w.view.notes().add(note));
            }
        w.settle();
        QCOMPARE(w.view.notes().items().size(), std::size_t{40});
    }

    // ---- segment map

    void notesOnTheMapAreTiedToBlocksHolesAndSegments()
    {
        MapWithNotes w;
        const auto put = [&](std::uint64_t address, const char* text) {
            w.view.setTool(Tool::Note);
            QTest::mouseClick(w.canvas(), Qt::LeftButton, {}, w.centreOf(address));
            typeNote(w.map, QString::fromLatin1(text));
        };
        put(w.base, "block");
        put(w.base + (20 << 20), "hole");
        const auto& items = w.notes.items();
        QCOMPARE(items.size(), std::size_t{2});
        QCOMPARE(std::get<AllocationAnchor>(items[0].from), (AllocationAnchor{2, w.base, 0}));
        QCOMPARE(std::get<SegmentAnchor>(items[1].from), (SegmentAnchor{w.base + (20 << 20), 3}));
        QCOMPARE(items[1].view, std::string("segments"));
        QCOMPARE(w.map.noteShapes({}).size(), std::size_t{2});
        w.view.setCursor(1); // the block is not there yet, the segment is
        w.map.flush();
        QCOMPARE(w.map.noteShapes({}).size(), std::size_t{1});
        w.map.goToNote(items[0].id);
        QCOMPARE(w.view.cursor(), StateIndex{3});
        QCOMPARE(w.map.noteShapes({}).size(), std::size_t{2});
    }

    void rulerOnTheMapMeasuresWithinASegment()
    {
        MapWithNotes w;
        w.view.setTool(Tool::Ruler);
        const QPoint from = w.centreOf(w.base);
        const QPoint to = w.centreOf(w.base + (20 << 20));
        QTest::mousePress(w.canvas(), Qt::LeftButton, {}, from);
        QMouseEvent move(
            QEvent::MouseMove, to, w.canvas()->mapToGlobal(to), Qt::NoButton, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(w.canvas(), &move);
        QTest::mouseRelease(w.canvas(), Qt::LeftButton, {}, to);
        QCOMPARE(w.notes.items().size(), std::size_t{1});
        const auto shapes = w.map.noteShapes({});
        QCOMPARE(shapes.size(), std::size_t{1});
        QCOMPARE(shapes[0].figures, QStringLiteral("50.0\u00a0MiB")); // 20 of the block, 30 of the hole
    }

    // ---- list

    void listEditsReordersAndJumps()
    {
        Style style;
        NotesState notes;
        NotesView list(notes, style);
        QCOMPARE(list.emptyHeading(), QStringLiteral("No notes yet"));
        const std::uint64_t one = notes.add(noteAt(1, 100, "one"));
        const std::uint64_t two = notes.add(noteAt(2, 200, "two"));
        notes.add(noteAt(3, 300, "three"));
        QVERIFY(list.emptyHeading().isEmpty());
        const auto texts = [&] {
            QStringList all;
            for (int row = 0; row < list.model().rowCount(); ++row)
                all << list.model().index(row, NotesModel::Remark).data().toString();
            return all;
        };
        QCOMPARE(texts(), (QStringList{"one", "two", "three"}));
        QCOMPARE(list.model().index(1, NotesModel::Number).data().toString(), QStringLiteral("2"));
        notes.choose(one);
        QTest::keyClick(&list.table(), Qt::Key_Down, Qt::AltModifier);
        QCOMPARE(texts(), (QStringList{"two", "one", "three"}));
        QCOMPARE(notes.chosen(), std::optional(one)); // it stays chosen where it went
        QTest::keyClick(&list.table(), Qt::Key_Up, Qt::AltModifier);
        QTest::keyClick(&list.table(), Qt::Key_Up, Qt::AltModifier); // is first already
        QCOMPARE(texts(), (QStringList{"one", "two", "three"}));
        QSignalSpy jumps(&list, &NotesView::jumpRequested);
        notes.choose(two);
        QTest::keyClick(&list.table(), Qt::Key_Return);
        QCOMPARE(jumps.count(), 1);
        QCOMPARE(jumps[0][0].toULongLong(), static_cast<qulonglong>(two));
        auto* model = list.table().model();
        QVERIFY(model->setData(model->index(1, NotesModel::Remark), QStringLiteral("  second ")));
        QCOMPARE(notes.find(two)->text, std::string("second"));
        QTest::keyClick(&list.table(), Qt::Key_Delete);
        QCOMPARE(texts(), (QStringList{"one", "three"}));
        notes.undo();
        QCOMPARE(texts(), (QStringList{"one", "second", "three"}));
        notes.redo();
        QVERIFY(list.plainText().startsWith(QStringLiteral("1\tone\tTimeline · event 1 at ")));
    }

    void rowsAreMovedByDropping()
    {
        Style style;
        NotesState notes;
        NotesView list(notes, style);
        for (const char* text : {"a", "b", "c", "d"})
            notes.add(noteAt(1, 1, text));
        auto* model = list.table().model();
        const auto drop = [&](int from, int to) {
            const std::unique_ptr<QMimeData> data(model->mimeData({model->index(from, NotesModel::Remark)}));
            model->dropMimeData(data.get(), Qt::MoveAction, to, 0, {});
            std::string order;
            for (const auto& note : notes.items())
                order += note.text;
            return order;
        };
        QCOMPARE(drop(0, 2), std::string("bacd"));
        QCOMPARE(drop(3, 0), std::string("dbac"));
        QCOMPARE(drop(1, 4), std::string("dacb"));
        QMimeData foreign;
        foreign.setText(QStringLiteral("1"));
        model->dropMimeData(&foreign, Qt::MoveAction, 0, 0, {});
        QCOMPARE(notes.items()[0].text, std::string("d"));
    }
};

QTEST_MAIN(TestNotes)
#include "tst_notes.moc"
