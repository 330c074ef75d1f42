// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/segments/segment_map_view.hpp"

#include "model/lens/facts.hpp"
#include "widgets/common/fact_bar.hpp"
#include "widgets/common/moment_text.hpp"
#include "widgets/segments/segment_texts.hpp"
#include "widgets/style/empty_state.hpp"
#include "widgets/style/text.hpp"

#include <QAccessible>
#include <QElapsedTimer>
#include <QMenu>
#include <QStackedLayout>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace tidemark {

namespace {

/// Beyond this the replay of a state would be felt while dragging and goes to a worker.
constexpr double inlineBudgetMs = 8;
/// First guess, before a cost was measured.
constexpr std::size_t inlineAllocations = 200000;
constexpr std::size_t recentStates = 8;
constexpr int restMs = 300;
constexpr double addressRoom = 86;

StateIndex peakState(const Replay& replay)
{
    return replay.timeline.requested().total().maxState;
}

std::optional<StateIndex> oomState(const Replay& replay)
{
    const auto& ooms = replay.device().ooms;
    if (ooms.empty())
        return std::nullopt;
    return stateOf(static_cast<Moment>(index(ooms.back().event)));
}

} // namespace

SegmentMapView::SegmentMapView(Session& session, ViewState& view, Style& style, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_view(view)
    , m_style(style)
    , m_canvas(new SegmentMapCanvas(style, this))
    , m_empty(new EmptyState(style, this))
    , m_footer(new FactBar(style, this))
    , m_button(new QToolButton)
    , m_menu(new QMenu(m_button))
    , m_stack(new QStackedLayout)
    , m_refresher(*this, [this] { refresh(false); })
    , m_task([this](MapBuilt&& built) { take(std::move(built)); })
{
    setWindowTitle({});
    m_canvas->setAccessibleName(tr("Segment map"));
    m_empty->setAutoFillBackground(true);
    m_empty->setBackgroundRole(QPalette::Base);
    m_stack->addWidget(m_canvas);
    m_stack->addWidget(m_empty);
    auto* const column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(m_stack, 1);
    column->addWidget(m_footer);
    m_button->setToolButtonStyle(Qt::ToolButtonTextOnly);
    m_button->setAutoRaise(true);
    connect(m_button, &QToolButton::clicked, this, [this] {
        fillMenu();
        m_menu->popup(m_button->mapToGlobal(QPoint(0, m_button->height())));
    });
    m_button->setToolTip(tr("Order, layout, moment and filters of the segment map"));
    m_footer->setControl(m_button);

    connect(&session, &Session::opened, this, &SegmentMapView::reset);
    connect(&session, &Session::deviceChanged, this, &SegmentMapView::reset);
    connect(&session, &Session::siteModeChanged, this, &SegmentMapView::restyle);
    connect(&session, &Session::diagnosisChanged, this, [this] {
        if (m_view.colourBy() == ColourBy::Label || m_view.colourBy() == ColourBy::Role)
            restyle();
    });
    connect(&session, &Session::predictionChanged, this, &SegmentMapView::followPrediction);
    connect(&view, &ViewState::mapPredictedChanged, this, &SegmentMapView::followPrediction);
    connect(&style, &Style::changed, this, &SegmentMapView::restyle);
    connect(&view, &ViewState::colourByChanged, this, &SegmentMapView::restyle);
    connect(&view, &ViewState::emphasisChanged, this, &SegmentMapView::restyle);
    connect(&view, &ViewState::findingChanged, this, &SegmentMapView::updateMarks);
    connect(&view, &ViewState::cursorChanged, this, &SegmentMapView::schedule);
    connect(&view, &ViewState::selectionChanged, this, &SegmentMapView::showMarks);
    connect(&view, &ViewState::hoveredChanged, this, &SegmentMapView::updateMarks);

    connectNotes();
    connect(m_canvas, &SegmentMapCanvas::resized, this, &SegmentMapView::schedule);
    connect(m_canvas, &SegmentMapCanvas::hovered, this, &SegmentMapView::onHovered);
    connect(m_canvas, &SegmentMapCanvas::left, this, [this] { onHovered({}); });
    connect(m_canvas, &SegmentMapCanvas::clicked, this, &SegmentMapView::onClicked);
    connect(m_canvas, &SegmentMapCanvas::doubleClicked, this, &SegmentMapView::onDoubleClicked);
    connect(m_canvas, &SegmentMapCanvas::menuRequested, this, &SegmentMapView::contextMenu);
    connect(m_canvas, &SegmentMapCanvas::toolTipWanted, this, &SegmentMapView::showToolTip);
    connect(m_canvas, &SegmentMapCanvas::walkBlocks, this, &SegmentMapView::walk);
    connect(m_canvas, &SegmentMapCanvas::walkRows, this, &SegmentMapView::walkRows);
    connect(m_canvas, &SegmentMapCanvas::walkSegments, this, &SegmentMapView::walkSegments);
    connect(m_canvas, &SegmentMapCanvas::activated, this, [this] {
        if (const auto box = selectedBox())
            zoomToSegment(m_built.picture->boxes[*box].segment);
    });
    connect(m_canvas, &SegmentMapCanvas::zoomRequested, this, [this](int steps) {
        if (!m_built.picture)
            return;
        double bytes = static_cast<double>(m_built.picture->bytesPerRow);
        bytes *= steps > 0 ? 1 / 1.4142135623730951 : 1.4142135623730951;
        setBytesPerRow(static_cast<std::uint64_t>(std::clamp(bytes, 65536.0, 1e15)));
    });
    m_restTimer.setSingleShot(true);
    m_restTimer.setInterval(restMs);
    connect(&m_restTimer, &QTimer::timeout, this, &SegmentMapView::updateAccessible);
    reset();
}

SegmentMapView::~SegmentMapView() = default;

QWidget* SegmentMapView::headerControls() const
{
    return m_button;
}

void SegmentMapView::setMapLayout(MapLayout layout)
{
    if (layout == m_options.layout)
        return;
    m_options.layout = layout;
    m_options.bytesPerRow = 0;
    updateButton();
    schedule();
}

void SegmentMapView::setOrder(MapOrder order)
{
    m_options.order = order;
    updateButton();
    schedule();
}

void SegmentMapView::setWithHoles(bool withHoles)
{
    m_options.withHoles = withHoles;
    m_options.layout = withHoles ? MapLayout::Rows : MapLayout::Flow;
    m_options.bytesPerRow = 0;
    updateButton();
    schedule();
}

void SegmentMapView::setPoolFilter(std::optional<PoolId> pool)
{
    m_options.pool = pool;
    updateButton();
    schedule();
}

void SegmentMapView::setStreamFilter(std::optional<StreamId> stream)
{
    m_options.stream = stream;
    updateButton();
    schedule();
}

void SegmentMapView::setMoment(MapMoment moment)
{
    m_moment = moment;
    updateButton();
    schedule();
}

void SegmentMapView::setBytesPerRow(std::uint64_t bytes)
{
    m_options.bytesPerRow = bytes;
    m_zoomedTo.reset();
    schedule();
}

void SegmentMapView::setForPicture()
{
    m_forPicture = true;
    m_button->setParent(this);
    m_button->hide();
    schedule();
}

void SegmentMapView::setFitRequest(std::optional<std::uint64_t> bytes)
{
    m_fit.reset();
    if (bytes)
        m_fit = FitRequest{*bytes};
    showMarks();
    updateTexts();
}

void SegmentMapView::reset()
{
    m_task.cancel();
    m_recent.clear();
    m_lastCostMs = 0;
    m_options.pool.reset();
    m_options.stream.reset();
    m_options.bytesPerRow = 0;
    m_fit.reset();
    // Ids of the old device mean nothing in the new one: nothing of it may be painted or hit any more.
    m_replay = m_session.replay();
    m_built = {};
    m_canvas->setScene({});
    updateButton();
    schedule();
}

void SegmentMapView::restyle()
{
    m_button->setFont(m_style.font(FontRole::Small));
    if (m_built.picture && m_built.replay == m_session.replay())
        m_canvas->setScene(sceneOf(m_built));
    updateFooter();
    schedule();
}

void SegmentMapView::flush()
{
    refresh(true);
}

StateIndex SegmentMapView::wantedState(const Replay& replay) const
{
    const StateIndex last = replay.states() - 1;
    switch (m_moment) {
    case MapMoment::Peak:
        return peakState(replay);
    case MapMoment::Oom:
        return oomState(replay).value_or(last);
    case MapMoment::End:
        return last;
    case MapMoment::Cursor:
        break;
    }
    return std::min(m_view.cursor(), last);
}

std::shared_ptr<const SegmentState> SegmentMapView::cached(const Replay& replay, StateIndex state) const
{
    if (&replay != m_replay.get())
        return nullptr;
    for (const auto& known : m_recent)
        if (known->state == state)
            return known;
    return nullptr;
}

MapRequest SegmentMapView::request(std::shared_ptr<const Replay> replay) const
{
    const Metrics& metrics = m_style.metrics();
    MapRequest request;
    request.prediction = shownPrediction();
    request.state = wantedState(*replay);
    // From there on nothing is predicted.
    if (request.prediction)
        request.state = std::min(request.state, request.prediction->reserved.whatIf->knownUntil);
    request.replay = std::move(replay);
    request.options = m_options;
    const bool rows = m_options.layout == MapLayout::Rows;
    const double labels = rows ? metrics.px(addressRoom) : 0;
    request.options.labelWidth = labels;
    request.options.width = m_canvas->contentWidth(false) - labels;
    request.narrowWidth = m_canvas->contentWidth(true) - labels;
    request.options.rowHeight = rows ? metrics.px(12) : metrics.px(11);
    request.options.rowGap = metrics.px(2);
    request.options.headerHeight = metrics.px(18);
    request.height = m_canvas->contentHeight();
    request.smallestRow = rows ? metrics.px(9) : metrics.px(8);
    if (m_forPicture)
        request.smallestRow = 2;
    request.largestRow = metrics.px(14);
    return request;
}

void SegmentMapView::refresh(bool now)
{
    m_refresher.done();
    const auto replay = m_session.replay();
    if (!replay || !replay->segments.known()) {
        m_task.cancel();
        m_built = {};
        m_canvas->setScene({});
        showEmpty();
        return;
    }
    m_replay = replay;
    const MapRequest wanted = request(replay);
    std::shared_ptr<const SegmentState> known = cached(*replay, wanted.state);
    const bool slow = wanted.prediction || m_lastCostMs > inlineBudgetMs
        || (m_lastCostMs == 0 && replay->timeline.allocations().count() > inlineAllocations);
    if (known || now || !slow) {
        QElapsedTimer clock;
        clock.start();
        const bool replayed = known == nullptr;
        MapBuilt built = buildMap(wanted, std::move(known));
        if (replayed && !wanted.prediction)
            m_lastCostMs = static_cast<double>(clock.nsecsElapsed()) / 1e6;
        m_task.cancel();
        take(std::move(built));
        return;
    }
    m_task.request([wanted](const Job& job) { return buildMap(wanted, nullptr, job); });
}

void SegmentMapView::take(MapBuilt&& built)
{
    if (!built.state || built.replay != m_session.replay() || built.prediction != shownPrediction())
        return;
    const bool fresh = std::none_of(m_recent.begin(), m_recent.end(),
        [&](const auto& known) { return known->state == built.state->state; });
    if (fresh) {
        m_recent.push_front(built.state);
        if (m_recent.size() > recentStates)
            m_recent.pop_back();
    }
    m_built = std::move(built);
    if (showsEmptyResult())
        return;
    m_canvas->setScene(sceneOf(m_built));
    m_stack->setCurrentWidget(m_canvas);
    updateTexts();
    m_restTimer.start();
}

SegmentScene SegmentMapView::sceneOf(const MapBuilt& built) const
{
    SegmentScene scene;
    scene.snapshot = built.replay->snapshot;
    scene.state = built.state;
    scene.picture = built.picture;
    scene.colouring = m_session.colouring(m_view.colourBy());
    scene.emphasis = m_view.emphasis();
    scene.searched = m_view.matches() != nullptr;
    scene.shownFinding = m_view.shownFinding();
    addFindingSegments(scene);
    scene.selection = m_view.selection();
    if (scene.selection.kind == Selection::Kind::Group && scene.selection.groupBy != GroupBy::None)
        scene.grouping = m_session.grouping(scene.selection.groupBy);
    scene.hovered = m_view.hovered();
    scene.fit = m_fit;
    scene.layout = built.options.layout;
    scene.labelWidth = built.options.labelWidth;
    return scene;
}

void SegmentMapView::addFindingSegments(SegmentScene& scene) const
{
    const auto diagnosis = m_session.diagnosis();
    const auto chosen = m_view.finding();
    if (!diagnosis || !chosen || *chosen >= diagnosis->findings.size())
        return;
    const Finding& finding = diagnosis->findings[*chosen];
    if (finding.deviceIndex != m_session.deviceIndex() || showsPrediction())
        return;
    scene.findingSegments = finding.segments;
    std::sort(scene.findingSegments.begin(), scene.findingSegments.end());
    scene.findingSeverity = finding.severity;
}

void SegmentMapView::updateMarks()
{
    if (m_built.picture && m_built.replay == m_session.replay())
        m_canvas->setMarks(sceneOf(m_built));
}

void SegmentMapView::showMarks()
{
    if (!m_built.picture || m_built.replay != m_session.replay())
        return;
    updateMarks();
    const Selection& selection = m_view.selection();
    if (!m_selecting && selection.kind == Selection::Kind::Allocation) {
        for (const Piece& piece : m_built.state->pieces)
            if (piece.allocation == selection.allocation && valid(piece.allocation)) {
                m_canvas->showPiece(piece.address);
                break;
            }
    }
    m_restTimer.start();
}

bool SegmentMapView::showsEmptyResult()
{
    if (!m_built.picture->frames.empty())
        return false;
    showEmpty();
    return true;
}

void SegmentMapView::showEmpty()
{
    EmptyState::Content content;
    content.icon = QStringLiteral("segments");
    const auto rank = m_session.rank();
    const auto replay = m_session.replay();
    if (!rank) {
        content.heading = tr("Nothing is open");
        content.sentence = tr("Open a memory snapshot to see its segments.");
        content.actions = {{tr("Open another file…"), QStringLiteral("open"),
            [this] { emit m_view.openFileRequested(); }, true}};
    } else if (!replay || rank->snapshot->source.kind != SourceKind::Snapshot) {
        const bool snapshot = rank->snapshot->source.kind == SourceKind::Snapshot;
        content.heading
            = snapshot ? tr("This file lists no segments") : tr("This kind of file has no segments");
        content.sentence = snapshot ? tr("It holds neither events nor segments of any device.")
            : replay ? tr("A profiler trace records allocations, but not the memory they were cut "
                          "from: reserved memory and holes are unknown.")
                     : tr("A profiler's memory timeline holds bytes per category over time, without "
                          "addresses.");
        content.caption = tr("A snapshot has them:");
        content.code = EmptyState::recordingLines();
    } else if (!replay->segments.known() && rank->snapshot->source.partial) {
        content.heading = tr("The segments are not known");
        content.sentence = tr("They tell of the end of the run, and the file breaks off before it: reserved "
                              "memory and its holes are unknown.");
    } else if (!replay->segments.known()) {
        content.heading = tr("This file lists no segments");
        content.sentence
            = tr("It holds only the trace of events, so reserved memory and its holes are unknown.");
        content.caption = tr("To record them next time, write the whole snapshot:");
        content.code = QStringLiteral("torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")\n"
                                      "# or: pickle.dump(torch.cuda.memory._snapshot(), file)");
    } else if (m_options.withHoles || m_options.pool || m_options.stream) {
        content.heading = tr("No segment passes these filters");
        content.sentence = tr("%1 segments are reserved %2.")
                               .arg(countText(static_cast<std::int64_t>(m_built.state->segments.size())),
                                   atMomentText(*replay, m_built.state->state));
        content.actions = {{tr("Show all segments"), QStringLiteral("clear"),
            [this] {
                m_options.pool.reset();
                m_options.stream.reset();
                setWithHoles(false);
            },
            true}};
    } else {
        content.heading = tr("Nothing is reserved here");
        content.sentence = tr("No segment exists %1.")
                               .arg(atMomentText(*replay, m_built.state ? m_built.state->state : 0));
        content.actions = {{tr("Go to the peak"), QStringLiteral("peak"),
            [this, replay] {
                m_view.pushHistory();
                setMoment(MapMoment::Cursor);
                m_view.setCursor(peakState(*replay));
            },
            true}};
    }
    m_empty->setContent(std::move(content));
    m_stack->setCurrentWidget(m_empty);
    updateTexts();
}

QString SegmentMapView::emptyHeading() const
{
    return m_stack->currentWidget() == m_empty ? m_empty->heading() : QString();
}

QString SegmentMapView::footerText() const
{
    return m_footer->text();
}

void SegmentMapView::updateTexts()
{
    updateFooter();
    const auto replay = m_session.replay();
    if (!replay || !replay->segments.known()) {
        setWindowTitle(m_session.rank() ? tr("reserved is unknown") : QString());
        return;
    }
    if (!m_built.state)
        return;
    const FreeSums sums = freeSums(*m_built.state, m_options.pool, m_options.stream);
    QString moment = atMomentText(*replay, m_built.state->state);
    if (m_moment == MapMoment::Peak)
        moment = tr("at the peak, ") + momentText(*replay, m_built.state->state);
    if (m_moment == MapMoment::Oom)
        moment = tr("out of memory, ") + momentText(*replay, m_built.state->state);
    if (replay->states() > 1 && m_moment == MapMoment::End)
        moment = tr("at the end of the file");
    if (showsPrediction())
        moment = tr("predicted, ") + moment;
    QStringList parts{moment};
    if (!replay->segments.hasEvents() && replay->states() > 1 && m_moment != MapMoment::End)
        parts << tr("segments as at the end of the file");
    parts << countText(static_cast<std::int64_t>(sums.segments))
            + (sums.segments == 1 ? tr(" segment") : tr(" segments"));
    parts << tr("largest hole ") + bytesText(sums.largestHole);
    setWindowTitle(parts.join(QStringLiteral(" · ")));
}

void SegmentMapView::updateFooter()
{
    m_footer->setVisible(m_session.replay() && m_session.replay()->segments.known());
    if (!m_built.state || !m_built.picture) {
        m_footer->setFacts({}, {});
        return;
    }
    const double ratio = devicePixelRatioF();
    const FreeSums sums = freeSums(*m_built.state, m_options.pool, m_options.stream);
    std::vector<FactBar::Fact> facts;
    if (m_fit) {
        std::size_t holes = 0;
        for (const MapBox& box : m_built.picture->boxes)
            if (!box.tornLeft
                && m_fit->fits(m_built.state->segments[box.segment], m_built.state->pieces[box.piece]))
                ++holes;
        facts.push_back({{},
            holes == 0
                ? tr("%1 fits no hole here").arg(bytesText(m_fit->bytes))
                : tr("%1 fits %2")
                      .arg(bytesText(m_fit->bytes),
                          holes == 1 ? tr("1 hole")
                                     : tr("%1 holes").arg(countText(static_cast<std::int64_t>(holes)))),
            {}});
    }
    const auto add = [&](PieceLook look, std::uint64_t bytes, std::uint64_t segments) {
        if (bytes == 0)
            return;
        const QString brief
            = lookName(look).remove(QStringLiteral("free, ")) + QLatin1Char(' ') + bytesText(bytes);
        QString text = lookName(look) + QLatin1Char(' ') + bytesText(bytes);
        if (segments > 0)
            text += tr(" in ") + countText(static_cast<std::int64_t>(segments))
                + (segments == 1 ? tr(" segment") : tr(" segments"));
        facts.push_back({SegmentPainter::sample(look, m_style, ratio), text, brief});
    };
    add(PieceLook::Pinned, sums.pinned, sums.pinnedSegments);
    add(PieceLook::Releasable, sums.releasable, 0);
    add(PieceLook::PoolHeld, sums.held, 0);
    add(PieceLook::Waiting, sums.waiting, 0);
    if (sums.pinned + sums.releasable + sums.held == 0)
        facts.push_back({{}, tr("no free memory inside the segments"), {}});
    if (!m_built.state->homeless.empty())
        facts.push_back({{},
            tr("%1 allocations lie in no listed segment")
                .arg(countText(static_cast<std::int64_t>(m_built.state->homeless.size()))),
            {}});
    const auto colouring = m_session.colouring(m_view.colourBy());
    if (colouring && colouring->sequential)
        for (const LegendItem& item : colouring->legend)
            facts.push_back({m_style.swatch(item.slot, true, ratio), shownText(item.text), {}});
    m_footer->setFacts(facts, tr("1 row = ") + bytesText(m_built.picture->bytesPerRow));
}

void SegmentMapView::updateAccessible()
{
    QStringList parts{windowTitle(), m_footer->text()};
    if (const auto box = selectedBox()) {
        const MapBox& chosen = m_built.picture->boxes[*box];
        parts << tr("selected ")
                + pieceLine(m_session, *m_built.replay, m_built.state->segments[chosen.segment],
                    m_built.state->pieces[chosen.piece]);
    }
    m_canvas->setAccessibleDescription(parts.join(QStringLiteral("; ")));
}

void SegmentMapView::renderTo(QPainter& painter, double ratio)
{
    painter.fillRect(rect(), m_style.color(Tone::Base));
    if (m_stack->currentWidget() == m_empty) {
        m_empty->render(&painter, m_empty->geometry().topLeft(), {}, DrawChildren);
        return;
    }
    painter.save();
    painter.translate(m_canvas->geometry().topLeft());
    m_canvas->paintInto(painter, ratio);
    painter.restore();
    m_footer->render(&painter, m_footer->geometry().topLeft());
}

} // namespace tidemark
