// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/prediction.hpp"
#include "model/layout/axis_knots.hpp"
#include "model/lens/colouring.hpp"
#include "model/lens/groups.hpp"
#include "model/run/rank.hpp"
#include "widgets/lookups.hpp"

#include <QObject>
#include <QString>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

class QThreadPool;

namespace tidemark {

/// What is open: one file, one of its devices, and the shared lookups the views need. GUI thread. Views keep
/// a pointer to it and to ViewState, never to each other.
class Session : public QObject {
    Q_OBJECT
public:
    explicit Session(QObject* parent = nullptr);
    ~Session() override;

    /// Replaces what is open (null = nothing); emits opened(), then deviceChanged().
    void setRank(std::shared_ptr<const Rank> rank);
    std::shared_ptr<const Rank> rank() const { return m_rank; }

    void setDevice(std::size_t deviceIndex);
    std::size_t deviceIndex() const { return m_device; }
    /// Replay of the chosen device; null when nothing is open or the file has no device (a category
    /// timeline).
    std::shared_ptr<const Replay> replay() const;
    const std::vector<Mark>& marks() const;

    void setSiteMode(SiteMode mode);
    SiteMode siteMode() const { return m_siteMode; }
    std::shared_ptr<const Sites> sites() const;

    /// Cached per device and site mode. What nobody has prepared or offered is made at once, by a pass over
    /// all allocations: of a large file everything a user can ask for is to be prepared.
    std::shared_ptr<const Grouping> grouping(GroupBy by) const;
    std::shared_ptr<const Colouring> colouring(ColourBy by) const;
    /// Whether asking for these costs no time that anybody feels.
    bool isPrepared(const LookupWish& wish) const;
    /// Makes these on a thread of its own, then calls `then` on the GUI thread: at once when isPrepared.
    /// Later calls answer later. Not called when `context` goes or something else is opened first.
    void prepare(const QObject& context, const LookupWish& wish, std::function<void()> then);
    /// Made by whoever is about to call setRank or setDiagnosis with what they are made from. Any thread.
    void offer(std::shared_ptr<const Lookups> made);

    /// For a side of a comparison: the axis that both share, colours that stand for all colourings, and the
    /// height both are drawn to (0: its own). Null for none. Forgotten with the device.
    void setShared(std::shared_ptr<const AxisKnots> axis, std::shared_ptr<const Colouring> colouring,
        std::int64_t highest);
    std::shared_ptr<const AxisKnots> sharedAxis() const { return m_sharedAxis; }
    std::int64_t sharedHeight() const { return m_sharedHeight; }

    /// What was found in the open file; null until it is known. Comes after opened(), by itself.
    void setDiagnosis(std::shared_ptr<const Diagnosis> diagnosis);
    std::shared_ptr<const Diagnosis> diagnosis() const { return m_diagnosis; }
    /// Of the chosen device; null until the diagnosis is there.
    std::shared_ptr<const Phases> phases() const;
    std::shared_ptr<const Labels> labels() const;
    /// The axis of steps of the chosen device; null where no steps are known.
    std::shared_ptr<const AxisKnots> stepsAxis() const;
    /// Allocations of a finding as flags by AllocationId; null when it belongs to another device or to none.
    std::shared_ptr<const std::vector<std::uint8_t>> flagsOf(const Finding& finding) const;

    /// The timeline under the fixes that are ticked; null without any.
    void setPrediction(std::shared_ptr<const Prediction> prediction);
    std::shared_ptr<const Prediction> prediction() const { return m_prediction; }

    /// Bytes of the card: typed by the user for this file, or absent. See capacity().
    void setCardSize(std::optional<std::uint64_t> bytes);
    std::optional<std::uint64_t> cardSize() const { return m_cardSize; }
    /// As the run's settings state it, once the diagnosis has read them; absent otherwise.
    std::optional<std::uint64_t> statedCardSize() const;
    /// The line to draw: the card size, else what an oom event lets us infer (reserved + device_free at it),
    /// else what the run's settings state.
    std::optional<std::uint64_t> capacity() const;

signals:
    void opened();
    void deviceChanged();
    void siteModeChanged();
    void cardSizeChanged();
    void diagnosisChanged();
    void predictionChanged();
    void sharedChanged();

private:
    LookupSource lookupSource() const;
    LookupWish missing(const LookupWish& wish) const;
    void keep(const Lookups& made);
    void takeOffer();

    std::shared_ptr<const Rank> m_rank;
    std::size_t m_device = 0;
    SiteMode m_siteMode = SiteMode::User;
    std::optional<std::uint64_t> m_cardSize;
    std::shared_ptr<const Diagnosis> m_diagnosis;
    std::shared_ptr<const Prediction> m_prediction;
    std::shared_ptr<const AxisKnots> m_sharedAxis;
    std::shared_ptr<const Colouring> m_sharedColouring;
    std::int64_t m_sharedHeight = 0;
    mutable std::shared_ptr<const Phases> m_axisOf;
    mutable std::shared_ptr<const AxisKnots> m_stepsAxis;
    mutable std::map<std::pair<std::size_t, int>, std::shared_ptr<const Grouping>> m_groupings;
    mutable std::map<std::pair<std::size_t, int>, std::shared_ptr<const Colouring>> m_colourings;
    std::mutex m_offering;
    std::shared_ptr<const Lookups> m_offered; ///< guarded by m_offering
    std::vector<std::pair<LookupSource, LookupWish>> m_beingMade;
    std::unique_ptr<QThreadPool> m_pool;
};

} // namespace tidemark
