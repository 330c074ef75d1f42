// SPDX-License-Identifier: GPL-3.0-or-later
// What the user does with the segment map: menus, pointer and keys.
#include "widgets/segments/map_walk.hpp"
#include "widgets/segments/segment_map_view.hpp"

#include "widgets/common/moment_text.hpp"
#include "widgets/common/site_term.hpp"
#include "widgets/common/size_text.hpp"
#include "widgets/segments/segment_texts.hpp"
#include "widgets/style/text.hpp"

#include <QActionGroup>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QToolButton>
#include <QToolTip>
#include <QWidgetAction>

#include <algorithm>
#include <set>

namespace tidemark {

namespace {

QString orderText(MapOrder order)
{
    switch (order) {
    case MapOrder::Size:
        return SegmentMapView::tr("largest first");
    case MapOrder::Address:
        return SegmentMapView::tr("by address");
    case MapOrder::Age:
        return SegmentMapView::tr("oldest first");
    case MapOrder::FreeBytes:
        return SegmentMapView::tr("most free first");
    }
    return {};
}

QString momentName(MapMoment moment)
{
    switch (moment) {
    case MapMoment::Cursor:
        return SegmentMapView::tr("Cursor");
    case MapMoment::Peak:
        return SegmentMapView::tr("Peak");
    case MapMoment::Oom:
        return SegmentMapView::tr("Out of memory");
    case MapMoment::End:
        return SegmentMapView::tr("End of the file");
    }
    return {};
}

/// Exclusive choices under a heading.
class ChoiceSection {
public:
    ChoiceSection(QMenu& menu, const QString& title)
        : m_menu(menu)
        , m_group(new QActionGroup(&menu))
    {
        menu.addSection(title);
    }
    template <typename Act>
    void add(const QString& text, bool checked, Act act)
    {
        QAction* const action = m_menu.addAction(text);
        action->setCheckable(true);
        action->setChecked(checked);
        m_group->addAction(action);
        QObject::connect(action, &QAction::triggered, action, act);
    }

private:
    QMenu& m_menu;
    QActionGroup* m_group;
};

} // namespace

void SegmentMapView::updateButton()
{
    QStringList parts{orderText(m_options.order)};
    if (m_options.withHoles)
        parts << tr("with holes");
    if (showsPrediction())
        parts << tr("predicted");
    if (m_moment != MapMoment::Cursor)
        parts << tr("at: ") + momentName(m_moment).toLower();
    const auto replay = m_session.replay();
    if (replay && m_options.pool)
        parts << shownText(poolName(*replay->snapshot, *m_options.pool));
    if (replay && m_options.stream)
        parts << shownText(streamName(*replay->snapshot, *m_options.stream));
    m_button->setText(parts.join(QStringLiteral(" · ")) + QStringLiteral(" ▾"));
    m_button->setFont(m_style.font(FontRole::Small));
    m_button->setAccessibleName(tr("Segment map menu: ") + parts.join(QStringLiteral(", ")));
    m_button->updateGeometry();
}

void SegmentMapView::fillMenu()
{
    m_menu->clear();
    addLayoutActions(*m_menu);
    addMomentActions(*m_menu);
    addFilterActions(*m_menu);
    addFitActions(*m_menu);
}

void SegmentMapView::addLayoutActions(QMenu& menu)
{
    ChoiceSection layout(menu, tr("Layout"));
    layout.add(tr("Flow: rows of equal bytes"), m_options.layout == MapLayout::Flow,
        [this] { setMapLayout(MapLayout::Flow); });
    layout.add(tr("Rows: one segment each"), m_options.layout == MapLayout::Rows,
        [this] { setMapLayout(MapLayout::Rows); });
    QAction* const holes = menu.addAction(tr("With holes only"));
    holes->setCheckable(true);
    holes->setChecked(m_options.withHoles);
    connect(holes, &QAction::triggered, this, &SegmentMapView::setWithHoles);
    ChoiceSection order(menu, tr("Order"));
    for (const MapOrder each : {MapOrder::Size, MapOrder::Address, MapOrder::Age, MapOrder::FreeBytes})
        order.add(orderText(each), m_options.order == each, [this, each] { setOrder(each); });
    QMenu* const scale = menu.addMenu(tr("Bytes per row"));
    scale->addAction(tr("Fewer (Ctrl+wheel)"), this, [this] { emit m_canvas->zoomRequested(1); });
    scale->addAction(tr("More"), this, [this] { emit m_canvas->zoomRequested(-1); });
    scale->addAction(tr("Automatic"), this, [this] { setBytesPerRow(0); });
}

void SegmentMapView::addMomentActions(QMenu& menu)
{
    ChoiceSection section(menu, tr("At"));
    const auto replay = m_session.replay();
    for (const MapMoment each : {MapMoment::Cursor, MapMoment::Peak, MapMoment::Oom, MapMoment::End}) {
        if (each == MapMoment::Oom && (!replay || replay->device().ooms.empty()))
            continue;
        section.add(momentName(each), m_moment == each, [this, each] { setMoment(each); });
    }
    if (!canPredict())
        return;
    ChoiceSection source(menu, tr("Segments"));
    source.add(tr("Recorded"), !m_view.mapPredicted(), [this] { m_view.setMapPredicted(false); });
    source.add(
        tr("Predicted by the sandbox"), m_view.mapPredicted(), [this] { m_view.setMapPredicted(true); });
}

bool SegmentMapView::canPredict() const
{
    const auto prediction = m_session.prediction();
    return prediction && prediction->reserved.whatIf;
}

std::shared_ptr<const Prediction> SegmentMapView::shownPrediction() const
{
    return m_view.mapPredicted() && canPredict() ? m_session.prediction() : nullptr;
}

/// States of another prediction, or of the recording, are no longer at hand.
void SegmentMapView::followPrediction()
{
    if (m_built.state && m_built.prediction == shownPrediction())
        return;
    m_task.cancel();
    m_recent.clear();
    updateButton();
    schedule();
}

void SegmentMapView::addFilterActions(QMenu& menu)
{
    const auto replay = m_session.replay();
    if (!replay || !m_built.state)
        return;
    std::set<PoolId> pools;
    std::set<StreamId> streams;
    for (const SegmentView& segment : m_built.state->segments) {
        pools.insert(segment.pool);
        streams.insert(segment.stream);
    }
    const Snapshot& snapshot = *replay->snapshot;
    if (pools.size() > 1 || m_options.pool) {
        QMenu* const sub = menu.addMenu(tr("Pool"));
        ChoiceSection section(*sub, tr("Pool"));
        section.add(tr("All pools"), !m_options.pool, [this] { setPoolFilter(std::nullopt); });
        for (const PoolId pool : pools)
            section.add(shownText(poolName(snapshot, pool)), m_options.pool == pool,
                [this, pool] { setPoolFilter(pool); });
    }
    if (streams.size() > 1 || m_options.stream) {
        QMenu* const sub = menu.addMenu(tr("Stream"));
        ChoiceSection section(*sub, tr("Stream"));
        section.add(tr("All streams"), !m_options.stream, [this] { setStreamFilter(std::nullopt); });
        for (const StreamId stream : streams)
            section.add(shownText(streamName(snapshot, stream)), m_options.stream == stream,
                [this, stream] { setStreamFilter(stream); });
    }
}

void SegmentMapView::addFitActions(QMenu& menu)
{
    menu.addSection(tr("Would it fit?"));
    auto* const action = new QWidgetAction(&menu);
    auto* const row = new QWidget;
    auto* const layout = new QHBoxLayout(row);
    const Metrics& metrics = m_style.metrics();
    layout->setContentsMargins(metrics.padding * 2, 2, metrics.padding, 2);
    auto* const field = new QLineEdit;
    field->setPlaceholderText(tr("a size, e.g. 1.5 GiB"));
    field->setAccessibleName(tr("Size of a request to look for room for"));
    const auto replay = m_session.replay();
    if (m_fit)
        field->setText(bytesText(m_fit->bytes));
    else if (replay && !replay->device().ooms.empty() && replay->device().ooms.back().requested)
        field->setText(bytesText(*replay->device().ooms.back().requested));
    layout->addWidget(new QLabel(tr("Would")));
    layout->addWidget(field);
    layout->addWidget(new QLabel(tr("fit?")));
    action->setDefaultWidget(row);
    menu.addAction(action);
    connect(field, &QLineEdit::returnPressed, this, [this, field, &menu] {
        const auto bytes = parseSize(field->text());
        if (!bytes) {
            QToolTip::showText(field->mapToGlobal(QPoint(0, field->height())),
                tr("“%1” is no size; write 1.5 GiB, 64M or bytes").arg(field->text()), field);
            return;
        }
        setFitRequest(bytes);
        menu.close();
    });
    if (m_fit)
        menu.addAction(tr("Stop asking"), this, [this] { setFitRequest(std::nullopt); });
}

void SegmentMapView::contextMenu(const MapHit& hit, QPoint position)
{
    if (!m_built.picture)
        return;
    std::optional<std::size_t> box = hit.box ? hit.box : selectedBox();
    std::optional<std::uint32_t> segment = hit.segment;
    if (!segment && box)
        segment = m_built.picture->boxes[*box].segment;
    if (!segment)
        return;
    const SegmentView part = m_built.state->segments[*segment];
    QMenu menu(this);
    addNoteEntries(menu, hit);
    if (box && valid(m_built.state->pieces[m_built.picture->boxes[*box].piece].allocation)) {
        const Piece piece = m_built.state->pieces[m_built.picture->boxes[*box].piece];
        const AllocationId id = piece.allocation;
        menu.addAction(m_style.icon(QStringLiteral("zoom-selection")), tr("Zoom to life"), this,
            [this, id] { emit m_view.zoomToLifeRequested(id); });
        const Timeline& timeline = m_built.replay->timeline;
        if (const auto event = timeline.allocEvent(id))
            menu.addAction(tr("Go to its allocation, event %1").arg(eventText(*m_built.replay, *event)), this,
                [this, event] {
                    m_view.pushHistory();
                    m_view.setCursor(stateOf(static_cast<Moment>(index(*event))));
                });
        if (const auto event = timeline.endEvent(id))
            menu.addAction(
                tr("Go to its free, event %1").arg(eventText(*m_built.replay, *event)), this, [this, event] {
                    m_view.pushHistory();
                    m_view.setCursor(stateOf(static_cast<Moment>(index(*event))));
                });
        if (const auto grouping = m_session.grouping(GroupBy::Site)) {
            const std::uint32_t group = grouping->of(id);
            menu.addAction(tr("Select all of this site"), this, [this, group] {
                Selection selection;
                selection.kind = Selection::Kind::Group;
                selection.group = group;
                m_view.select(selection);
            });
            const QString name = shownText(grouping->name(group));
            menu.addAction(m_style.icon(QStringLiteral("filter")), tr("Filter by this site"), this,
                [this, name] { emit m_view.searchRequested(siteTerm(name)); });
        }
        const QString line = pieceLine(m_session, *m_built.replay, part, piece);
        const QString address = addressText(piece.address);
        menu.addSeparator();
        menu.addAction(m_style.icon(QStringLiteral("copy")), tr("Copy line"), this, [line, address] {
            QGuiApplication::clipboard()->setText(line + QStringLiteral(" · ") + address);
        });
        menu.addAction(
            tr("Copy address"), this, [address] { QGuiApplication::clipboard()->setText(address); });
        menu.addSeparator();
    }
    const std::uint32_t number = *segment;
    if (!showsPrediction())
        menu.addAction(tr("Select segment"), this, [this, part] {
            Selection selection;
            selection.kind = Selection::Kind::Segment;
            selection.address = part.address;
            selection.size = part.size;
            m_view.select(selection);
        });
    menu.addAction(m_style.icon(QStringLiteral("zoom-in")), tr("Zoom to segment"), this,
        [this, number] { zoomToSegment(number); });
    menu.exec(position);
}

void SegmentMapView::onHovered(const MapHit& hit)
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
    m_selecting = true;
    m_view.setHovered(id);
    m_selecting = false;
    emit m_view.hoverTextChanged(text);
}

void SegmentMapView::showToolTip(const MapHit& hit, QPoint position)
{
    if (!m_built.picture || !hit.segment) {
        QToolTip::hideText();
        return;
    }
    const SegmentView& segment = m_built.state->segments[*hit.segment];
    if (!hit.box || hit.edge) {
        QToolTip::showText(position, segmentToolTip(*m_built.replay, segment, showsPrediction()), m_canvas);
        return;
    }
    const auto& boxes = m_built.picture->boxes;
    const MapBox& box = boxes[*hit.box];
    const double pixel = 1 / devicePixelRatioF();
    std::size_t sharing = 1;
    const auto shares = [&](const MapBox& other) {
        return other.y == box.y && other.x < box.x + pixel && other.x + other.width > box.x;
    };
    if (box.width < pixel) {
        for (std::size_t i = *hit.box; i > 0 && shares(boxes[i - 1]); --i)
            ++sharing;
        for (std::size_t i = *hit.box + 1; i < boxes.size() && shares(boxes[i]); ++i)
            ++sharing;
    }
    QToolTip::showText(position,
        pieceToolTip(m_session, *m_built.replay, segment, m_built.state->pieces[box.piece], sharing),
        m_canvas);
}

std::vector<NamedArea> SegmentMapView::areas(std::size_t most) const
{
    std::vector<NamedArea> out;
    if (!m_built.picture)
        return out;
    std::vector<const MapBox*> boxes;
    for (const MapBox& box : m_built.picture->boxes)
        boxes.push_back(&box);
    std::stable_sort(
        boxes.begin(), boxes.end(), [](const MapBox* a, const MapBox* b) { return a->width > b->width; });
    boxes.resize(std::min(boxes.size(), most));
    const QPointF corner = m_canvas->geometry().topLeft() + m_canvas->origin();
    for (const MapBox* box : boxes) {
        const SegmentView& segment = m_built.state->segments[box->segment];
        out.push_back({QPolygonF(QRectF(box->x, box->y, box->width, box->height).translated(corner)),
            pieceLine(m_session, *m_built.replay, segment, m_built.state->pieces[box->piece])});
    }
    return out;
}

void SegmentMapView::selectBox(std::size_t box)
{
    const Piece& piece = m_built.state->pieces[m_built.picture->boxes[box].piece];
    m_selecting = true;
    if (valid(piece.allocation)) {
        m_view.selectAllocation(piece.allocation);
    } else if (!showsPrediction()) { // holes of a prediction are nowhere else
        Selection selection;
        selection.kind = Selection::Kind::Hole;
        selection.address = piece.address;
        selection.size = piece.size;
        m_view.select(selection);
    }
    m_selecting = false;
}

void SegmentMapView::onClicked(const MapHit& hit)
{
    if (!m_built.picture)
        return;
    if (hit.box && !hit.edge) {
        selectBox(*hit.box);
        return;
    }
    if (!hit.segment || showsPrediction()) {
        m_view.clearSelection();
        return;
    }
    const SegmentView& segment = m_built.state->segments[*hit.segment];
    Selection selection;
    selection.kind = Selection::Kind::Segment;
    selection.address = segment.address;
    selection.size = segment.size;
    m_view.select(selection);
}

void SegmentMapView::onDoubleClicked(const MapHit& hit)
{
    if (m_built.picture && hit.segment)
        zoomToSegment(*hit.segment);
}

void SegmentMapView::zoomToSegment(std::uint32_t segment)
{
    const std::uint64_t size = m_built.state->segments[segment].size;
    const std::uint64_t address = m_built.state->segments[segment].address;
    // The segment fills a row; one that is longer than rows are already fills the height. Twice: back.
    const double pitch = m_built.options.rowHeight + m_built.options.rowGap;
    const auto rows = static_cast<std::uint64_t>(std::max(2.0, m_canvas->contentHeight() / pitch - 1));
    const std::uint64_t bytes
        = size <= m_built.picture->bytesPerRow ? size : std::max<std::uint64_t>(size / rows, 65536);
    const bool again = m_zoomedTo == address;
    setBytesPerRow(again ? 0 : bytes);
    if (!again)
        m_zoomedTo = address;
    refresh(true);
    const auto& segments = m_built.state->segments;
    const auto same = std::find_if(
        segments.begin(), segments.end(), [&](const SegmentView& each) { return each.address == address; });
    if (same != segments.end())
        m_canvas->showSegment(static_cast<std::uint32_t>(same - segments.begin()));
}

std::optional<std::size_t> SegmentMapView::selectedBox() const
{
    return m_built.picture ? boxOf(m_view.selection(), *m_built.state, *m_built.picture) : std::nullopt;
}

void SegmentMapView::walk(int direction)
{
    if (m_built.picture)
        walkTo(boxBeside(*m_built.picture, selectedBox(), direction));
}

void SegmentMapView::walkRows(int direction)
{
    if (const auto selected = selectedBox())
        walkTo(boxInNextRow(*m_built.picture, *selected, direction));
    else
        walk(direction);
}

void SegmentMapView::walkTo(std::optional<std::size_t> box)
{
    if (!box)
        return;
    selectBox(*box);
    m_canvas->showPiece(m_built.state->pieces[m_built.picture->boxes[*box].piece].address);
}

void SegmentMapView::walkSegments(int direction)
{
    if (!m_built.picture || m_built.picture->frames.empty())
        return;
    const auto& frames = m_built.picture->frames;
    const auto selected = selectedBox();
    std::size_t next = direction > 0 ? 0 : frames.size() - 1;
    if (selected) {
        const std::uint32_t segment = m_built.picture->boxes[*selected].segment;
        next = 0;
        while (next < frames.size() && frames[next].segment != segment)
            ++next;
        if (next == frames.size())
            return;
        while (frames[next].segment == segment) {
            if ((direction < 0 && next == 0) || (direction > 0 && next + 1 == frames.size()))
                return;
            next = direction < 0 ? next - 1 : next + 1;
        }
    }
    if (showsPrediction()) {
        m_canvas->showSegment(frames[next].segment);
        return;
    }
    const SegmentView& segment = m_built.state->segments[frames[next].segment];
    Selection selection;
    selection.kind = Selection::Kind::Segment;
    selection.address = segment.address;
    selection.size = segment.size;
    m_view.select(selection);
    m_canvas->showSegment(frames[next].segment);
}

} // namespace tidemark
