// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/job/summarise.hpp"
#include "tests/support/small_job.hpp"
#include "widgets/ranks/rank_plots.hpp"
#include "widgets/ranks/ranks_view.hpp"
#include "widgets/ranks/run_panel.hpp"
#include "widgets/style/controls.hpp"
#include "widgets/style/text.hpp"

#include <QComboBox>
#include <QHeaderView>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTreeView>
#include <QtTest>

using namespace tidemark;
using namespace tidemark::test;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t mib = 1U << 20;

std::shared_ptr<const SummarisedJob> read(const fs::path& folder, std::optional<std::int64_t> step = {})
{
    auto found = discover(std::span(&folder, 1), {}, {});
    if (!found)
        throw std::runtime_error(found.error().message);
    if (step)
        chooseStep(*found, step);
    return std::make_shared<const SummarisedJob>(*summarise(std::move(*found), {}, {}));
}

RankSummary made(int rank, std::int64_t peakMib)
{
    RankSummary s;
    s.file = "snapshot_" + std::to_string(rank) + ".pickle";
    s.rank = rank;
    s.device = 0;
    s.devices = 1;
    s.live.bytes = peakMib * static_cast<std::int64_t>(mib);
    s.allocated = s.live;
    return s;
}

/// A job of summaries that no file was read for.
std::shared_ptr<const SummarisedJob> madeJob(std::vector<RankSummary> summaries, const RunConfig& config = {})
{
    DiscoveredJob job;
    for (const RankSummary& each : summaries) {
        RankFiles files;
        files.rank = each.rank;
        RankFile file;
        file.path = each.file;
        file.rank = each.rank;
        files.files.push_back(file);
        job.ranks.push_back(files);
    }
    return std::make_shared<const SummarisedJob>(combined(std::move(job), std::move(summaries), {}, config));
}

std::shared_ptr<const SummarisedJob> madeJob(int ranks, const RunConfig& config = {})
{
    std::vector<RankSummary> all;
    for (int rank = 0; rank < ranks; ++rank)
        all.push_back(made(rank, 100 + rank % 7));
    return madeJob(std::move(all), config);
}

RunConfig stages(int pipeline, int world)
{
    RunConfig config;
    config.set("model.tensor_model_parallel_size", std::int64_t{1});
    config.set("model.pipeline_model_parallel_size", std::int64_t{pipeline});
    config.set("hardware.world_size", std::int64_t{world});
    return config;
}

/// Texts of a column of all rows, top to bottom, headings left out.
QStringList column(const RanksView& view, int which)
{
    QStringList out;
    const RanksModel& model = view.model();
    for (int group = 0; group < model.rowCount(); ++group)
        for (int row = 0; row < model.rowCount(model.index(group, 0)); ++row)
            out << model.index(row, which, model.index(group, 0)).data().toString();
    return out;
}

} // namespace

/// The overview of a job.
class TestRanksView : public QObject {
    Q_OBJECT
private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_run = m_folder->path().toStdString();
        m_view = std::make_unique<RanksView>(m_style);
        m_view->resize(1500, 850);
        m_view->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_view.get()));
    }
    void cleanup() { m_view.reset(); }

    void namesTheFailingRank()
    {
        writeSmallJob(m_run, 6, 3);
        m_view->setJob(read(m_run));
        QCOMPARE(column(*m_view, RanksModel::Name), (QStringList{"0", "1", "2", "3", "4", "5"}));
        QCOMPARE(m_view->chosen(), std::vector<std::size_t>{3});
        QVERIFY2(m_view->panel().plainText().contains("ank 3"), qPrintable(m_view->panel().plainText()));
        QVERIFY2(
            m_view->panel().plainText().contains("fragmentation"), qPrintable(m_view->panel().plainText()));
        QVERIFY(!m_view->panel().plainText().contains("Open the files of the other ranks"));
        QPushButton* open = nullptr;
        for (QPushButton* each : m_view->panel().findChildren<QPushButton*>())
            if (each->text() == "Open rank 3")
                open = each;
        QVERIFY(open);
        QSignalSpy opened(m_view.get(), &RanksView::openRequested);
        open->click();
        QCOMPARE(opened.size(), 1);
        QVERIFY(opened[0][0].toString().endsWith("snapshot_oom_rank-3.pickle"));
    }

    void badAndMissingRowsSayWhy()
    {
        writeSmallJob(m_run, 4);
        writeJobFile(m_run / "snapshot_4.pickle", "");
        writeJobFile(m_run / "snapshot_7.pickle", writePickle(climbingRank(20, 64 * mib)));
        const std::string whole = writePickle(climbingRank(40, mib));
        writeJobFile(m_run / "snapshot_6.pickle", whole.substr(0, whole.size() / 2));
        m_view->setJob(read(m_run));
        const QStringList bars = column(*m_view, RanksModel::Bar);
        QCOMPARE(column(*m_view, RanksModel::Name), (QStringList{"0", "1", "2", "3", "4", "5", "6", "7"}));
        QVERIFY2(bars[4].startsWith("The file is empty"), qPrintable(bars[4]));
        QVERIFY2(bars[5].startsWith("No file for this rank"), qPrintable(bars[5]));
        QVERIFY2(bars[6].contains("ends"), qPrintable(bars[6]));
        QVERIFY2(m_view->summaryText().contains("5 of 8 ranks"), qPrintable(m_view->summaryText()));
        QVERIFY2(m_view->summaryText().contains("2 files cannot be read"), qPrintable(m_view->summaryText()));
        // What can be read of the cut one is one double click away.
        QSignalSpy partial(m_view.get(), &RanksView::partialRequested);
        QSignalSpy opened(m_view.get(), &RanksView::openRequested);
        for (int row = 4; row < 7; ++row)
            emit m_view->table().activated(m_view->model().index(row, 0, m_view->model().index(0, 0)));
        QCOMPARE(partial.size(), 1);
        QVERIFY(partial[0][0].toString().endsWith("snapshot_6.pickle"));
        QCOMPARE(opened.size(), 0);
    }

    void sortsNumbersAndKeepsTheUnknownLast()
    {
        std::vector<RankSummary> ranks;
        for (const int rank : {0, 2, 9, 10, 11})
            ranks.push_back(made(rank, 200 - rank * 9));
        for (const std::size_t i : {0U, 1U, 3U}) {
            ranks[i].reserved.emplace();
            ranks[i].reserved->bytes = static_cast<std::int64_t>((900 + i) * mib);
        }
        m_view->setJob(madeJob(ranks));
        // Ranks that left no file stand among the others, by number.
        QCOMPARE(column(*m_view, RanksModel::Name),
            (QStringList{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"}));
        m_view->table().sortByColumn(RanksModel::Name, Qt::DescendingOrder);
        QCOMPARE(column(*m_view, RanksModel::Name).mid(0, 3), (QStringList{"11", "10", "9"}));
        m_view->table().sortByColumn(RanksModel::Live, Qt::AscendingOrder);
        QCOMPARE(column(*m_view, RanksModel::Name).mid(0, 5), (QStringList{"11", "10", "9", "2", "0"}));
        m_view->table().sortByColumn(RanksModel::Held, Qt::AscendingOrder);
        QCOMPARE(column(*m_view, RanksModel::Name).mid(0, 3), (QStringList{"0", "2", "10"}));
        m_view->table().sortByColumn(RanksModel::Held, Qt::DescendingOrder);
        QCOMPARE(column(*m_view, RanksModel::Name).mid(0, 3), (QStringList{"10", "2", "0"}));
        QCOMPARE(column(*m_view, RanksModel::Held).mid(3, 2), (QStringList{"–", "–"}));
    }

    void groupsByStageAndByNothing()
    {
        m_view->setJob(madeJob(8, stages(4, 8)));
        QCOMPARE(m_view->grouping(), RankGrouping::Role);
        QCOMPARE(m_view->model().rowCount(), 4);
        QCOMPARE(m_view->model().index(1, 0).data().toString(), QString("Pipeline stage 1"));
        m_view->choose(5);
        m_view->setGrouping(RankGrouping::None);
        QCOMPARE(m_view->model().rowCount(), 1);
        QCOMPARE(column(*m_view, RanksModel::Name).size(), 8);
        QCOMPARE(m_view->chosen(), std::vector<std::size_t>{5});
    }

    void manyRanksAreDenseAndThenFolded()
    {
        m_view->setJob(madeJob(63, stages(3, 63)));
        const auto tall = [&] {
            const QModelIndex group = m_view->model().index(0, 0);
            return m_view->table().visualRect(m_view->model().index(0, 0, group)).height();
        };
        const int usual = tall();
        m_view->setJob(madeJob(66, stages(3, 66)));
        QVERIFY2(tall() < usual / 2, qPrintable(QString::number(tall())));
        QVERIFY(m_view->table().isExpanded(m_view->model().index(2, 0)));
        m_view->setJob(madeJob(513, stages(3, 513)));
        for (int group = 0; group < 3; ++group)
            QVERIFY(!m_view->table().isExpanded(m_view->model().index(group, 0)));
        const QString note = m_view->model().headingNote(m_view->model().index(0, 0));
        QVERIFY2(
            note.contains("171 ranks") && note.contains("median") && note.contains(" to "), qPrintable(note));
        // A chosen rank is there to be seen.
        m_view->choose(200);
        QCOMPARE(m_view->chosen(), std::vector<std::size_t>{200});
        QVERIFY(m_view->table().visualRect(m_view->table().currentIndex()).isValid());
    }

    void outliersOfFoldedGroupsAreListed()
    {
        std::vector<RankSummary> ranks;
        for (int rank = 0; rank < 600; ++rank)
            ranks.push_back(made(rank, rank == 77 ? 900 : 100));
        m_view->setJob(madeJob(std::move(ranks), stages(2, 600)));
        QVERIFY2(m_view->panel().plainText().contains("77"), qPrintable(m_view->panel().plainText()));
    }

    void curvesAreAsHighAsTheSummaries()
    {
        writeSmallJob(m_run, 3, 1);
        const auto job = read(m_run);
        m_view->setJob(job);
        m_view->table().selectAll();
        QCOMPARE(m_view->chosen().size(), std::size_t(3));
        for (const auto along :
            {RankCurves::Along::Events, RankCurves::Along::Time, RankCurves::Along::Steps}) {
            QVERIFY(m_view->curves().canAlong(along));
            m_view->curves().setAlong(along);
            QVERIFY(m_view->curves().along() == along);
            for (std::size_t i = 0; i < 3; ++i)
                QCOMPARE(m_view->curves().highest(i, 0, 1.01), job->ranks[i].live.bytes);
        }
    }

    void keysOpenAndMove()
    {
        writeSmallJob(m_run, 4, 1);
        m_view->setJob(read(m_run));
        QSignalSpy opened(m_view.get(), &RanksView::openRequested);
        QTest::keyClick(&m_view->table(), Qt::Key_Down);
        QCOMPARE(m_view->chosen(), std::vector<std::size_t>{2});
        QTest::keyClick(&m_view->table(), Qt::Key_Return);
        QCOMPARE(opened.size(), 1);
        QVERIFY(opened[0][0].toString().endsWith("snapshot_2.pickle"));
        QTest::keyClick(&m_view->table(), Qt::Key_Up, Qt::ShiftModifier);
        QCOMPARE(m_view->chosen().size(), std::size_t(2));
    }

    void severalStepsAreAChoice()
    {
        writeSmallJob(m_run / "iteration_5", 2);
        m_view->setJob(read(m_run));
        QVERIFY(!m_view->stepChoice().isVisible());
        writeSmallJob(m_run / "iteration_10", 2);
        m_view->setJob(read(m_run));
        QVERIFY(m_view->stepChoice().isVisible());
        QStringList texts;
        for (int i = 0; i < m_view->stepChoice().count(); ++i)
            texts << m_view->stepChoice().itemText(i);
        QCOMPARE(texts, (QStringList{"the newest of each rank", "step 5", "step 10"}));
        std::vector<std::optional<std::int64_t>> wanted;
        connect(m_view.get(), &RanksView::stepWanted, this,
            [&](std::optional<std::int64_t> step) { wanted.push_back(step); });
        emit m_view->stepChoice().activated(1);
        emit m_view->stepChoice().activated(0);
        QVERIFY((wanted == std::vector<std::optional<std::int64_t>>{5, std::nullopt}));
        m_view->setJob(read(m_run, 5));
        QCOMPARE(m_view->stepChoice().currentText(), QString("step 5"));
    }

    void severalFilesOfARankAreSeen()
    {
        writeSmallJob(m_run, 3);
        writeJobFile(m_run / "snapshot_oom_rank-1.pickle", writePickle(fragmentedRank(20, 64 * mib)));
        m_view->setJob(read(m_run));
        const RanksModel& model = m_view->model();
        QCOMPARE(model.others(model.indexOf(1)).size(), 1);
        QCOMPARE(model.others(model.indexOf(0)).size(), 0);
        QVERIFY(model.indexOf(1).data(Qt::ToolTipRole).toString().contains("is taken instead"));
        QVERIFY2(m_view->panel().plainText().contains("Rank 1 has 2 files: snapshot_oom_rank-1.pickle"),
            qPrintable(m_view->panel().plainText()));
    }

    void barsAtTheSameMoment()
    {
        writeSmallJob(m_run, 3);
        // One that is busier later, and one that does not get to the third step.
        writeJobFile(m_run / "snapshot_1.pickle", writePickle(climbingRank(31, 64 * mib, 3, true)));
        writeJobFile(m_run / "snapshot_2.pickle", writePickle(climbingRank(20, 64 * mib, 2, true)));
        const auto job = read(m_run);
        m_view->setJob(job);
        QVERIFY(m_view->bars().isVisible());
        QVERIFY(!m_view->momentChoice().isVisible());
        m_view->compareAt("ProfilerStep#3");
        QVERIFY(m_view->momentChoice().isVisible());
        QCOMPARE(m_view->momentChoice().currentText(), QString("ProfilerStep#3"));
        const auto bytes
            = [](std::uint64_t blocks) { return bytesText(static_cast<std::int64_t>(blocks * 64 * mib)); };
        QCOMPARE(column(*m_view, RanksModel::Live), (QStringList{bytes(20), bytes(31), "–"}));
        const QString head
            = m_view->model().headerData(RanksModel::Bar, Qt::Horizontal, Qt::DisplayRole).toString();
        QVERIFY2(head.contains("ProfilerStep#3"), qPrintable(head));
        m_view->table().sortByColumn(RanksModel::Live, Qt::DescendingOrder);
        QCOMPARE(column(*m_view, RanksModel::Name), (QStringList{"1", "0", "2"}));
        m_view->compareAt({});
        QCOMPARE(column(*m_view, RanksModel::Live).back(), bytes(20));
    }

    void nothingToCompareAtWithoutSteps()
    {
        m_view->setJob(madeJob(3));
        QVERIFY(!m_view->bars().isVisible());
        m_view->setJob(nullptr);
        QCOMPARE(m_view->emptyHeading(), QString("One rank only"));
        m_view->setProgress(2, 9);
        QCOMPARE(m_view->emptyHeading(), QString("Reading the ranks of this run"));
    }

    void asAPictureEveryRowShows()
    {
        m_view->setJob(madeJob(40, stages(4, 40)));
        m_view->setForPicture();
        const int tall = m_view->wholeHeight(1000);
        m_view->resize(1000, tall);
        QTest::qWait(20);
        const RanksModel& model = m_view->model();
        const QModelIndex last = model.index(model.rowCount(model.index(3, 0)) - 1, 0, model.index(3, 0));
        const QRect row = m_view->table().visualRect(last);
        QVERIFY(row.isValid());
        QVERIFY(row.bottom() <= m_view->table().viewport()->height());
        QVERIFY(m_view->chosen().empty());
    }

private:
    Style m_style;
    std::unique_ptr<QTemporaryDir> m_folder;
    fs::path m_run;
    std::unique_ptr<RanksView> m_view;
};

QTEST_MAIN(TestRanksView)
#include "tst_ranks_view.moc"
