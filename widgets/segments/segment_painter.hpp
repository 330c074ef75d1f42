// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/finding.hpp"
#include "model/layout/segment_layout.hpp"
#include "model/lens/colouring.hpp"
#include "widgets/style/style.hpp"
#include "widgets/view_state.hpp"

#include <QPainter>
#include <QRect>

#include <memory>
#include <optional>
#include <vector>

namespace tidemark {

/// How a stretch of a segment is drawn (help/window.md).
enum class PieceLook {
    Live,
    Waiting, ///< freed, waits for a stream
    Unknown, ///< a block state this program does not know
    Pinned, ///< free, in a segment that also holds blocks
    Releasable, ///< free, in a segment without blocks
    PoolHeld, ///< free inside a private pool
};
PieceLook lookOf(const SegmentView& segment, const Piece& piece);
/// "free, pinned", …
QString lookName(PieceLook look);

/// A request to look for room for: holes that could take it are outlined.
struct FitRequest {
    std::uint64_t bytes = 0;
    /// The hole is large enough, and the segment of the kind (small or large) the allocator would look in: 1
    /// MiB and less go to small segments (c10/cuda/CUDACachingAllocator.cpp, PyTorch 2.6, get_pool).
    bool fits(const SegmentView& segment, const Piece& piece) const;
};

/// What one picture of the segment map is made from. Pointers outlive the painting; null `colouring` is not
/// allowed, the others may be null.
struct SegmentScene {
    std::shared_ptr<const Snapshot> snapshot;
    std::shared_ptr<const SegmentState> state;
    std::shared_ptr<const MapPicture> picture;
    std::shared_ptr<const Colouring> colouring;
    /// What keeps its colour while the rest fades.
    std::shared_ptr<const std::vector<std::uint8_t>> emphasis;
    /// What keeps its colour matches the search, and is underlined.
    bool searched = false;
    /// Allocations of the finding shown, striped, and segments of the finding selected, framed.
    std::shared_ptr<const std::vector<std::uint8_t>> shownFinding;
    std::vector<SegmentId> findingSegments; ///< ascending
    Severity findingSeverity = Severity::Info;
    /// Groups of the selection, when a group is selected.
    std::shared_ptr<const Grouping> grouping;
    Selection selection;
    AllocationId hovered = AllocationId::none;
    std::optional<FitRequest> fit;
    MapLayout layout = MapLayout::Flow;
    double labelWidth = 0;
};

/// Paints a SegmentScene. Boxes are placed on device pixels by their centres, so that neighbours never
/// overlap and what is narrower than a pixel keeps its share. `origin` is where the picture's corner lies, in
/// device pixels. Cost: O(boxes on the rows inside `clip`).
class SegmentPainter {
public:
    SegmentPainter(const SegmentScene& scene, const Style& style, double ratio);

    /// Ground, blocks, holes, labels.
    void paintBlocks(QPainter& painter, QPoint origin, const QRect& clip) const;
    /// Selection, hover and fitting holes, on top.
    void paintMarks(QPainter& painter, QPoint origin, const QRect& clip) const;

    /// Device rectangle of a box or frame at origin (0, 0).
    QRect rectOf(double x, double y, double width, double height) const;
    QRect rectOf(const MapBox& box) const { return rectOf(box.x, box.y, box.width, box.height); }

    /// Small sample of a look for legends.
    static QPixmap sample(PieceLook look, const Style& style, double ratio);

private:
    struct Span {
        std::size_t first;
        std::size_t last;
    };
    template <typename Item>
    Span onRows(const std::vector<Item>& items, QPoint origin, const QRect& clip) const;
    void paintGround(QPainter& painter, QPoint origin, const MapFrame& frame) const;
    void paintBox(QPainter& painter, QPoint origin, const MapBox& box) const;
    void paintLive(QPainter& painter, QRect area, const MapBox& box, const Piece& piece) const;
    void paintTorn(QPainter& painter, QPoint origin, const MapFrame& frame) const;
    void paintUnmapped(QPainter& painter, QPoint origin, const MapFrame& frame) const;
    void paintLabels(QPainter& painter, QPoint origin, const QRect& clip) const;
    bool isSelected(const MapBox& box, const Piece& piece) const;
    bool isFaded(const Piece& piece) const;
    bool isStriped(const Piece& piece) const;
    void paintFindingFrame(QPainter& painter, const QRect& area) const;
    void outline(QPainter& painter, const QRect& area) const;
    void hatch(QPainter& painter, const QRect& area, Pattern pattern) const;
    void hatchLines(QPainter& painter, const QRect& area, Pattern pattern, const QColor& colour) const;
    void stripe(QPainter& painter, const QRect& area, QRgb ground) const;
    int px(double logical) const { return std::max(1, static_cast<int>(logical * m_ratio + 0.5)); }

    const SegmentScene& m_scene;
    const Style& m_style;
    double m_ratio;
    std::array<QRgb, colourSlot::count> m_slots;
    QBrush m_predating;
    QBrush m_waiting;
    QBrush m_pinned;
    QBrush m_held;
    QBrush m_dots;
    QBrush m_darkStripes;
    QBrush m_lightStripes;
    /// Where patterns start, and whether the device wants lines instead of a texture; of the painting under
    /// way.
    mutable QPoint m_origin;
    mutable bool m_vector = false;
};

} // namespace tidemark
