// SPDX-License-Identifier: GPL-3.0-or-later
// A job of several ranks in the window.
#include "app/job_loader.hpp"
#include "app/main_window.hpp"
#include "app/reporter.hpp"
#include "app/session_keeper.hpp"
#include "app/session_names.hpp"
#include "app/status_line.hpp"
#include "widgets/compare/compare_view.hpp"
#include "widgets/ranks/ranks_view.hpp"
#include "widgets/style/empty_state.hpp"
#include "widgets/style/text.hpp"
#include "widgets/timeline/timeline_view.hpp"

#include <QFileInfo>
#include <QTabWidget>

#include <algorithm>

namespace tidemark {

namespace {

bool hasFolder(const QStringList& paths)
{
    return std::any_of(
        paths.begin(), paths.end(), [](const QString& path) { return QFileInfo(path).isDir(); });
}

bool isSeveral(const SummarisedJob& job)
{
    return job.ranks.size() + job.job.bad.size() + job.job.missing.size() > 1;
}

/// The size of the card that was stated for one of these files, or for one in these folders.
std::optional<std::uint64_t> statedCard(const RecentFiles& recent, const QStringList& paths)
{
    for (const RecentFiles::Entry& entry : recent.entries())
        for (const QString& path : paths) {
            const QString whole = QFileInfo(path).absoluteFilePath();
            if (entry.cardSize && (entry.path == whole || entry.path.startsWith(whole + QLatin1Char('/'))))
                return entry.cardSize;
        }
    return std::nullopt;
}

const RankSummary* summaryAt(const SummarisedJob* job, const QString& path)
{
    if (job)
        for (const RankSummary& each : job->ranks)
            if (nameOf(each.file) == path)
                return &each;
    return nullptr;
}

} // namespace

void MainWindow::open(const QStringList& paths, const ReadOptions& options)
{
    m_jobs->clear();
    m_front.clear();
    m_jobKept = false;
    m_outlierWanted = true;
    const bool folder = hasFolder(paths);
    // What is in a folder has to be found out first; files are opened as they are given.
    m_jobPaths = folder ? paths : QStringList();
    if (!folder)
        m_keeper->open(paths, options);
    if (!folder && paths.size() < 2) {
        dropJob();
        return;
    }
    m_jobs->start(jobWish(paths, options));
    m_status->setActivity(tr("Looking for ranks"));
}

JobWish MainWindow::jobWish(const QStringList& paths, const ReadOptions& options) const
{
    JobWish wish;
    wish.paths = paths;
    wish.read = options;
    wish.settingsFiles = m_work.diagnoser.settingsFiles();
    wish.rulesFile = m_work.diagnoser.rulesFile();
    wish.cardBytes = statedCard(m_work.recent, paths);
    return wish;
}

void MainWindow::connectRanks()
{
    m_jobs = new JobLoader(this);
    connect(m_jobs, &JobLoader::discovered, this, &MainWindow::jobDiscovered);
    connect(m_jobs, &JobLoader::failed, this, [this](const QString& sentence) {
        m_status->remark(sentence);
        // Nothing of a job about them: the ordinary way tells what is wrong.
        if (!m_jobPaths.isEmpty())
            m_keeper->open(m_jobPaths, m_jobs->wish().read);
    });
    connect(m_jobs, &JobLoader::progressed, this, [this](std::size_t done, std::size_t total) {
        m_ranks->setProgress(done, total);
        m_status->setActivity(tr("Reading ranks: %1 of %2").arg(done).arg(total));
    });
    connect(m_jobs, &JobLoader::finished, this, [this] {
        const auto job = m_jobs->job();
        const bool several = job && isSeveral(*job);
        m_ranks->setJob(several ? job : nullptr);
        if (!several)
            showRanksTab(false);
        if (job)
            m_status->remark(tr("Ready"));
        if (several)
            openOutlier(*job);
        emit m_reporter->inputChanged();
        showPages();
    });
    connect(m_ranks, &RanksView::openRequested, this, &MainWindow::openRank);
    connect(m_ranks, &RanksView::compareRequested, this, [this](const QString& a, const QString& b) {
        m_work.comparer.open(compare::Which::A, a);
        compareWith(b);
        showTab(m_compare);
    });
    connect(m_ranks, &RanksView::openFolderRequested, this, &MainWindow::chooseFolder);
    connect(m_ranks, &RanksView::stepWanted, m_jobs, &JobLoader::chooseStep);
    connect(m_ranks, &RanksView::partialRequested, this, [this](const QString& path) {
        showTimelineTab();
        m_keeper->openPartially(path);
    });
    m_work.diagnoser.setAmongPeers([this] { return m_work.files.entries().size() > 1; });

    // What is stated for one rank holds for all of them.
    const auto again = [this] {
        if (m_jobs->wish().paths.isEmpty())
            return;
        JobWish wish = m_jobs->wish();
        wish.settingsFiles = m_work.diagnoser.settingsFiles();
        wish.rulesFile = m_work.diagnoser.rulesFile();
        if (wish.settingsFiles != m_jobs->wish().settingsFiles || wish.rulesFile != m_jobs->wish().rulesFile)
            m_jobs->refresh(wish);
    };
    connect(&m_work.diagnoser, &Diagnoser::rulesFileChanged, this, again);
    connect(&m_work.diagnoser, &Diagnoser::settingsFilesChanged, this, again);
    connect(&m_work.files, &Files::cardSizeGiven, this, [this](std::optional<std::uint64_t> bytes) {
        if (m_jobs->wish().paths.isEmpty())
            return;
        for (const Files::Entry& entry : m_work.files.entries())
            m_work.recent.setCardSize(entry.path, bytes);
        JobWish wish = m_jobs->wish();
        wish.cardBytes = bytes;
        m_jobs->refresh(wish);
    });
    connect(&m_work.files, &Files::closed, this, [this] {
        if (!std::exchange(m_jobKept, false))
            dropJob();
    });
}

void MainWindow::jobDiscovered(const std::shared_ptr<const DiscoveredJob>& job)
{
    QStringList files;
    for (const RankFiles& rank : job->ranks)
        if (rank.chosen().kind == RankFileKind::Snapshot)
            files << nameOf(rank.chosen().path);
    const std::size_t rows = job->ranks.size() + job->bad.size() + job->missing.size();
    m_ranksFirst = rows > 1;
    showRanksTab(rows > 1);
    if (m_jobPaths.isEmpty() && m_keeper->scene().hasPlace())
        showFront(m_front);
    m_ranks->setProgress(0, job->ranks.size());
    if (m_jobPaths.isEmpty())
        return; // they are being opened already
    // Digests alone: there is nothing but the overview, and what was open before goes.
    const bool digests = files.isEmpty() && !job->ranks.empty();
    // Where nothing can be opened, the first broken file says why.
    if (files.isEmpty() && !digests)
        for (const BadFile& bad : job->bad)
            files << nameOf(bad.path);
    if (!files.isEmpty()) {
        if (m_jobPaths.size() == 1)
            m_work.recent.add(m_jobPaths.front()); // the run, beside its files
        m_keeper->open(files, m_jobs->wish().read);
        return;
    }
    m_jobKept = true;
    m_keeper->close();
    if (rows == 1)
        m_status->remark(tr("This is the digest of one rank: its full views need the snapshot"));
    showPages();
}

// Nothing of several ranks is left.
void MainWindow::dropJob()
{
    m_jobs->clear();
    m_ranks->setJob(nullptr);
    m_ranksFirst = false;
    m_digestWanted.clear();
    showRanksTab(false);
    showPages();
}

// Once a job, while nobody has gone anywhere else yet: the rank that failed is the one the other views are
// about.
void MainWindow::openOutlier(const SummarisedJob& job)
{
    if (!std::exchange(m_outlierWanted, false))
        return;
    if (m_tabs->currentWidget() != m_ranks || m_jobPaths.isEmpty() || !m_work.notes.items().empty())
        return;
    for (std::size_t i = 0; i < job.ranks.size(); ++i) {
        if (!job.ranks[i].oom || !job.diagnosis.ranks[i].outlier)
            continue;
        const auto& entries = m_work.files.entries();
        const QString path = nameOf(job.ranks[i].file);
        for (std::size_t at = 0; at < entries.size(); ++at)
            if (entries[at].path == path && m_work.files.current() != at) {
                m_work.files.show(at);
                return;
            }
    }
}

void MainWindow::openRank(const QString& path)
{
    m_outlierWanted = false;
    const auto& entries = m_work.files.entries();
    const RankSummary* summary = summaryAt(m_jobs->job().get(), path);
    if (summary && summary->fromDigest) {
        m_digestWanted = path;
        m_status->remark(tr("%1 is a digest: the full views need the snapshot it was made from")
                             .arg(QFileInfo(path).fileName()));
        if (!m_work.session.rank()) {
            showTimelineTab();
            showPages();
        }
        return;
    }
    const auto found = std::find_if(
        entries.begin(), entries.end(), [&](const Files::Entry& entry) { return entry.path == path; });
    // Files of another step come one by one.
    const std::size_t index
        = found != entries.end() ? static_cast<std::size_t>(found - entries.begin()) : m_work.files.add(path);
    m_oomBrought = false; // the rank's own failure may come to the front
    showTimelineTab();
    if (m_work.files.current() != index || !m_work.session.rank())
        m_work.files.show(index);
    else
        showOomOf();
}

// Instead of empty panes: why there is no timeline, and what would bring one.
void MainWindow::showRankless()
{
    const bool rankless
        = !m_work.session.rank() && m_tabs->indexOf(m_ranks) >= 0 && !m_work.loader.isLoading();
    m_timeline->setVisible(!rankless);
    m_rankless->setVisible(rankless);
    if (!rankless)
        return;
    EmptyState::Content content;
    content.icon = QStringLiteral("timeline");
    const auto job = m_jobs->job();
    const RankSummary* wanted = summaryAt(job.get(), m_digestWanted);
    const bool digests = job
        && std::any_of(
            job->ranks.begin(), job->ranks.end(), [](const RankSummary& rank) { return rank.fromDigest; });
    if (wanted) {
        content.heading = tr("Only the digest of %1 is here").arg(shownText(wanted->name()));
        content.sentence = tr("The full views need the snapshot it was made from: %1.")
                               .arg(shownText(wanted->snapshot.string()));
        const QString snapshot = nameOf(wanted->snapshot);
        if (QFileInfo::exists(snapshot))
            content.actions.push_back({tr("Open this snapshot"), QStringLiteral("open"),
                [this, snapshot] { open({snapshot}); }, true});
    } else if (digests || !job) {
        content.heading = tr("Digests have no timeline");
        content.sentence = tr(
            "Figures, curves and findings of all ranks are under Ranks; the full views of a rank need the "
            "snapshot that its digest was made from.");
    } else {
        content.heading = tr("No rank of this run can be drawn");
        content.sentence = tr("Its files are listed under Ranks, each with what is wrong with it.");
    }
    content.actions.push_back({tr("Show ranks"), QStringLiteral("ranks"),
        [this] { m_tabs->setCurrentWidget(m_ranks); }, content.actions.empty()});
    m_rankless->setContent(std::move(content));
}

// First of all tabs, while a job is open.
void MainWindow::showRanksTab(bool shown)
{
    const int tab = m_tabs->indexOf(m_ranks);
    if (shown == (tab >= 0))
        return;
    if (shown) {
        m_tabs->insertTab(0, m_ranks, m_style.icon(QStringLiteral("ranks")), tr("Ranks"));
        m_tabs->setCurrentWidget(m_ranks);
    } else {
        m_tabs->removeTab(tab);
        m_ranks->hide();
    }
    placeControls();
    updateCommands();
}

void MainWindow::showTimelineTab()
{
    for (int tab = 0; tab < m_tabs->count(); ++tab)
        if (m_tabs->widget(tab)->isAncestorOf(m_timeline))
            m_tabs->setCurrentIndex(tab);
}

} // namespace tidemark
