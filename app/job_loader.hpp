// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/worker.hpp"
#include "model/job/summarise.hpp"

#include <QObject>
#include <QStringList>

#include <cstdint>
#include <memory>

namespace tidemark {

/// Looks through folders for the snapshots of a job and sums all its ranks up, off the GUI thread. Of several
/// requests the newest counts. Signals come on the GUI thread, progress at most ten times a second. GUI
/// thread.
class JobLoader : public QObject {
    Q_OBJECT
public:
    explicit JobLoader(QObject* parent = nullptr);
    ~JobLoader() override;

    /// First discovered() or failed(), then summaries, then finished().
    void start(const QStringList& paths, const SummariseOptions& options);
    /// Nothing is left of the last job.
    void clear();
    bool busy() const { return m_busy; }
    /// Null until the job is summed up.
    std::shared_ptr<const SummarisedJob> job() const { return m_job; }

signals:
    void discovered(std::shared_ptr<const tidemark::DiscoveredJob> job);
    void failed(const QString& sentence);
    void progressed(std::size_t done, std::size_t total);
    /// job() has changed.
    void finished();

private:
    void take(std::uint64_t generation, std::shared_ptr<const SummarisedJob> job);

    std::uint64_t m_generation = 0;
    bool m_busy = false;
    std::shared_ptr<const SummarisedJob> m_job;
    Worker m_worker; // last: stopped before the rest goes
};

} // namespace tidemark
