// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/oom_scene.hpp"
#include "widgets/view_state.hpp"

#include <QWidget>

#include <memory>

namespace tidemark {

class Style;

/// How memory came to the out-of-memory event: live and reserved bytes over the whole trace, what is usable,
/// and the request that failed on top of what was live. A click sets the cursor.
class OomCurve : public QWidget {
    Q_OBJECT
public:
    OomCurve(ViewState& view, Style& style, QWidget* parent = nullptr);

    void setScene(std::shared_ptr<const OomScene> scene);
    /// Of the plot; x of a state, y of bytes. For tests.
    QRectF plot() const;
    double xOf(StateIndex state) const;
    double yOf(double bytes) const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void goTo(StateIndex state);
    StateIndex stateAt(double x) const;
    void paintAxes(QPainter& painter) const;
    void paintLive(QPainter& painter) const;
    void paintReserved(QPainter& painter) const;
    void paintRequest(QPainter& painter) const;
    void paintNames(QPainter& painter) const;
    /// y of the highest value in each device column.
    std::vector<double> columns(const Series& series) const;
    const Replay& replay() const { return *m_scene->of.replay; }

    ViewState& m_view;
    Style& m_style;
    std::shared_ptr<const OomScene> m_scene;
    double m_top = 1; ///< bytes at the upper edge
};

} // namespace tidemark
