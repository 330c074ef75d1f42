// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/timeline/timeline_view.hpp"

#include "widgets/common/axis_position.hpp"
#include "widgets/style/empty_state.hpp"
#include "widgets/timeline/stack_outline.hpp"
#include "widgets/timeline/stack_worker.hpp"
#include "widgets/timeline/timeline_accessible.hpp"
#include "widgets/timeline/timeline_areas.hpp"
#include "widgets/timeline/timeline_canvas.hpp"
#include "widgets/timeline/timeline_controls.hpp"
#include "widgets/timeline/timeline_input.hpp"

#include <QEvent>
#include <QPaintEngine>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

constexpr int cursorRests = 300; // ms until assistive technology hears of a new cursor
constexpr std::size_t mostAreas = 150; // with a tooltip in a picture
constexpr double vectorRatio = 2; // pixels per point of the stack's image inside vector pictures

} // namespace

TimelineView::TimelineView(Session& session, ViewState& state, Style& style, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_state(state)
    , m_style(style)
    , m_scene(session, state, style)
    , m_layout(new QVBoxLayout(this))
    , m_controls(new TimelineControls(session, state, style, this))
    , m_canvas(new TimelineCanvas(m_scene, this))
    , m_empty(new EmptyState(style, m_canvas))
    , m_input(std::make_unique<TimelineInput>(*this, m_scene, *m_canvas))
    , m_rest(new QTimer(this))
{
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Timeline"));
    installTimelineAccessibility();
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setSpacing(0);
    m_layout->addWidget(m_controls);
    m_layout->addWidget(m_canvas, 1);
    m_empty->setAutoFillBackground(true);
    m_empty->setBackgroundRole(QPalette::Base);
    auto* over = new QVBoxLayout(m_canvas);
    over->setContentsMargins(60, 16, 90, 40);
    over->addWidget(m_empty, 0, Qt::AlignTop | Qt::AlignHCenter);
    m_rest->setSingleShot(true);
    m_rest->setInterval(cursorRests);
    m_worker = std::make_unique<StackWorker>(
        [this](std::uint64_t number, std::shared_ptr<const StackPicture> picture) {
            QMetaObject::invokeMethod(
                this, [this, number, picture] { pictureArrived(number, picture); }, Qt::QueuedConnection);
        });
    connectAll();
    m_scene.notes = m_notes;
    connect(m_notes, &NotesState::changed, this, &TimelineView::replotOverlay);
    connect(m_notes, &NotesState::chosenChanged, this, &TimelineView::replotOverlay);
    restyle();
    openDevice();
}

TimelineView::~TimelineView()
{
    m_worker.reset();
}

void TimelineView::connectAll()
{
    connect(&m_session, &Session::deviceChanged, this, &TimelineView::openDevice);
    connect(&m_session, &Session::siteModeChanged, this, &TimelineView::recolour);
    connect(&m_session, &Session::cardSizeChanged, this, &TimelineView::optionsChanged);
    connect(&m_session, &Session::diagnosisChanged, this, &TimelineView::diagnosisChanged);
    connect(&m_session, &Session::sharedChanged, this, &TimelineView::sharedChanged);
    connect(&m_session, &Session::predictionChanged, this, &TimelineView::predictionChanged);
    connect(&m_state, &ViewState::findingChanged, this, &TimelineView::findingChanged);
    connect(&m_state, &ViewState::cursorChanged, this, &TimelineView::cursorChanged);
    connect(&m_state, &ViewState::hoveredChanged, this, [this] {
        outlineHovered(m_scene);
        replotOverlay();
    });
    connect(&m_state, &ViewState::selectionChanged, this, &TimelineView::selectionChanged);
    connect(&m_state, &ViewState::rangeChanged, this, &TimelineView::replotOverlay);
    connect(&m_state, &ViewState::windowChanged, this, &TimelineView::windowChanged);
    connect(&m_state, &ViewState::axisChanged, this, &TimelineView::axisChanged);
    connect(&m_state, &ViewState::colourByChanged, this, &TimelineView::recolour);
    connect(&m_state, &ViewState::stackOrderChanged, this, &TimelineView::replot);
    connect(&m_state, &ViewState::toolChanged, this, [this] { m_input->cancel(); });
    connect(&m_state, &ViewState::emphasisChanged, this, &TimelineView::replot);
    connect(&m_state, &ViewState::zoomToLifeRequested, this, &TimelineView::zoomToLife);
    connect(&m_style, &Style::changed, this, &TimelineView::restyle);
    connect(m_controls, &TimelineControls::optionsChanged, this, &TimelineView::optionsChanged);
    connect(m_canvas, &QCustomPlot::beforeReplot, this, &TimelineView::prepareFrame);
    connect(m_rest, &QTimer::timeout, this, [this] { announceTimeline(*this); });
}

QWidget* TimelineView::controls() const
{
    return m_controls;
}

void TimelineView::openDevice()
{
    m_worker->cancel();
    m_requested.reset();
    m_groupKeep.reset();
    m_zoomed.reset();
    m_input->cancel();
    m_scene.open();
    if (m_scene.categories() && m_state.states() != m_scene.source->states())
        m_state.reset(m_scene.source->states(), m_scene.peak);
    m_scene.scale = XScale(m_scene.source, m_state.axis(), axisKnots(m_session, m_state.axis()));
    if (m_scene.categories() && m_state.axis() != XAxis::Time)
        m_state.setAxis(XAxis::Time);
    m_scene.scale = XScale(m_scene.source, m_state.axis(), axisKnots(m_session, m_state.axis()));
    m_lastScale = m_scene.scale;
    setWindow(m_scene.categories() ? m_scene.scale.whole() : m_state.window());
    m_controls->follow(m_scene);
    m_empty->setVisible(m_scene.empty() && m_scene.rank);
    if (m_scene.empty())
        fillEmptyState(*m_empty);
    selectionChanged();
    replot();
}

void TimelineView::fillEmptyState(EmptyState& empty) const
{
    EmptyState::Content content;
    content.icon = QStringLiteral("timeline");
    content.caption = tr("To get a timeline next time, switch recording on before the model is built:");
    content.code = EmptyState::recordingLines();
    auto& state = m_state;
    content.actions = {{tr("Open another file…"), QStringLiteral("open"),
                           [&state] { emit state.openFileRequested(); }, true},
        {tr("Recording well"), QStringLiteral("help"),
            [&state] { emit state.helpRequested(QStringLiteral("recording")); }, false}};
    const auto& rank = m_scene.rank;
    const std::size_t here = m_session.deviceIndex();
    const auto eventsOf = [&](std::size_t i) { return rank->devices[i]->states() - 1; };
    std::optional<std::size_t> other;
    if (rank)
        for (std::size_t i = 0; i < rank->devices.size(); ++i)
            if (i != here && eventsOf(i) > 1 && (!other || eventsOf(i) > eventsOf(*other)))
                other = i;
    if (!m_scene.replay) {
        content.heading = tr("This file has no history to draw");
        content.sentence = tr("It names neither a device nor an allocation.");
    } else if (other) {
        const QString name = QString::fromStdString(deviceName(m_scene.replay->device().ordinal));
        const QString busy = QString::fromStdString(deviceName(rank->devices[*other]->device().ordinal));
        content.heading = m_scene.source->states() == 1 ? tr("No event for %1").arg(name)
                                                        : tr("One event only for %1").arg(name);
        content.sentence = tr("The history in this file is that of %1.").arg(busy);
        content.caption.clear();
        content.code.clear();
        const std::size_t target = *other;
        content.actions = {{tr("Show %1").arg(busy), QStringLiteral("gpu"),
            [this, target] { emit m_state.deviceRequested(target); }, true}};
    } else if (m_scene.source->states() == 1) {
        content.heading = tr("This file has no history to draw");
        content.sentence
            = tr("It holds the memory as it was when the file was written, but not one allocation "
                 "event: recording was off.");
    } else {
        content.heading = tr("One event only");
        const auto ring = m_scene.replay->device().ringCapacity;
        content.sentence = ring == 1 || !ring
            ? tr("Recording kept a ring of one event, so everything before the last one is gone.")
            : tr("Only one event was recorded before the file was written.");
        content.caption = tr("To keep the whole history, give the ring room (<i>max_entries</i>):");
    }
    empty.setContent(std::move(content));
}

void TimelineView::restyle()
{
    QPalette ground = m_empty->palette();
    ground.setColor(QPalette::Base, m_style.color(Tone::Plot));
    m_empty->setPalette(ground);
    outlineSelected(m_scene);
    outlineHovered(m_scene);
    replot();
}

void TimelineView::axisChanged()
{
    const XScale next(m_scene.source, m_state.axis(), axisKnots(m_session, m_state.axis()));
    if (m_state.axis() == XAxis::Time && !next.time()) {
        emit m_state.hoverTextChanged(whyNoTimeAxis());
        m_state.setAxis(XAxis::Events);
        return;
    }
    if ((m_state.axis() == XAxis::Steps || m_state.axis() == XAxis::Aligned) && !next.knots()) {
        emit m_state.hoverTextChanged(tr("No steps are known in this trace"));
        m_state.setAxis(XAxis::Events);
        return;
    }
    // The same states stay visible, unless the view history puts window and axis back together.
    if (m_scene.source && next.axis() != m_lastScale.axis()) {
        const XWindow old = m_state.window();
        const XWindow all = m_lastScale.whole();
        const bool whole = old.left <= all.left && old.right >= all.right;
        const StateIndex first = m_lastScale.stateAt(old.left);
        const StateIndex last = m_lastScale.stateAt(std::nextafter(old.right, old.left));
        m_lastScale = m_scene.scale = next;
        setWindow(whole ? next.whole()
                        : next.clamped({next.begin(first),
                            std::max(next.end(last), next.begin(first) + (next.knots() ? 0 : 1))}));
    }
    replot();
}

void TimelineView::windowChanged()
{
    if (!m_placing) {
        m_placedByOthers = true;
        QTimer::singleShot(0, this, [this] { m_placedByOthers = false; });
    }
    replot();
}

void TimelineView::cursorChanged()
{
    if (!m_placedByOthers)
        ensureVisible(m_state.cursor());
    m_rest->start();
    replotOverlay();
}

void TimelineView::ensureVisible(StateIndex state)
{
    if (!m_scene.source || m_scene.empty())
        return;
    const double x = m_scene.scale.mark(std::min(state, m_scene.source->states() - 1));
    const XWindow& w = m_state.window();
    if (x >= w.left && x <= w.right)
        return;
    const double half = (w.right - w.left) / 2;
    setWindow({x - half, x + half});
}

void TimelineView::selectionChanged()
{
    const Selection& selection = m_state.selection();
    KeepFlags keep;
    if (m_scene.replay && selection.kind == Selection::Kind::Group) {
        const auto grouping = m_session.grouping(selection.groupBy);
        auto flags = std::make_shared<std::vector<std::uint8_t>>(
            m_scene.replay->timeline.allocations().count(), std::uint8_t{0});
        for (std::size_t i = 0; i < flags->size(); ++i)
            (*flags)[i]
                = grouping->of(AllocationId{static_cast<std::uint32_t>(i)}) == selection.group ? 1 : 0;
        keep = flags;
    } else if (selection.kind == Selection::Kind::Set) {
        keep = {selection.set, &selection.set->flags};
    }
    const bool colours = keep || m_groupKeep;
    m_groupKeep = keep;
    m_rest->start();
    outlineSelected(m_scene);
    outlineHovered(m_scene);
    if (colours)
        replot();
    else
        replotOverlay();
}

void TimelineView::optionsChanged()
{
    const bool whole = m_scene.yIsWhole();
    m_scene.options = m_controls->options(m_scene.options);
    if (whole || !m_scene.source)
        m_scene.wholeY();
    replot();
}

void TimelineView::diagnosisChanged()
{
    const bool whole = m_scene.yIsWhole();
    m_scene.followDiagnosis();
    m_controls->follow(m_scene);
    if (m_state.axis() == XAxis::Steps)
        axisChanged(); // other steps, or none any more
    if (m_state.colourBy() == ColourBy::Label || m_state.colourBy() == ColourBy::Role)
        recolour();
    if (whole) // the settings may have told the size of the card
        m_scene.wholeY();
    replot();
}

void TimelineView::sharedChanged()
{
    m_scene.recolour();
    m_scene.wholeY();
    m_scene.scale = XScale(m_scene.source, m_state.axis(), axisKnots(m_session, m_state.axis()));
    m_lastScale = m_scene.scale;
    setWindow(m_scene.scale.clamped(m_state.window()));
    recolour();
}

void TimelineView::findingChanged()
{
    m_scene.followFinding();
    m_controls->follow(m_scene);
    m_rest->start();
    replot();
}

void TimelineView::predictionChanged()
{
    const bool whole = m_scene.yIsWhole();
    m_scene.followPrediction();
    m_rest->start();
    if (whole)
        m_scene.wholeY();
    replot();
}

void TimelineView::recolour()
{
    m_scene.recolour();
    selectionChanged();
    replot();
}

void TimelineView::rememberPlace()
{
    m_state.pushHistory();
}

void TimelineView::setWindow(const XWindow& window)
{
    m_placing = true;
    m_state.setWindow(m_scene.scale.clamped(window));
    m_placing = false;
}

void TimelineView::setY(double bottom, double top)
{
    constexpr double leastSpan = 4096;
    const double whole = m_scene.highestTop();
    double span = std::clamp(top - bottom, leastSpan, std::max(leastSpan, whole));
    if (span >= whole * 0.999) {
        m_scene.wholeY();
    } else {
        const double middle = (top + bottom) / 2;
        m_scene.bottom = std::clamp(middle - span / 2, 0.0, whole - span);
        m_scene.top = m_scene.bottom + span;
    }
    replot();
}

StackRequest TimelineView::stackRequest(const TimelineScene& scene) const
{
    StackRequest request;
    request.source = scene.source;
    request.colouring = scene.colouring;
    request.order = m_state.stackOrder();
    request.window = scene.window();
    request.ink = StackInk::of(m_style.theme(), scene.colouring->sequential, scene.ratio);
    const auto emphasis = m_state.emphasis();
    const std::size_t ids = scene.colouring->slotOf.size();
    if (scene.replay && emphasis && emphasis->size() == ids) {
        request.keep = emphasis;
        request.underline = m_state.matches() != nullptr;
    } else if (m_groupKeep && m_groupKeep->size() == ids) {
        request.keep = m_groupKeep;
    }
    if (const auto shown = m_state.shownFinding(); scene.replay && shown && shown->size() == ids)
        request.striped = shown;
    return request;
}

void TimelineView::prepareFrame()
{
    const double ratio = m_canvas->devicePixelRatioF();
    m_canvas->setBufferDevicePixelRatio(ratio);
    m_scene.prepareFrame(m_canvas->size(), ratio);
    m_canvas->sync();
    if (!m_scene.source || m_scene.empty() || !m_scene.colouring)
        return;
    StackRequest request = stackRequest(m_scene);
    if (!m_requested || !(*m_requested == request)) {
        m_requested = request;
        m_wantedPicture = m_worker->request(std::move(request));
    }
}

void TimelineView::outlineSelected(TimelineScene& scene) const
{
    const Selection& selection = m_state.selection();
    const bool one = selection.kind == Selection::Kind::Allocation;
    scene.selected = outlineAllocation(scene, one ? selection.allocation : AllocationId::none,
        m_style.color(Tone::Ink), m_style.color(Tone::Halo));
}

void TimelineView::outlineHovered(TimelineScene& scene) const
{
    const Selection& selection = m_state.selection();
    const AllocationId under = m_state.hovered();
    const bool chosen = selection.kind == Selection::Kind::Allocation && selection.allocation == under;
    scene.hovered = outlineAllocation(
        scene, chosen ? AllocationId::none : under, m_style.color(Tone::Ink), Qt::transparent);
}

void TimelineView::pictureArrived(std::uint64_t number, std::shared_ptr<const StackPicture> picture)
{
    if (picture->request.source != m_scene.source)
        return;
    m_scene.picture = std::move(picture);
    const bool exact = number == m_wantedPicture;
    outlineSelected(m_scene);
    outlineHovered(m_scene);
    m_canvas->replot(QCustomPlot::rpQueuedRefresh);
    m_input->refreshHover();
    if (exact && isExact())
        emit exactPictureShown();
}

bool TimelineView::isExact() const
{
    if (m_scene.empty() || !m_scene.colouring)
        return true;
    return m_scene.picture && m_scene.picture->request == stackRequest(m_scene);
}

void TimelineView::replot()
{
    m_canvas->replot(QCustomPlot::rpQueuedReplot);
}

void TimelineView::replotOverlay()
{
    m_canvas->replotOverlay();
}

bool TimelineView::event(QEvent* event)
{
    if (event->type() == QEvent::ScreenChangeInternal || event->type() == QEvent::FontChange)
        replot();
    return QWidget::event(event);
}

void TimelineView::focusInEvent(QFocusEvent* event)
{
    m_scene.focused = event->reason() != Qt::MouseFocusReason && event->reason() != Qt::PopupFocusReason
        && event->reason() != Qt::ActiveWindowFocusReason;
    replotOverlay();
    QWidget::focusInEvent(event);
}

void TimelineView::focusOutEvent(QFocusEvent* event)
{
    m_scene.focused = false;
    m_input->setSpaceHeld(false);
    replotOverlay();
    QWidget::focusOutEvent(event);
}

void TimelineView::renderTo(QPaintDevice& device, QSize size, double scale,
    const std::function<void(QPainter&)>& above, int aboveHeight, std::vector<NamedArea>* areas)
{
    const bool pixels
        = dynamic_cast<QImage*>(&device) != nullptr || dynamic_cast<QPixmap*>(&device) != nullptr;
    TimelineScene scene(m_scene);
    scene.focused = false;
    scene.onScreen = false;
    scene.hovered = {};
    TimelineCanvas canvas(scene);
    canvas.resize(size);
    scene.prepareFrame(size, pixels ? scale : std::max(scale, vectorRatio));
    if (scene.source && !scene.empty()) {
        scene.picture = drawStack(stackRequest(scene), nullptr, {});
        outlineSelected(scene);
        if (areas)
            *areas = timelineAreas(scene, mostAreas);
    }
    canvas.sync();
    QCPPainter painter(&device);
    painter.scale(scale, scale);
    if (above)
        above(painter);
    painter.translate(0, aboveHeight);
    canvas.toPainter(&painter, size.width(), size.height());
    if (!scene.empty() || !scene.rank)
        return;
    EmptyState empty(m_style);
    fillEmptyState(empty);
    empty.resize(empty.sizeHint().expandedTo({std::min(size.width() - 150, m_style.metrics().px(620)), 0}));
    empty.render(&painter, QPoint((size.width() - empty.width()) / 2, 16), {}, QWidget::DrawChildren);
}

} // namespace tidemark
