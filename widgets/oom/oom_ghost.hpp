// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/oom/oom_map.hpp"

namespace tidemark {

/// The map's rows with the ghost's guide lines and the band of what does not fit over them.
class OomMapCanvas : public SegmentMapCanvas {
    Q_OBJECT
public:
    OomMapCanvas(Style& style, QWidget* parent);
    void setGhost(std::optional<GhostGeometry> ghost);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Style& m_style;
    std::optional<GhostGeometry> m_ghost;
};

/// The failed request above the rows.
class OomMap::GhostStrip : public QWidget {
public:
    GhostStrip(Style& style, QWidget* parent);
    /// `end` is where rows end at most.
    void set(std::optional<GhostGeometry> ghost, const QString& label, const QString& missing, double end);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Style& m_style;
    std::optional<GhostGeometry> m_ghost;
    QString m_label;
    QString m_missing;
    double m_end = 0;
};

/// What was never reserved, to the same scale, and the scale itself.
class OomMap::ScaleStrip : public QWidget {
public:
    ScaleStrip(Style& style, QWidget* parent);
    void set(double left, double pixelsPerByte, std::uint64_t bytesPerRow,
        std::optional<std::uint64_t> deviceFree);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void paintUnreserved(QPainter& painter, double height) const;
    Style& m_style;
    double m_left = 0;
    double m_pixelsPerByte = 0;
    std::uint64_t m_bytes = 0;
    std::optional<std::uint64_t> m_deviceFree;
};

} // namespace tidemark
