// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/curve_so_far.hpp"
#include "widgets/style/style.hpp"

#include <QPainterPath>
#include <QWidget>

namespace tidemark {

/// Stands where the timeline will be while the first file is read: the course of live bytes as far as it is
/// read, without figures, because those are known only once everything is replayed. GUI thread.
class GrowingPage : public QWidget {
    Q_OBJECT
public:
    explicit GrowingPage(const Style& style, QWidget* parent = nullptr);

    /// `share` of the file is read, 0 … 1; 0 where its length is not known.
    void setCurve(CurveSoFar curve, double share);
    /// "3,400,000 events so far".
    QString text() const;
    /// The part of `size` that has been drawn over, from the left.
    double drawnShare() const;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QPainterPath outline(const QRectF& plot) const;

    const Style& m_style;
    CurveSoFar m_curve;
    double m_share = 0;
};

} // namespace tidemark
