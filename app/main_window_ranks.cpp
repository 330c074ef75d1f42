// SPDX-License-Identifier: GPL-3.0-or-later
// A job of several ranks in the window.
#include "app/job_loader.hpp"
#include "app/main_window.hpp"
#include "app/session_keeper.hpp"
#include "app/session_names.hpp"
#include "app/status_line.hpp"
#include "widgets/compare/compare_view.hpp"
#include "widgets/ranks/ranks_view.hpp"
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

} // namespace

void MainWindow::open(const QStringList& paths, const ReadOptions& options)
{
    m_jobs->clear();
    const bool folder = hasFolder(paths);
    m_jobOptions = options;
    // What is in a folder has to be found out first; files are opened as they are given.
    m_jobPaths = folder ? paths : QStringList();
    if (!folder)
        m_keeper->open(paths, options);
    if (!folder && paths.size() < 2)
        return;
    SummariseOptions wish;
    wish.read = options;
    m_jobs->start(paths, wish);
    m_status->setActivity(tr("Looking for ranks"));
}

void MainWindow::connectRanks()
{
    m_jobs = new JobLoader(this);
    connect(m_jobs, &JobLoader::discovered, this, [this](const std::shared_ptr<const DiscoveredJob>& job) {
        QStringList files;
        for (const RankFiles& rank : job->ranks)
            if (rank.chosen().kind == RankFileKind::Snapshot)
                files << nameOf(rank.chosen().path);
        const std::size_t rows = job->ranks.size() + job->bad.size() + job->missing.size();
        m_ranksFirst = rows > 1;
        showRanksTab(rows > 1);
        m_ranks->setProgress(0, job->ranks.size());
        if (m_jobPaths.isEmpty())
            return; // they are being opened already
        // Where nothing can be opened, the first broken file says why.
        if (files.isEmpty())
            for (const BadFile& bad : job->bad)
                files << nameOf(bad.path);
        if (m_jobPaths.size() == 1 && !files.isEmpty())
            m_work.recent.add(m_jobPaths.front()); // the run, beside its files
        if (!files.isEmpty())
            m_keeper->open(files, m_jobOptions);
        else
            showPages(); // digests: there is nothing but the overview
    });
    connect(m_jobs, &JobLoader::failed, this, [this](const QString& sentence) {
        m_status->remark(sentence);
        // Nothing of a job about them: the ordinary way tells what is wrong.
        if (!m_jobPaths.isEmpty())
            m_keeper->open(m_jobPaths, m_jobOptions);
    });
    connect(m_jobs, &JobLoader::progressed, this, [this](std::size_t done, std::size_t total) {
        m_ranks->setProgress(done, total);
        m_status->setActivity(tr("Reading ranks: %1 of %2").arg(done).arg(total));
    });
    connect(m_jobs, &JobLoader::finished, this, [this] {
        const auto job = m_jobs->job();
        const bool several = job && job->ranks.size() + job->job.bad.size() + job->job.missing.size() > 1;
        m_ranks->setJob(several ? job : nullptr);
        if (!job || !several)
            showRanksTab(false);
        if (job)
            m_status->remark(tr("Ready"));
        if (several)
            openOutlier(*job);
        showPages();
    });
    connect(m_ranks, &RanksView::openRequested, this, &MainWindow::openRank);
    connect(m_ranks, &RanksView::compareRequested, this, [this](const QString& a, const QString& b) {
        m_work.comparer.open(compare::Which::A, a);
        compareWith(b);
        showTab(m_compare);
    });
    connect(m_ranks, &RanksView::openFolderRequested, this, &MainWindow::chooseFolder);
}

// While nobody has gone anywhere else yet, the rank that failed is the one the other views are about.
void MainWindow::openOutlier(const SummarisedJob& job)
{
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
    const auto& entries = m_work.files.entries();
    const auto found = std::find_if(
        entries.begin(), entries.end(), [&](const Files::Entry& entry) { return entry.path == path; });
    if (found == entries.end()) {
        m_status->remark(tr("%1 is a digest: the full views need the snapshot it was made from")
                             .arg(QFileInfo(path).fileName()));
        return;
    }
    const auto index = static_cast<std::size_t>(found - entries.begin());
    m_oomBrought = false; // the rank's own failure may come to the front
    showTimelineTab();
    if (m_work.files.current() != index || !m_work.session.rank())
        m_work.files.show(index);
    else
        showOomOf();
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
