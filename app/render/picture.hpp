// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/render/picture_title.hpp"
#include "model/core/result.hpp"
#include "model/report/annotations.hpp"
#include "model/run/rank.hpp"
#include "widgets/common/named_area.hpp"

#include <QSize>
#include <QString>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark {

class Style;
class TimelineView;

enum class PictureView { Timeline, Segments, Live, Details, Tree, Flame, Events, Growth };
/// "timeline", "segments", "live", "details", "tree", "flame", "events", "growth"; absent for anything else.
std::optional<PictureView> pictureViewFromName(std::string_view name);

/// One picture of one view.
struct PictureRequest {
    PictureView view = PictureView::Timeline;
    QSize size{1200, 600}; ///< logical pixels
    double scale = 1; ///< device pixels per logical one, for raster files
    bool dark = false;
    std::size_t deviceIndex = 0;
    /// State at the cursor; absent: the peak.
    std::optional<StateIndex> state;
    /// States to show of the timeline, both included; absent: all.
    std::optional<std::pair<StateIndex, StateIndex>> range;
    /// Whether the application takes the picture's look meanwhile; not inside of a window, which has its own.
    bool applyLook = true;
    /// The segment map: no higher than its segments need.
    bool trim = false;
    /// Selects the block live at this address then.
    std::optional<std::uint64_t> address;
    /// Remarks to draw, and which of a session's inputs the file is.
    std::vector<report::Annotation> annotations;
    std::uint32_t input = 0;
    /// Steps, phases and the limit come from it; null: without.
    std::shared_ptr<const Diagnosis> diagnosis;
    std::optional<std::uint64_t> cardBytes; ///< given by hand
    /// Where given, gets what tooltips of the picture say (timelines and segment maps).
    std::vector<NamedArea>* areas = nullptr;
    /// A line above that says what the picture is of, with the totals; the size counts it.
    bool title = false;
};

/// Writes a timeline as it is shown, below a title where one is given; the format follows the name's ending
/// (.png, .svg). The file is replaced as a whole or not at all. GUI thread. Returns what went wrong, if
/// anything.
std::optional<Error> writeTimelinePicture(TimelineView& timeline, const Style& style, QSize size,
    double scale, const QString& file, const PictureTitle* title = nullptr,
    std::vector<NamedArea>* areas = nullptr);

/// Paints a view of a file as the window would and writes it; the format follows the name's ending (.png,
/// .svg). Needs a QApplication, but no display. GUI thread. Returns what went wrong, if anything.
std::optional<Error> writePicture(
    std::shared_ptr<const Rank> rank, const PictureRequest& request, const QString& file);

} // namespace tidemark
