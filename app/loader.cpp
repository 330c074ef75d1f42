// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/loader.hpp"

#include <QFile>
#include <QFileInfo>
#include <QMetaObject>

#include <new>

namespace tidemark {

namespace {

constexpr double secondsBeforeRate = 0.4;

Result<std::shared_ptr<const Rank>> guarded(const Loader::Opener& opener, const std::filesystem::path& path,
    const ReadOptions& options, const Job& job)
{
    try {
        return opener(path, options, job);
    } catch (const std::bad_alloc&) {
        return Error{ErrorCode::TooLarge,
            path.filename().string()
                + " needs more memory than this computer has free; close other programs "
                  "or open it on a larger one",
            std::nullopt};
    }
}

} // namespace

Loader::Loader(Opener opener, QObject* parent)
    : QObject(parent)
    , m_opener(std::move(opener))
{
    m_timer.setInterval(1000 / updatesPerSecond);
    connect(&m_timer, &QTimer::timeout, this, &Loader::tick);
}

Loader::~Loader() = default;

void Loader::open(const LoadRequest& request)
{
    if (m_loading)
        cancel();
    m_request = request;
    m_loading = true;
    m_counters = std::make_shared<Counters>();
    m_stage = -1;
    const std::uint64_t generation = ++m_generation;
    emit started(m_request);
    m_timer.start();

    const std::filesystem::path path(QFile::encodeName(request.path).toStdString());
    m_worker.submit([this, generation, path, options = request.options, opener = m_opener,
                        counters = m_counters](std::stop_token stop) {
        Job job;
        job.stop = stop;
        job.progress = [&counters](const Progress& p) {
            counters->stage.store(static_cast<int>(p.stage), std::memory_order_relaxed);
            counters->done.store(p.done, std::memory_order_relaxed);
            counters->total.store(p.total, std::memory_order_relaxed);
        };
        job.arrived = [&counters](const ArrivedEvents& events) {
            const std::scoped_lock lock(counters->mutex);
            counters->curve.add(events);
        };
        auto outcome = std::make_shared<Outcome>(guarded(opener, path, options, job));
        QMetaObject::invokeMethod(
            this, [this, generation, outcome] { finish(generation, outcome); }, Qt::QueuedConnection);
    });
}

void Loader::cancel()
{
    if (!m_loading)
        return;
    ++m_generation;
    m_loading = false;
    m_timer.stop();
    m_worker.cancel();
    emit cancelled(m_request);
}

CurveSoFar Loader::curve() const
{
    if (!m_loading)
        return {};
    const std::scoped_lock lock(m_counters->mutex);
    return m_counters->curve;
}

void Loader::tick()
{
    LoadProgress p;
    p.name = QFileInfo(m_request.path).fileName();
    const int stage = m_counters->stage.load(std::memory_order_relaxed);
    p.stage = static_cast<Stage>(stage);
    p.done = m_counters->done.load(std::memory_order_relaxed);
    p.total = m_counters->total.load(std::memory_order_relaxed);
    if (stage != m_stage) {
        m_stage = stage;
        m_stageStart = p.done;
        m_stageClock.start();
    }
    const double seconds = static_cast<double>(m_stageClock.elapsed()) / 1000;
    if (seconds > secondsBeforeRate && p.done > m_stageStart) {
        p.perSecond = static_cast<double>(p.done - m_stageStart) / seconds;
        if (p.total > p.done)
            p.secondsLeft = static_cast<double>(p.total - p.done) / *p.perSecond;
    }
    emit progressed(p);
}

void Loader::finish(std::uint64_t generation, const std::shared_ptr<Outcome>& outcome)
{
    if (generation != m_generation || !m_loading)
        return;
    m_loading = false;
    m_timer.stop();
    if (outcome->ok())
        emit loaded(m_request, outcome->value());
    else if (outcome->error().code == ErrorCode::Cancelled)
        emit cancelled(m_request);
    else
        emit failed(m_request, outcome->error());
}

} // namespace tidemark
