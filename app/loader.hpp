// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/worker.hpp"
#include "model/replay/curve_so_far.hpp"
#include "model/run/rank.hpp"

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace tidemark {

struct LoadRequest {
    QString path;
    ReadOptions options;
    /// The same file is on screen: keep cursor and view when it comes back unchanged in length.
    bool reload = false;
};

/// How far a load is, for the strip.
struct LoadProgress {
    QString name;
    Stage stage = Stage::Open;
    std::uint64_t done = 0;
    std::uint64_t total = 0; ///< 0 when it cannot be known
    std::optional<double> perSecond; ///< of `done`, once it can be told
    std::optional<double> secondsLeft;
};

/// Opens files on one worker thread. Of several requests the newest counts; results of older ones are
/// dropped, told apart by their generation. Signals come on the GUI thread, progress at most ten times a
/// second. Destroying it stops and joins.
class Loader : public QObject {
    Q_OBJECT
public:
    using Opener = std::function<Result<std::shared_ptr<const Rank>>(
        const std::filesystem::path&, const ReadOptions&, const Job&)>;

    /// `opener` is openRank, or a stand-in in tests.
    explicit Loader(Opener opener = openRank, QObject* parent = nullptr);
    ~Loader() override;

    void open(const LoadRequest& request);
    /// The load is over for the user when this returns; the worker follows at its next poll.
    void cancel();
    bool isLoading() const { return m_loading; }
    const LoadRequest& request() const { return m_request; }
    /// What has been read so far of the file that is being loaded; empty without one.
    CurveSoFar curve() const;

    /// Updates a second at most.
    static constexpr int updatesPerSecond = 10;

signals:
    void started(const tidemark::LoadRequest& request);
    void progressed(const tidemark::LoadProgress& progress);
    void loaded(const tidemark::LoadRequest& request, std::shared_ptr<const tidemark::Rank> rank);
    void failed(const tidemark::LoadRequest& request, const tidemark::Error& error);
    void cancelled(const tidemark::LoadRequest& request);

private:
    /// What the worker writes and the timer reads.
    struct Counters {
        std::atomic<int> stage{0};
        std::atomic<std::uint64_t> done{0};
        std::atomic<std::uint64_t> total{0};
        std::mutex mutex; ///< of the curve
        CurveSoFar curve;
    };
    using Outcome = Result<std::shared_ptr<const Rank>>;
    void tick();
    void finish(std::uint64_t generation, const std::shared_ptr<Outcome>& outcome);

    Opener m_opener;
    LoadRequest m_request;
    std::uint64_t m_generation = 0;
    bool m_loading = false;
    std::shared_ptr<Counters> m_counters;
    QTimer m_timer;
    QElapsedTimer m_stageClock;
    int m_stage = -1;
    std::uint64_t m_stageStart = 0;
    Worker m_worker; // last: stopped before the rest goes
};

} // namespace tidemark
