// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/job_loader.hpp"

#include "widgets/style/text.hpp"

#include <QFile>
#include <QMetaObject>

#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

namespace tidemark {

namespace {

constexpr auto updateEvery = std::chrono::milliseconds(100);

} // namespace

JobLoader::JobLoader(QObject* parent)
    : QObject(parent)
{ }

JobLoader::~JobLoader() = default;

void JobLoader::clear()
{
    ++m_generation;
    m_worker.cancel();
    m_busy = false;
    if (std::exchange(m_job, nullptr))
        emit finished();
}

void JobLoader::start(const QStringList& paths, const SummariseOptions& options)
{
    clear();
    const std::uint64_t generation = m_generation;
    m_busy = true;
    std::vector<std::filesystem::path> given;
    for (const QString& path : paths)
        given.emplace_back(QFile::encodeName(path).toStdString());
    const auto post = [this, generation](auto act) {
        QMetaObject::invokeMethod(
            this,
            [this, generation, act = std::move(act)] {
                if (generation == m_generation)
                    act();
            },
            Qt::QueuedConnection);
    };
    m_worker.submit([this, given = std::move(given), options, post, generation](const std::stop_token& stop) {
        Job job;
        job.stop = stop;
        auto found = discover(given, options.config, job);
        if (!found) {
            if (found.error().code != ErrorCode::Cancelled)
                post([this, sentence = shownText(found.error().message)] {
                    m_busy = false;
                    emit failed(sentence);
                });
            return;
        }
        const auto shared = std::make_shared<const DiscoveredJob>(*found);
        post([this, shared] { emit discovered(shared); });
        auto last = std::chrono::steady_clock::now() - updateEvery;
        const SummaryCallback callback = [&](const SummaryProgress& progress) {
            const auto now = std::chrono::steady_clock::now();
            if (now - last < updateEvery && progress.done < progress.total)
                return;
            last = now;
            post([this, done = progress.done, total = progress.total] { emit progressed(done, total); });
        };
        auto summed = summarise(std::move(*found), options, job, callback);
        if (!summed)
            return;
        take(generation, std::make_shared<const SummarisedJob>(std::move(*summed)));
    });
}

// On the worker.
void JobLoader::take(std::uint64_t generation, std::shared_ptr<const SummarisedJob> job)
{
    QMetaObject::invokeMethod(
        this,
        [this, generation, job = std::move(job)] {
            if (generation != m_generation)
                return;
            m_busy = false;
            m_job = job;
            emit finished();
        },
        Qt::QueuedConnection);
}

} // namespace tidemark
