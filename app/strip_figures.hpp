// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/navigator.hpp"
#include "model/core/quality.hpp"
#include "model/snapshot/snapshot.hpp"
#include "widgets/session.hpp"
#include "widgets/timeline/timeline_source.hpp"
#include "widgets/view_state.hpp"

#include <QString>

#include <optional>
#include <vector>

namespace tidemark {

/// "Events 100–199 of 1,384 only": what of a device's trace is open when it is not all of it.
QString partText(const DeviceTrace& device);

/// A figure of the summary strip: "22.54 GiB" with the small word behind it.
struct StripValue {
    QString value;
    QString note;
    /// Left out first when there is little room.
    bool optional = false;
};

/// One cell of the summary strip as text.
struct StripText {
    QString caption;
    std::vector<StripValue> values;
    /// Exact figures and what the cell means.
    QString toolTip;
    /// Where a click leads.
    std::optional<StateIndex> target;

    bool empty() const { return caption.isEmpty(); }
};

/// A chip of the data-quality cell.
struct QualityChip {
    enum class Kind { Note, CardUnknown };
    Kind kind = Kind::Note;
    QString title;
    QualityNote note;
    /// More serious than a remark: figures of the file are affected.
    bool warning = true;
};

/// The words and numbers of the summary strip, apart from how they are drawn. Nothing is summed here: every
/// figure is one of the replay's. Unknown is said, with the reason.
class StripFigures {
public:
    /// `categories` is the file's category timeline, where it is one, else null.
    StripFigures(const Session& session, const ViewState& state, const Navigator& navigator,
        std::shared_ptr<const TimelineSource> categories);

    StripText peakLive() const;
    StripText peakReserved() const;
    StripText gap() const;
    StripText before() const;
    /// Card size: "80.00 GiB", or why it is not known.
    StripText card() const;
    /// Why the device cannot have this many bytes, for people; empty when it can.
    QString cardProblem(std::uint64_t bytes) const;
    StripText cursor() const;
    std::vector<QualityChip> chips() const;

private:
    StripText endOfFile() const;
    StripText range() const;
    StripText categoryCursor() const;
    QString categoryState(StateIndex state) const;
    std::optional<std::int64_t> reservedAt(StateIndex state) const;

    const Session& m_session;
    const ViewState& m_state;
    const Navigator& m_navigator;
    std::shared_ptr<const TimelineSource> m_categories;
    std::shared_ptr<const Replay> m_replay;
    bool m_history = false;
};

} // namespace tidemark
