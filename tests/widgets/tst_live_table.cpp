// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/widgets/panel_fixture.hpp"
#include "widgets/live/live_table_view.hpp"

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QHeaderView>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QtTest>

#include <set>

using namespace tidemark;
using namespace tidemark::test;

namespace {

constexpr std::array groupings{GroupBy::Site, GroupBy::Stack, GroupBy::Size, GroupBy::ExactSize,
    GroupBy::Stream, GroupBy::Pool, GroupBy::None};

std::uint64_t shownSum(const LiveTableModel& model)
{
    std::uint64_t sum = 0;
    for (int row = 0; row < model.rowCount(); ++row)
        sum += model.sumOf(row).bytes;
    return sum;
}

std::uint64_t shownCount(const LiveTableModel& model)
{
    std::uint64_t count = 0;
    for (int row = 0; row < model.rowCount(); ++row)
        count += model.sumOf(row).allocations;
    return count;
}

/// Twenty sites of known sizes, all live at the end: site i has i allocations of i MiB.
std::shared_ptr<const Snapshot> twentySites()
{
    TraceMaker maker;
    std::uint64_t address = 0x7f0000000000;
    for (int i = 1; i <= 20; ++i) {
        const std::string frame = "f" + std::to_string(i) + "@net.py:" + std::to_string(i);
        const StackId stack = maker.stack({frame});
        for (int k = 0; k < i; ++k, address += 64 << 20)
            maker.alloc(address, static_cast<std::int64_t>(i) << 20, stack);
    }
    return maker.finish();
}

} // namespace

class TestLiveTable : public QObject {
    Q_OBJECT

private slots:
    // Sizes that cannot be are remarked upon by the toolkit.
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral("Negative sizes"))); }

    void sumsEqualTheCurve_data()
    {
        QTest::addColumn<int>("seed");
        for (int seed = 1; seed <= 6; ++seed)
            QTest::addRow("seed %d", seed) << seed;
    }

    void sumsEqualTheCurve()
    {
        QFETCH(int, seed);
        PanelFixture f(randomTrace({static_cast<std::uint64_t>(seed), 300, 20, true, true, false, false}));
        LiveTableView table(f.session, f.view, f.style);
        table.resize(600, 200);
        table.show();
        for (const GroupBy by : groupings) {
            table.setGroupBy(by);
            for (StateIndex state = 0; state < f.replay().states(); state += 7) {
                f.view.setCursor(state);
                table.flush();
                const auto curve = static_cast<std::uint64_t>(f.replay().timeline.requested().at(state));
                QCOMPARE(shownSum(table.model()), curve);
                QCOMPARE(shownCount(table.model()), std::uint64_t{f.replay().timeline.liveCountAt(state)});
                QVERIFY2(!table.sumText().contains(QChar(u'≠')), qPrintable(table.sumText()));
            }
        }
    }

    void keepsTheModelContract()
    {
        PanelFixture f(trainingStep());
        LiveTableView table(f.session, f.view, f.style);
        QAbstractItemModelTester tester(const_cast<LiveTableModel*>(&table.model()),
            QAbstractItemModelTester::FailureReportingMode::QtTest);
        table.resize(600, 160);
        table.show();
        for (const GroupBy by : groupings) {
            table.setGroupBy(by);
            for (StateIndex state = 0; state < f.replay().states(); state += 11) {
                f.view.setCursor(state);
                table.flush();
                table.setExpanded(state % 2 == 0);
            }
        }
    }

    void sortsByEveryColumn()
    {
        PanelFixture f(trainingStep());
        LiveTableView table(f.session, f.view, f.style);
        table.resize(600, 300);
        table.show();
        table.setExpanded(true);
        table.setGroupBy(GroupBy::None);
        const LiveTableModel& model = table.model();
        const auto key = [&](int row, LiveColumn column) -> std::uint64_t {
            const LiveFigures figures = *model.figures(row);
            switch (column) {
            case LiveColumn::Oldest:
                return figures.oldest;
            case LiveColumn::BlockSize:
                return figures.blockBytes;
            case LiveColumn::Waste:
                return figures.blockBytes - figures.bytes;
            case LiveColumn::Address:
                return f.replay().timeline.allocations().address[index(figures.largestId)];
            case LiveColumn::Stream:
                return index(figures.stream);
            case LiveColumn::Pool:
                return index(figures.pool);
            default:
                return figures.bytes;
            }
        };
        for (const LiveColumn column : {LiveColumn::Live, LiveColumn::Share, LiveColumn::Largest,
                 LiveColumn::Oldest, LiveColumn::BlockSize, LiveColumn::Waste, LiveColumn::Stream,
                 LiveColumn::Pool, LiveColumn::Address})
            for (const Qt::SortOrder order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
                table.sortBy(column, order);
                table.flush();
                QVERIFY(model.rowCount() > 20);
                for (int row = 1; row < model.rowCount(); ++row) {
                    const std::uint64_t before = key(row - 1, column);
                    const std::uint64_t after = key(row, column);
                    QVERIFY(order == Qt::AscendingOrder ? before <= after : before >= after);
                    // Equal ones stay largest first, whatever the order.
                    if (before == after)
                        QVERIFY(model.figures(row - 1)->bytes >= model.figures(row)->bytes);
                }
            }
        table.sortBy(LiveColumn::Key, Qt::AscendingOrder);
        table.flush();
        for (int row = 1; row < model.rowCount(); ++row)
            QVERIFY(model.nameOf(*model.figures(row - 1)) <= model.nameOf(*model.figures(row)));
    }

    void headerClickSortsAndTurnsRound()
    {
        PanelFixture f(twentySites());
        LiveTableView table(f.session, f.view, f.style);
        table.resize(700, 800);
        table.show();
        table.flush();
        QHeaderView* const header = table.table().horizontalHeader();
        const auto click = [&](LiveColumn column) {
            const int section = static_cast<int>(column);
            const QPoint at(header->sectionViewportPosition(section) + 12, header->height() / 2);
            QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, at);
            table.flush();
        };
        click(LiveColumn::Count);
        QCOMPARE(table.model().figures(0)->allocations, std::uint64_t{20});
        click(LiveColumn::Count);
        QCOMPARE(table.model().figures(0)->allocations, std::uint64_t{1});
    }

    void foldsTheTailAndOpensIt()
    {
        PanelFixture f(twentySites());
        LiveTableView table(f.session, f.view, f.style);
        table.resize(600, 260);
        table.show();
        table.flush();
        QCoreApplication::processEvents();
        const LiveTableModel& model = table.model();
        QVERIFY(model.folds());
        const int fold = model.rowCount() - 1;
        QVERIFY(model.isFold(fold));
        std::uint64_t behind = 0;
        for (int i = 1; i <= 20 - fold; ++i)
            behind += static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(i) << 20;
        QCOMPARE(model.sumOf(fold).bytes, behind);
        QCOMPARE(model.index(fold, 0).data().toString(),
            QStringLiteral("%1 more sites").arg(static_cast<int>(model.folded())));
        QCOMPARE(static_cast<int>(model.folded()), 20 - fold);
        table.table().setFocus();
        table.table().setCurrentIndex(model.index(fold, 0));
        QTest::keyClick(&table.table(), Qt::Key_Return);
        QVERIFY(!model.folds());
        QCOMPARE(model.rowCount(), 20);
        QCOMPARE(shownSum(model), std::uint64_t{2870} << 20);
    }

    void clickSelectsEverywhere()
    {
        PanelFixture f(twentySites());
        LiveTableView table(f.session, f.view, f.style);
        table.resize(600, 600);
        table.show();
        table.flush();
        const QRect cell = table.table().visualRect(table.model().index(2, 0));
        QTest::mouseClick(table.table().viewport(), Qt::LeftButton, {}, cell.center());
        QCOMPARE(f.view.selection().kind, Selection::Kind::Group);
        QCOMPARE(f.view.selection().group, table.model().figures(2)->group);
        QCOMPARE(f.view.selection().groupBy, GroupBy::Site);

        // A block chosen elsewhere marks its site's row, and the choice stays the block.
        const LiveFigures wanted = *table.model().figures(4);
        f.view.selectAllocation(wanted.largestId);
        QVERIFY(table.table().selectionModel()->isRowSelected(4));
        QCOMPARE(f.view.selection().kind, Selection::Kind::Allocation);
        f.view.clearSelection();
        QVERIFY(!table.table().selectionModel()->hasSelection());
    }

    void doubleClickZoomsToTheLife()
    {
        PanelFixture f(trainingStep());
        LiveTableView table(f.session, f.view, f.style);
        table.resize(600, 300);
        table.show();
        table.flush();
        const LiveFigures first = *table.model().figures(0);
        const auto grouping = f.session.grouping(GroupBy::Site);
        StateIndex from = f.replay().states();
        StateIndex to = 0;
        const AllocationColumns& columns = f.replay().timeline.allocations();
        for (std::size_t i = 0; i < columns.count(); ++i)
            if (grouping->of(static_cast<AllocationId>(i)) == first.group) {
                from = std::min(from, columns.firstState[i]);
                to = std::max(to, columns.endState[i]);
            }
        const QPoint row = table.table().visualRect(table.model().index(0, 0)).center();
        QTest::mouseClick(table.table().viewport(), Qt::LeftButton, {}, row);
        QTest::mouseDClick(table.table().viewport(), Qt::LeftButton, {}, row);
        QVERIFY(f.view.window().left <= from);
        QVERIFY(f.view.window().right >= to);
        QVERIFY(f.view.window().right - f.view.window().left <= 1.1 * (to - from) + 2);
        QVERIFY(f.view.canGoBack());
    }

    void copiesExactBytes()
    {
        PanelFixture f(twentySites());
        LiveTableView table(f.session, f.view, f.style);
        table.resize(600, 600);
        table.show();
        table.flush();
        table.table().selectRow(0);
        QTest::keySequence(&table.table(), QKeySequence::Copy);
        const QStringList lines
            = QGuiApplication::clipboard()->text().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 2);
        QCOMPARE(lines[0], QStringLiteral("Call site\tLive (bytes)\tShare of live\tCount\tLargest (bytes)"));
        QCOMPARE(lines[1], QStringLiteral("f20@net.py:20\t419430400\t13.9 %\t20\t20971520"));
        table.table().clearSelection();
        QCOMPARE(table.copyText().count(QLatin1Char('\n')), 21);
    }

    void severalRowsShowTheirSum()
    {
        PanelFixture f(twentySites());
        LiveTableView table(f.session, f.view, f.style);
        table.resize(600, 600);
        table.show();
        table.flush();
        QString said;
        connect(&f.view, &ViewState::hoverTextChanged, this, [&](const QString& text) { said = text; });
        table.table().selectRow(0);
        QTest::keyClick(&table.table(), Qt::Key_Down, Qt::ShiftModifier);
        QVERIFY2(said.startsWith(QStringLiteral("2 rows selected: 39 allocations, 761")), qPrintable(said));
    }

    void searchFadesAndSums()
    {
        PanelFixture f(twentySites());
        LiveTableView table(f.session, f.view, f.style);
        table.resize(600, 600);
        table.show();
        table.flush();
        auto matches
            = std::make_shared<std::vector<std::uint8_t>>(f.replay().timeline.allocations().count(), 0);
        // Of site 20: one of its 20 allocations of 20 MiB.
        (*matches)[index(table.model().figures(0)->largestId)] = 1;
        f.view.setMatches(matches);
        table.flush();
        const LiveTableModel& model = table.model();
        QVERIFY(!model.index(0, 0).data(LiveTableModel::FadedRole).toBool());
        QVERIFY(model.index(1, 0).data(LiveTableModel::FadedRole).toBool());
        QCOMPARE(model.index(0, 1).data().toString(), QStringLiteral("20.0 of 400\u00a0MiB"));
        QVERIFY2(table.sumText().startsWith(QStringLiteral("Σ 1 of 210 allocations, 20.0\u00a0MiB of 2.80")),
            qPrintable(table.sumText()));
        table.setGroupBy(GroupBy::None);
        table.flush();
        int clear = 0;
        for (int row = 0; row < model.rowCount(); ++row)
            if (!model.isFold(row) && !model.index(row, 0).data(LiveTableModel::FadedRole).toBool())
                ++clear;
        QCOMPARE(clear, 1);
    }

    void nothingMatchesOffersTheCure()
    {
        PanelFixture f(twentySites());
        LiveTableView table(f.session, f.view, f.style);
        table.resize(600, 300);
        table.show();
        f.view.setMatches(std::make_shared<std::vector<std::uint8_t>>(210, std::uint8_t{0}));
        table.flush();
        QCOMPARE(table.emptyHeading(), QStringLiteral("The filter hides all 210 allocations"));
        QSignalSpy asked(&f.view, &ViewState::searchRequested);
        const auto buttons = table.findChildren<QPushButton*>();
        const auto cure = std::find_if(buttons.begin(), buttons.end(),
            [](const QPushButton* button) { return button->text() == QLatin1String("Clear filter"); });
        QVERIFY(cure != buttons.end());
        QTest::mouseClick(*cure, Qt::LeftButton);
        QCOMPARE(asked.count(), 1);
        table.flush();
        QVERIFY(table.emptyHeading().isEmpty());
    }

    void nothingLiveGoesToThePeak()
    {
        TraceMaker maker;
        maker.alloc(0x1000, 4096);
        maker.free(0x1000, 4096);
        PanelFixture f(maker.finish());
        LiveTableView table(f.session, f.view, f.style);
        table.resize(500, 300);
        table.show();
        f.view.setCursor(0);
        table.flush();
        QCOMPARE(table.emptyHeading(), QStringLiteral("Nothing is live here"));
        QTest::mouseClick(table.findChildren<QPushButton*>().constFirst(), Qt::LeftButton);
        QCOMPARE(f.view.cursor(), StateIndex{1});
    }

    void withoutStacksRowsAreSizes()
    {
        TraceMaker maker;
        maker.alloc(0x1000, 4096);
        maker.alloc(0x200000, 3 << 20);
        PanelFixture f(maker.finish());
        LiveTableView table(f.session, f.view, f.style);
        table.resize(500, 300);
        table.show();
        table.flush();
        QCOMPARE(table.model().rows().table->by, GroupBy::ExactSize);
        QCOMPARE(
            table.model().headerData(0, Qt::Horizontal, Qt::DisplayRole).toString(), QStringLiteral("Size"));
        QCOMPARE(table.model().index(0, 0).data().toString(), QStringLiteral("3.0\u00a0MiB"));
        QCOMPARE(table.model().index(0, 0).data(LiveTableModel::SecondRole).toString(),
            QStringLiteral("3,145,728\u00a0B"));
    }

    void followsTheCursorAndThePeak()
    {
        PanelFixture f(trainingStep());
        LiveTableView table(f.session, f.view, f.style);
        table.resize(600, 300);
        table.show();
        const StateIndex peak = f.replay().timeline.requested().total().maxState;
        f.view.setCursor(peak / 2);
        QTRY_VERIFY(table.model().rows().table && table.model().rows().table->state == peak / 2);
        table.setAtPeak(true);
        QTRY_COMPARE(table.model().rows().table->state, peak);
        QVERIFY(table.windowTitle().startsWith(QStringLiteral("at the peak")));
        f.view.setCursor(3);
        QTest::qWait(30);
        QCOMPARE(table.model().rows().table->state, peak);
    }

    void forgetsTheOldFile()
    {
        PanelFixture f(twentySites());
        LiveTableView table(f.session, f.view, f.style);
        table.resize(600, 300);
        table.show();
        table.flush();
        f.session.setRank(nullptr);
        table.flush();
        QCOMPARE(table.model().rowCount(), 0);
        QCOMPARE(table.emptyHeading(), QStringLiteral("Nothing is open"));
        f.open(trainingStep());
        QTRY_VERIFY(table.model().rowCount() > 0);
        QCOMPARE(table.model().rows().replay, f.session.replay());
    }

    void aFindingFadesTheOthers()
    {
        PanelFixture f(twentySites());
        f.view.setCursor(f.replay().states() - 1);
        LiveTableView table(f.session, f.view, f.style);
        table.resize(700, 700);
        table.show();
        table.flush();
        const auto grouping = f.session.grouping(GroupBy::Site);
        const auto faded
            = [&](int row) { return table.model().index(row, 0).data(LiveTableModel::FadedRole).toBool(); };
        QVERIFY(!faded(0) && !faded(1));
        auto flags = std::make_shared<std::vector<std::uint8_t>>(f.replay().timeline.allocations().count());
        const std::uint32_t second = table.model().figures(1)->group;
        for (std::uint32_t i = 0; i < flags->size(); ++i)
            (*flags)[i] = grouping->of(AllocationId{i}) == second ? 1 : 0;
        f.view.setShownFinding(flags);
        table.flush();
        QVERIFY(faded(0) && !faded(1) && faded(2));
        QVERIFY(table.windowTitle().contains(QLatin1String("finding shown")));
        // None of it lives here: everything is faded, and nothing is called filtered.
        f.view.setShownFinding(std::make_shared<std::vector<std::uint8_t>>(flags->size()));
        table.flush();
        QVERIFY(faded(0) && faded(1));
        QVERIFY(table.emptyHeading().isEmpty());
        f.view.setShownFinding(nullptr);
        table.flush();
        QVERIFY(!faded(0) && !faded(1));
    }
};

QTEST_MAIN(TestLiveTable)
#include "tst_live_table.moc"
