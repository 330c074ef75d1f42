// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/worker.hpp"
#include "model/job/summarise.hpp"

#include <QObject>
#include <QStringList>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tidemark {

/// A job to be summed up and what is known beside its files. The files named here are read on the worker.
struct JobWish {
    QStringList paths; ///< files and folders
    ReadOptions read;
    QStringList settingsFiles;
    QString rulesFile; ///< own label rules; "" for none
    std::optional<std::uint64_t> cardBytes;
};

/// Looks through folders for the snapshots of a job and sums all its ranks up, off the GUI thread. Of several
/// requests the newest counts. Signals come on the GUI thread, progress at most ten times a second. GUI
/// thread.
class JobLoader : public QObject {
    Q_OBJECT
public:
    explicit JobLoader(QObject* parent = nullptr);
    ~JobLoader() override;

    /// First discovered() or failed(), then summaries, then finished().
    void start(const JobWish& wish);
    /// The same files with other things known beside them: job() stays until the new one is there. Nothing
    /// without a job.
    void refresh(const JobWish& wish);
    /// The files of one step where a rank has one; absent: the newest of each rank. What was read before is
    /// not read again.
    void chooseStep(std::optional<std::int64_t> step);
    /// Nothing is left of the last job.
    void clear();
    bool busy() const { return m_busy; }
    const JobWish& wish() const { return m_wish; }
    /// Null until the job is summed up.
    std::shared_ptr<const SummarisedJob> job() const { return m_job; }

signals:
    void discovered(std::shared_ptr<const tidemark::DiscoveredJob> job);
    void failed(const QString& sentence);
    void progressed(std::size_t done, std::size_t total);
    /// job() has changed.
    void finished();

private:
    using Known = std::vector<RankSummary>;
    void launch();
    void take(std::uint64_t generation, std::shared_ptr<const SummarisedJob> job);

    std::uint64_t m_generation = 0;
    bool m_busy = false;
    bool m_announced = false; ///< discovered() was emitted
    JobWish m_wish;
    std::optional<std::int64_t> m_step;
    std::shared_ptr<const Known> m_known; ///< all that was read with this wish
    std::shared_ptr<const SummarisedJob> m_job;
    Worker m_worker; // last: stopped before the rest goes
};

} // namespace tidemark
