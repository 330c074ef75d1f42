// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/oom_scene.hpp"
#include "widgets/segments/map_build.hpp"
#include "widgets/segments/segment_map_canvas.hpp"
#include "widgets/session.hpp"
#include "widgets/view_state.hpp"

#include <QStringList>
#include <QWidget>

#include <memory>
#include <optional>

class QLabel;

namespace tidemark {

class OomMapCanvas;
class Segmented;
class Style;

/// Where the failed request stands over the rows of the map, in logical pixels of the canvas.
struct GhostGeometry {
    double left = 0; ///< where the largest hole starts
    double fits = 0; ///< right end of what the hole holds
    double right = 0; ///< right end of the request
    bool torn = false; ///< the request goes on beyond the picture
    double rowsLeft = 0; ///< left edge of all rows
    double pixelsPerByte = 0;
};

/// The segments at an out-of-memory event, one a row, with the failed request as a ghost above them: a dashed
/// frame from where the largest hole starts, what does not fit solid, guide lines through all rows. Blocks
/// and holes are selected through ViewState, where the cursor goes to the event first. GUI thread.
class OomMap : public QWidget {
    Q_OBJECT
public:
    OomMap(Session& session, ViewState& view, Style& style, QWidget* parent = nullptr);

    void setScene(std::shared_ptr<const OomScene> scene);
    /// All segments instead of those with holes.
    void setAll(bool all);
    bool showsAll() const { return m_all; }

    /// Lays the rows out now instead of with the next event; for tests.
    void flush();
    SegmentMapCanvas& canvas() const;
    /// Absent without a request or a hole.
    std::optional<GhostGeometry> ghost() const { return m_ghost; }
    const MapBuilt& built() const { return m_built; }
    QString title() const;
    QString subtitle() const;
    /// "64 MiB too long"; empty when the hole holds it.
    QString missingText() const;

signals:
    /// Something of the map is about to be selected.
    void picking();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    class GhostStrip;
    class ScaleStrip;
    void restyle();
    void rebuild();
    void placeGhost();
    void updateMarks();
    void updateTitle();
    void fitSubtitle();
    SegmentScene sceneOf() const;
    void onHovered(const MapHit& hit);
    void onClicked(const MapHit& hit);
    void showToolTip(const MapHit& hit, QPoint position);
    void selectBox(std::size_t box);
    void selectSegment(std::uint32_t segment);
    std::optional<std::size_t> selectedBox() const;
    void walk(int direction);
    void walkRows(int direction);
    void walkTo(std::optional<std::size_t> box);

    QStringList m_subtitles; ///< from the longest to the shortest
    Session& m_session;
    ViewState& m_view;
    Style& m_style;
    QLabel* m_title;
    QLabel* m_subtitle;
    Segmented* m_which;
    GhostStrip* m_strip;
    OomMapCanvas* m_canvas;
    ScaleStrip* m_scale;
    std::shared_ptr<const OomScene> m_scene;
    MapBuilt m_built;
    std::optional<GhostGeometry> m_ghost;
    bool m_all = false;
    bool m_selecting = false;
};

} // namespace tidemark
