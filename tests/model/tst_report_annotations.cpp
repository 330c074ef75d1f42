// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/annotations.hpp"

#include <QTest>

#include <random>

using namespace tidemark::report;

namespace {

Annotation note(std::string text)
{
    Annotation out;
    out.text = std::move(text);
    return out;
}

} // namespace

class TestReportAnnotations : public QObject {
    Q_OBJECT
private slots:
    void operations()
    {
        Annotations list;
        QVERIFY(!list.canUndo() && !list.canRedo() && !list.undo() && !list.redo());
        const auto a = list.add(note("a"));
        const auto c = list.add(note("c"));
        const auto b = list.add(note("b"), 1);
        QCOMPARE(list.items()[1].text, std::string("b"));
        QVERIFY(a != b && b != c);
        QVERIFY(list.move(a, 2));
        QCOMPARE(list.items()[2].text, std::string("a"));
        QVERIFY(!list.move(a, 99)); // it is last already
        QVERIFY(list.edit(b, note("B")));
        QVERIFY(!list.edit(b, note("B")));
        QVERIFY(!list.edit(77, note("x")));
        QVERIFY(list.remove(c));
        QVERIFY(!list.remove(c));
        QCOMPARE(list.items().size(), std::size_t(2));
        QCOMPARE(list.find(b)->text, std::string("B"));
        QVERIFY(list.find(c) == nullptr);
        QVERIFY(list.undo() && list.find(c) != nullptr);
        const auto d = list.add(note("d"));
        QVERIFY(d > b && !list.canRedo());
    }

    /// Whatever was done, undone and done again: the list is what it was at that step.
    void undoAndRedoAgreeWithHistory()
    {
        for (unsigned seed = 1; seed <= 40; ++seed) {
            std::mt19937 random(seed);
            const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random()) % limit; };
            Annotations list;
            std::vector<Annotations::Items> history{list.items()};
            std::size_t now = 0;
            for (int step = 0; step < 150; ++step) {
                const auto& items = list.items();
                const std::uint64_t some = items.empty() ? 1 : items[below(items.size())].id;
                bool changed = false;
                switch (below(7)) {
                case 0:
                case 1:
                    changed = list.add(note(std::to_string(step)), below(items.size() + 2)) != 0;
                    break;
                case 2:
                    changed = list.edit(some, note("e" + std::to_string(step)));
                    break;
                case 3:
                    changed = list.move(some, below(8));
                    break;
                case 4:
                    changed = list.remove(some);
                    break;
                case 5:
                    QCOMPARE(list.undo(), now > 0);
                    now -= now > 0;
                    break;
                default:
                    QCOMPARE(list.redo(), now + 1 < history.size());
                    now += now + 1 < history.size();
                }
                if (changed) {
                    history.resize(++now);
                    history.push_back(list.items());
                }
                QVERIFY(list.items() == history[now]);
                QCOMPARE(list.canUndo(), now > 0);
                QCOMPARE(list.canRedo(), now + 1 < history.size());
            }
            const Annotations copy = list;
            while (list.undo()) { }
            QVERIFY(list.items().empty());
            QVERIFY(copy.items() == history[now]); // a copy goes its own way
            while (list.redo()) { }
            QVERIFY(list.items() == history.back());
        }
    }

    void historyIsBounded()
    {
        Annotations list;
        for (std::size_t i = 0; i < Annotations::depth + 50; ++i)
            list.add(note("x"));
        std::size_t undone = 0;
        while (list.undo())
            ++undone;
        QCOMPARE(undone, Annotations::depth);
        QCOMPARE(list.items().size(), std::size_t(50));
    }

    void idsFromFilesAreMadeUnique()
    {
        Annotation a = note("a");
        a.id = 5;
        Annotation b = a;
        Annotation c = note("c");
        Annotations list({a, b, c});
        QCOMPARE(list.items()[0].id, std::uint64_t(5));
        QVERIFY(list.items()[1].id != 5 && list.items()[2].id != 0);
        QVERIFY(list.items()[1].id != list.items()[2].id);
        const auto next = list.add(note("d"));
        for (std::size_t i = 0; i < 3; ++i)
            QVERIFY(list.items()[i].id != next);
    }

    void words()
    {
        QCOMPARE(anchorText(PointAnchor{-1, 0}), std::string("before the first event at 0\u00a0B"));
        QCOMPARE(anchorText(AllocationAnchor{12, 0x10, 0}), std::string("allocation 0x10 made by event 12"));
        QCOMPARE(anchorText(AllocationAnchor{std::nullopt, 0x10, 2}),
            std::string("allocation 0x10, number 3 there"));
        QCOMPARE(anchorText(FindingAnchor{"leak", 0}), std::string("finding leak"));
        Annotation ruler;
        ruler.kind = AnnotationKind::Ruler;
        ruler.from = PointAnchor{1, 0};
        ruler.to = PointAnchor{INT64_MIN, INT64_MAX};
        QVERIFY(!placeText(ruler).empty());
        for (const auto kind : {AnnotationKind::Note, AnnotationKind::Box, AnnotationKind::Arrow,
                 AnnotationKind::Ruler, AnnotationKind::Pin})
            QVERIFY(annotationKindFromName(annotationKindName(kind)) == kind);
    }
};

QTEST_GUILESS_MAIN(TestReportAnnotations)
#include "tst_report_annotations.moc"
