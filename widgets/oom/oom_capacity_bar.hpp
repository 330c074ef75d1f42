// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/oom_scene.hpp"
#include "widgets/view_state.hpp"

#include <QWidget>

#include <memory>
#include <optional>
#include <vector>

namespace tidemark {

class Style;

/// What the allocator could use, to scale: what lives by colour, free memory by what could be done with it,
/// and beneath it the failed request with the slack as an arrow. Left and Right walk the parts, a click on a
/// coloured one selects its group. GUI thread.
class OomCapacityBar : public QWidget {
    Q_OBJECT
public:
    OomCapacityBar(ViewState& view, Style& style, QWidget* parent = nullptr);

    void setScene(std::shared_ptr<const OomScene> scene);

    /// Where things are, for tests: a part's rectangle, the request's frame and the part of it that does not
    /// fit (empty when it fits).
    QRectF partRect(std::size_t part) const;
    QRectF requestRect() const;
    QRectF shortRect() const;
    /// The sum of the slack: beside the request, where there is room, else on a line below it.
    QRectF slackRect() const;
    std::optional<std::size_t> partAt(QPointF point) const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    /// A part is about to be selected: it lives at the event.
    void picking();

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    double scale() const;
    double barTop() const;
    double barHeight() const;
    double beneath() const;
    void paintCaption(QPainter& painter) const;
    void paintPart(QPainter& painter, std::size_t part) const;
    void paintPartText(QPainter& painter, std::size_t part) const;
    void paintRequest(QPainter& painter) const;
    void paintSlack(QPainter& painter, const QString& label) const;
    QFont requestFont() const;
    QString requestLabel() const;
    QString slackFormula() const;
    /// Absent: the sum finds no room beside the request.
    std::optional<QRectF> besideRequest() const;
    void placeSlack();
    QRectF requestLabelRect() const;
    void choose(std::size_t part);

    ViewState& m_view;
    Style& m_style;
    std::shared_ptr<const OomScene> m_scene;
    std::vector<std::uint64_t> m_starts; ///< bytes before each part
    std::size_t m_current = 0;
    bool m_slackBelow = false; ///< its sum has a line of its own
};

} // namespace tidemark
