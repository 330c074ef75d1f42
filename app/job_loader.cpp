// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/job_loader.hpp"

#include "app/rules_file.hpp"
#include "widgets/style/text.hpp"

#include <QFile>
#include <QMetaObject>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

namespace tidemark {

namespace {

constexpr auto updateEvery = std::chrono::milliseconds(100);

std::filesystem::path pathOf(const QString& name)
{
    return QFile::encodeName(name).toStdString();
}

/// What cannot be read is passed over: whoever looks at one rank with the same files says so.
SummariseOptions optionsOf(const JobWish& wish)
{
    SummariseOptions options;
    options.read = wish.read;
    options.cardBytes = wish.cardBytes;
    for (const QString& file : wish.settingsFiles)
        (void)options.config.addFile(pathOf(file));
    if (!wish.rulesFile.isEmpty())
        if (auto own = readLabelRules(pathOf(wish.rulesFile)))
            options.labelRules = std::move(*own);
    return options;
}

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
    m_announced = false;
    m_wish = {};
    m_step.reset();
    m_known.reset();
    if (std::exchange(m_job, nullptr))
        emit finished();
}

void JobLoader::start(const JobWish& wish)
{
    clear();
    m_wish = wish;
    launch();
}

void JobLoader::refresh(const JobWish& wish)
{
    if (m_wish.paths.isEmpty())
        return;
    m_wish = wish;
    m_known.reset();
    launch();
}

void JobLoader::chooseStep(std::optional<std::int64_t> step)
{
    if (!m_job || step == m_step)
        return;
    m_step = step;
    launch();
}

void JobLoader::launch()
{
    const std::uint64_t generation = ++m_generation;
    m_busy = true;
    std::vector<std::filesystem::path> given;
    for (const QString& path : m_wish.paths)
        given.push_back(pathOf(path));
    const auto post = [this, generation](auto act) {
        QMetaObject::invokeMethod(
            this,
            [this, generation, act = std::move(act)] {
                if (generation == m_generation)
                    act();
            },
            Qt::QueuedConnection);
    };
    m_worker.submit([this, given = std::move(given), wish = m_wish, step = m_step, known = m_known,
                        announce = !m_announced, post, generation](const std::stop_token& stop) {
        Job job;
        job.stop = stop;
        SummariseOptions options = optionsOf(wish);
        options.known = known;
        auto found = discover(given, options.config, job);
        if (!found) {
            if (found.error().code != ErrorCode::Cancelled)
                post([this, sentence = shownText(found.error().message)] {
                    m_busy = false;
                    emit failed(sentence);
                });
            return;
        }
        if (step)
            tidemark::chooseStep(*found, step);
        if (announce)
            post([this, shared = std::make_shared<const DiscoveredJob>(*found)] {
                m_announced = true;
                emit discovered(shared);
            });
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
            if (job->job.steps.size() > 1) { // another one may be chosen
                auto all = std::make_shared<Known>(m_known ? *m_known : Known());
                for (const RankSummary& each : job->ranks)
                    if (std::none_of(
                            all->begin(), all->end(), [&](const auto& old) { return old.file == each.file; }))
                        all->push_back(each);
                m_known = std::move(all);
            }
            emit finished();
        },
        Qt::QueuedConnection);
}

} // namespace tidemark
