// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/timeline/timeline_canvas.hpp"

#include "widgets/timeline/timeline_painters.hpp"

namespace tidemark {

namespace {

/// Ticks worked out beforehand with the rest of the frame.
class GivenTicker : public QCPAxisTicker {
public:
    explicit GivenTicker(const std::vector<AxisTick>& ticks)
        : m_given(ticks)
    { }
    void generate(const QCPRange&, const QLocale&, QChar, int, QVector<double>& ticks,
        QVector<double>* subTicks, QVector<QString>* labels) override
    {
        ticks.clear();
        if (subTicks)
            subTicks->clear();
        if (labels)
            labels->clear();
        for (const AxisTick& tick : m_given) {
            ticks.push_back(tick.value);
            if (labels)
                labels->push_back(tick.text);
        }
    }

private:
    const std::vector<AxisTick>& m_given;
};

/// The stack with its outline.
class StackPlottable : public QCPAbstractPlottable {
public:
    StackPlottable(QCPAxis* x, QCPAxis* y, const TimelineScene& scene)
        : QCPAbstractPlottable(x, y)
        , m_scene(scene)
    {
        setSelectable(QCP::stNone);
    }
    double selectTest(const QPointF&, bool, QVariant*) const override { return -1; }
    QCPRange getKeyRange(bool& found, QCP::SignDomain) const override
    {
        found = m_scene.source != nullptr;
        const XWindow all = m_scene.scale.whole();
        return {all.left, all.right};
    }
    QCPRange getValueRange(bool& found, QCP::SignDomain, const QCPRange&) const override
    {
        found = m_scene.source != nullptr;
        return {m_scene.bottom, m_scene.top};
    }

protected:
    void draw(QCPPainter* painter) override { paintStack(*painter, m_scene); }
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override { painter->setAntialiasing(false); }
    void drawLegendIcon(QCPPainter*, const QRectF&) const override { }

private:
    const TimelineScene& m_scene;
};

/// A painter function as something on a layer.
class PaintedPart : public QCPLayerable {
public:
    using Paint = void (*)(QPainter&, const TimelineScene&);
    PaintedPart(QCustomPlot* plot, const QString& layer, const TimelineScene& scene, Paint paint)
        : QCPLayerable(plot, layer)
        , m_scene(scene)
        , m_paint(paint)
    { }

protected:
    void draw(QCPPainter* painter) override { m_paint(*painter, m_scene); }
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override { painter->setAntialiasing(false); }

private:
    const TimelineScene& m_scene;
    Paint m_paint;
};

void setUpAxis(QCPAxis& axis, int tickOut)
{
    axis.setSubTicks(false);
    axis.setTickLength(0, tickOut);
    axis.setTickLabelPadding(tickOut ? 2 : 6);
    axis.setPadding(0);
    axis.setLabelPadding(0);
    axis.grid()->setZeroLinePen(Qt::NoPen);
}

} // namespace

TimelineCanvas::TimelineCanvas(TimelineScene& scene, QWidget* parent)
    : QCustomPlot(parent)
    , m_scene(scene)
{
    setInteractions(QCP::Interactions());
    setAutoAddPlottableToLegend(false);
    setMouseTracking(true);
    setFocusPolicy(Qt::NoFocus); // the view has the keys
    setNotAntialiasedElements(QCP::aeAll);
    legend->setVisible(false);
    axisRect()->setAutoMargins(QCP::msNone);
    axisRect()->setMinimumSize(1, 1);
    plotLayout()->setRowSpacing(0);
    setUpAxis(*xAxis, 4);
    setUpAxis(*yAxis, 0);
    xAxis->grid()->setVisible(false);
    xAxis->setTicker(QSharedPointer<GivenTicker>::create(scene.xTicks));
    yAxis->setTicker(QSharedPointer<GivenTicker>::create(scene.yTicks));

    const QString main = QStringLiteral("main");
    new PaintedPart(this, main, scene, &paintGround);
    (new StackPlottable(xAxis, yAxis, scene))->setLayer(main);
    new PaintedPart(this, main, scene, &paintCurves);
    new PaintedPart(this, main, scene, &paintLanes);
    new PaintedPart(this, main, scene, &paintFinding);
    new PaintedPart(this, main, scene, &paintPools);
    new PaintedPart(this, main, scene, &paintOverview);
    new PaintedPart(this, main, scene, &paintLegend);
    layer(QStringLiteral("overlay"))->setMode(QCPLayer::lmBuffered);
    new PaintedPart(this, QStringLiteral("overlay"), scene, &paintOverlay);
    connect(this, &QCustomPlot::afterReplot, this, [this] { m_painted = true; });
}

void TimelineCanvas::sync()
{
    const TimelineGeometry& g = m_scene.geometry;
    const Style& style = m_scene.style;
    setBackground(QBrush(style.color(Tone::Base)));
    axisRect()->setBackground(QBrush(style.color(Tone::Plot)));
    axisRect()->setMargins(QMargins(g.plot.left(), g.plot.top(), g.size.width() - g.plot.right() - 1,
        g.size.height() - g.plot.bottom() - 1));
    const QPen line(style.color(Tone::Line), 1);
    const QFont font = style.font(FontRole::Small);
    for (QCPAxis* axis : {xAxis, yAxis}) {
        axis->setBasePen(line);
        axis->setTickPen(line);
        axis->setTickLabelFont(font);
        axis->setTickLabelColor(style.color(Tone::Text2));
    }
    yAxis->grid()->setPen(QPen(style.color(Tone::Grid), 1));
    xAxis->setTicks(!m_scene.empty());
    xAxis->setRange(m_scene.state.window().left, m_scene.state.window().right);
    yAxis->setRange(m_scene.bottom, m_scene.top);
}

void TimelineCanvas::replotOverlay()
{
    // Before the first whole replot there is nothing to lay it over.
    if (m_painted)
        layer(QStringLiteral("overlay"))->replot();
}

} // namespace tidemark
