// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/oom/oom_map.hpp"

#include "widgets/oom/oom_ghost.hpp"
#include "widgets/segments/map_walk.hpp"
#include "widgets/segments/segment_texts.hpp"
#include "widgets/style/controls.hpp"
#include "widgets/style/style.hpp"
#include "widgets/style/text.hpp"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

constexpr double addressRoom = 98;
constexpr double holeRoom = 112;

} // namespace

OomMap::OomMap(Session& session, ViewState& view, Style& style, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_view(view)
    , m_style(style)
    , m_title(new QLabel(this))
    , m_subtitle(new QLabel(this))
    , m_which(new Segmented(style, {tr("With holes"), tr("All")}, this))
    , m_strip(new GhostStrip(style, this))
    , m_canvas(new OomMapCanvas(style, this))
    , m_scale(new ScaleStrip(style, this))
{
    m_title->setTextFormat(Qt::PlainText);
    m_subtitle->setTextFormat(Qt::PlainText);
    m_subtitle->setForegroundRole(QPalette::PlaceholderText);
    m_subtitle->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    m_subtitle->setObjectName(QStringLiteral("subtitle"));
    m_subtitle->installEventFilter(this);
    m_which->setLogicalHeight(20);
    m_which->setPartToolTip(0, tr("Only segments with free memory inside"));
    m_which->setPartToolTip(1, tr("All segments, of every stream and pool"));
    m_which->setAccessibleName(tr("Which segments"));
    m_canvas->setAccessibleName(tr("Segments at the out-of-memory event"));
    auto* const head = new QHBoxLayout;
    head->addWidget(m_title);
    head->addWidget(m_subtitle, 1);
    head->addWidget(m_which);
    auto* const column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(head);
    column->addWidget(m_strip);
    column->addWidget(m_canvas, 1);
    column->addWidget(m_scale);

    connect(m_which, &Segmented::chosen, this, [this](int which) { setAll(which == 1); });
    connect(&style, &Style::changed, this, &OomMap::restyle);
    connect(&view, &ViewState::selectionChanged, this, [this] {
        updateMarks();
        if (!m_selecting && m_scene && m_scene->state
            && m_view.selection().kind == Selection::Kind::Allocation)
            for (const Piece& piece : m_scene->state->pieces)
                if (valid(piece.allocation) && piece.allocation == m_view.selection().allocation)
                    m_canvas->showPiece(piece.address);
    });
    connect(&view, &ViewState::hoveredChanged, this, &OomMap::updateMarks);
    connect(&view, &ViewState::emphasisChanged, this, [this] {
        if (m_scene)
            m_canvas->setScene(sceneOf());
    });
    connect(m_canvas, &SegmentMapCanvas::resized, this, &OomMap::rebuild);
    connect(m_canvas, &SegmentMapCanvas::hovered, this, &OomMap::onHovered);
    connect(m_canvas, &SegmentMapCanvas::left, this, [this] { onHovered({}); });
    connect(m_canvas, &SegmentMapCanvas::clicked, this, &OomMap::onClicked);
    connect(m_canvas, &SegmentMapCanvas::toolTipWanted, this, &OomMap::showToolTip);
    connect(m_canvas, &SegmentMapCanvas::walkBlocks, this, &OomMap::walk);
    connect(m_canvas, &SegmentMapCanvas::walkRows, this, &OomMap::walkRows);
    connect(m_canvas, &SegmentMapCanvas::walkSegments, this, &OomMap::walkRows);
    restyle();
}

SegmentMapCanvas& OomMap::canvas() const
{
    return *m_canvas;
}

void OomMap::restyle()
{
    const Metrics& metrics = m_style.metrics();
    m_title->setFont(m_style.font(FontRole::Strong));
    m_subtitle->setFont(m_style.font(FontRole::Small));
    m_which->setFont(m_style.font(FontRole::Small));
    auto* const head = static_cast<QHBoxLayout*>(layout()->itemAt(0)->layout());
    head->setContentsMargins(metrics.padding, metrics.unit, metrics.padding, metrics.unit);
    head->setSpacing(metrics.padding);
    rebuild();
}

void OomMap::setScene(std::shared_ptr<const OomScene> scene)
{
    m_scene = std::move(scene);
    rebuild();
}

void OomMap::setAll(bool all)
{
    m_which->setCurrent(all ? 1 : 0);
    if (all == m_all)
        return;
    m_all = all;
    rebuild();
}

void OomMap::flush()
{
    rebuild();
}

void OomMap::rebuild()
{
    m_built = {};
    m_ghost.reset();
    if (!m_scene || !m_scene->state) {
        m_canvas->setScene({});
        updateTitle();
        return;
    }
    const Metrics& metrics = m_style.metrics();
    MapRequest request;
    request.replay = m_scene->of.replay;
    request.state = m_scene->autopsy().state;
    request.options.layout = MapLayout::Rows;
    request.options.order = MapOrder::Address;
    request.options.withHoles = !m_all;
    // Only where the request could have gone, unless free memory elsewhere is the point.
    if (!m_all && m_scene->autopsy().verdict == Verdict::Fragmentation && m_scene->inClass.withHoles > 0) {
        request.options.pool = m_scene->pool;
        request.options.stream = m_scene->stream;
    }
    request.options.labelWidth = metrics.px(addressRoom);
    const double holes = metrics.px(holeRoom);
    request.options.width = m_canvas->contentWidth(false) - holes;
    request.narrowWidth = m_canvas->contentWidth(true) - holes;
    request.options.rowHeight = metrics.px(11);
    request.options.rowGap = metrics.px(2);
    request.options.headerHeight = metrics.px(18);
    request.height = m_canvas->contentHeight();
    request.smallestRow = metrics.px(9);
    request.largestRow = metrics.px(16);
    m_built = buildMap(request, m_scene->state);
    const std::uint64_t row = rowForGhost(*m_scene, m_built.picture->bytesPerRow);
    if (row != m_built.picture->bytesPerRow) {
        request.options.bytesPerRow = row;
        m_built = buildMap(request, m_scene->state);
    }
    placeGhost();
    m_canvas->setScene(sceneOf());
    updateTitle();
}

void OomMap::placeGhost()
{
    const auto& request = m_scene->autopsy().request;
    const MapPicture& picture = *m_built.picture;
    GhostGeometry ghost;
    const double margin = m_style.metrics().padding;
    const double wide = m_built.options.width - m_built.options.labelWidth;
    ghost.rowsLeft = margin + m_built.options.labelWidth;
    ghost.pixelsPerByte = picture.bytesPerRow ? wide / static_cast<double>(picture.bytesPerRow) : 0;
    if (request && m_scene->ghost) {
        const auto box = std::find_if(picture.boxes.begin(), picture.boxes.end(),
            [&](const MapBox& each) { return each.piece == m_scene->ghost->piece; });
        if (box != picture.boxes.end()) {
            const double end = margin + m_built.options.width;
            ghost.left = margin + box->x;
            ghost.fits = std::min(end, margin + box->x + box->width);
            ghost.right = ghost.left + static_cast<double>(*request) * ghost.pixelsPerByte;
            if (m_scene->missing == 0)
                ghost.fits = ghost.right;
            ghost.torn = ghost.right > end + 1;
            ghost.right = std::min(ghost.right, end);
            ghost.fits = std::min(ghost.fits, ghost.right);
            m_ghost = ghost;
        }
    }
    QString label;
    if (request && m_ghost)
        label = m_scene->missing > 0 || m_scene->ghost->reachable
            ? tr("the failed request: %1").arg(bytesText(*request))
            : tr("the failed request: %1 – would fit, but may not go here").arg(bytesText(*request));
    m_strip->set(m_ghost, label, missingText(), margin + m_built.options.width);
    m_canvas->setGhost(m_ghost);
    m_scale->set(ghost.rowsLeft, ghost.pixelsPerByte, picture.bytesPerRow, m_scene->autopsy().deviceFree);
}

QString OomMap::missingText() const
{
    if (!m_scene || m_scene->missing == 0 || !m_scene->ghost)
        return {};
    return tr("%1 too long").arg(bytesText(m_scene->missing));
}

QString OomMap::title() const
{
    return m_title->text();
}

QString OomMap::subtitle() const
{
    return m_subtitle->text();
}

void OomMap::updateTitle()
{
    if (!m_scene || !m_scene->state) {
        m_title->setText(tr("Segments"));
        m_subtitles.clear();
        m_subtitle->setText(m_scene ? tr("this file lists none: holes are unknown") : QString());
        return;
    }
    const bool own = m_built.options.pool.has_value();
    const SegmentCounts& counts = own ? m_scene->inClass : m_scene->everywhere;
    m_title->setText(m_all
            ? tr("All %1 segments").arg(countText(counts.all))
            : tr("Segments with holes: %1 of %2").arg(countText(counts.withHoles), countText(counts.all)));
    const Snapshot& snapshot = *m_scene->of.replay->snapshot;
    const QString where
        = own ? shownText(streamName(snapshot, m_scene->stream)) + QStringLiteral(" · ") : QString();
    m_subtitles = {where + tr("one row each, lowest address first"), where + tr("lowest address first"),
        own ? shownText(streamName(snapshot, m_scene->stream)) : QString()};
    m_subtitle->setToolTip(m_subtitles.front());
    fitSubtitle();
    QString described = m_title->text();
    if (!missingText().isEmpty())
        described += tr("; the largest hole is %1, the request %2")
                         .arg(bytesText(m_scene->ghost->size), missingText());
    m_canvas->setAccessibleDescription(described);
}

/// The longest that fits whole.
void OomMap::fitSubtitle()
{
    const auto& each = m_subtitles;
    const auto fits = std::find_if(each.begin(), each.end(), [this](const QString& text) {
        return m_subtitle->fontMetrics().horizontalAdvance(text) <= m_subtitle->width();
    });
    m_subtitle->setText(fits == each.end() ? QString() : *fits);
}

bool OomMap::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_subtitle && event->type() == QEvent::Resize && !m_subtitles.isEmpty())
        fitSubtitle();
    return QWidget::eventFilter(watched, event);
}

SegmentScene OomMap::sceneOf() const
{
    SegmentScene scene;
    if (!m_built.picture)
        return scene;
    scene.snapshot = m_built.replay->snapshot;
    scene.state = m_built.state;
    scene.picture = m_built.picture;
    scene.colouring = m_scene->of.colouring;
    scene.emphasis = m_view.emphasis();
    scene.selection = m_view.selection();
    if (scene.selection.kind == Selection::Kind::Group && scene.selection.groupBy != GroupBy::None)
        scene.grouping = m_session.grouping(scene.selection.groupBy);
    scene.hovered = m_view.hovered();
    scene.layout = MapLayout::Rows;
    scene.labelWidth = m_built.options.labelWidth;
    return scene;
}

void OomMap::updateMarks()
{
    if (m_built.picture && m_built.replay == m_session.replay())
        m_canvas->setMarks(sceneOf());
}

void OomMap::onHovered(const MapHit& hit)
{
    AllocationId id = AllocationId::none;
    QString text;
    if (m_built.picture && hit.segment) {
        const SegmentView& segment = m_built.state->segments[*hit.segment];
        if (hit.box && !hit.edge) {
            const Piece& piece = m_built.state->pieces[m_built.picture->boxes[*hit.box].piece];
            id = piece.allocation;
            text = pieceLine(m_session, *m_built.replay, segment, piece);
        } else {
            text = segmentLine(*m_built.replay, segment);
        }
    }
    m_view.setHovered(id);
    emit m_view.hoverTextChanged(text);
}

void OomMap::showToolTip(const MapHit& hit, QPoint position)
{
    if (!m_built.picture || !hit.segment) {
        QToolTip::hideText();
        return;
    }
    const SegmentView& segment = m_built.state->segments[*hit.segment];
    const QString text = hit.box && !hit.edge ? pieceToolTip(m_session, *m_built.replay, segment,
                             m_built.state->pieces[m_built.picture->boxes[*hit.box].piece], 1)
                                              : segmentToolTip(*m_built.replay, segment, false);
    QToolTip::showText(position, text, m_canvas);
}

void OomMap::selectBox(std::size_t box)
{
    const Piece& piece = m_built.state->pieces[m_built.picture->boxes[box].piece];
    m_selecting = true;
    emit picking();
    if (valid(piece.allocation)) {
        m_view.selectAllocation(piece.allocation);
    } else {
        Selection selection;
        selection.kind = Selection::Kind::Hole;
        selection.address = piece.address;
        selection.size = piece.size;
        m_view.select(selection);
    }
    m_selecting = false;
}

void OomMap::selectSegment(std::uint32_t segment)
{
    Selection selection;
    selection.kind = Selection::Kind::Segment;
    selection.address = m_built.state->segments[segment].address;
    selection.size = m_built.state->segments[segment].size;
    emit picking();
    m_view.select(selection);
}

void OomMap::onClicked(const MapHit& hit)
{
    if (!m_built.picture)
        return;
    if (hit.box && !hit.edge)
        selectBox(*hit.box);
    else if (hit.segment)
        selectSegment(*hit.segment);
    else
        m_view.clearSelection();
}

std::optional<std::size_t> OomMap::selectedBox() const
{
    return m_built.picture ? boxOf(m_view.selection(), *m_built.state, *m_built.picture) : std::nullopt;
}

void OomMap::walk(int direction)
{
    if (m_built.picture)
        walkTo(boxBeside(*m_built.picture, selectedBox(), direction));
}

void OomMap::walkRows(int direction)
{
    if (const auto selected = selectedBox())
        walkTo(boxInNextRow(*m_built.picture, *selected, direction));
    else
        walk(direction);
}

void OomMap::walkTo(std::optional<std::size_t> box)
{
    if (!box)
        return;
    selectBox(*box);
    m_canvas->showPiece(m_built.state->pieces[m_built.picture->boxes[*box].piece].address);
}

} // namespace tidemark
