// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/render/picture.hpp"

#include "app/render/picture_tools.hpp"
#include "widgets/details/details_view.hpp"
#include "widgets/events/events_view.hpp"
#include "widgets/growth/growth_view.hpp"
#include "widgets/live/live_table_view.hpp"
#include "widgets/segments/segment_map_view.hpp"
#include "widgets/session.hpp"
#include "widgets/style/style.hpp"
#include "widgets/timeline/timeline_view.hpp"
#include "widgets/tree/call_tree_view.hpp"
#include "widgets/tree/flame_view.hpp"
#include "widgets/view_state.hpp"

#include <QApplication>
#include <QBuffer>
#include <QImage>
#include <QPainter>
#include <QSvgGenerator>

#include <algorithm>
#include <cmath>
#include <functional>

namespace tidemark {

namespace {

constexpr std::size_t mostAreas = 1500; // of a segment map with a tooltip

void selectAt(const PictureRequest& request, const Replay& replay, ViewState& view)
{
    AllocationId id = AllocationId::none;
    if (request.address)
        id = replay.timeline.findLive(*request.address, view.cursor());
    else if (request.view == PictureView::Details)
        // A sheet of something: the largest block there is.
        for (const AllocationId each : replay.timeline.liveAt(view.cursor()))
            if (!valid(id)
                || replay.timeline.allocations().size[index(each)]
                    > replay.timeline.allocations().size[index(id)])
                id = each;
    if (valid(id))
        view.selectAllocation(id);
}

} // namespace

std::optional<PictureView> pictureViewFromName(std::string_view name)
{
    if (name == "timeline")
        return PictureView::Timeline;
    if (name == "segments")
        return PictureView::Segments;
    if (name == "live")
        return PictureView::Live;
    if (name == "details")
        return PictureView::Details;
    if (name == "tree")
        return PictureView::Tree;
    if (name == "flame")
        return PictureView::Flame;
    if (name == "events")
        return PictureView::Events;
    if (name == "growth")
        return PictureView::Growth;
    return std::nullopt;
}

// The timeline paints on devices itself.
std::optional<Error> writeTimelinePicture(TimelineView& timeline, const Style& style, QSize size,
    double scale, const QString& file, const PictureTitle* title, std::vector<NamedArea>* areas)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    const int above = title ? PictureTitle::height(style) : 0;
    const QSize view(size.width(), std::max(1, size.height() - above));
    std::function<void(QPainter&)> paintTitle;
    if (title)
        paintTitle = [&](QPainter& painter) { title->paint(painter, style, size.width()); };
    if (file.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive)) {
        QSvgGenerator generator;
        prepareSvg(generator, buffer, size);
        timeline.renderTo(generator, view, 1, paintTitle, above, areas);
    } else {
        QImage image((QSizeF(size) * scale).toSize(), QImage::Format_RGB32);
        image.fill(style.color(Tone::Base));
        timeline.renderTo(image, view, scale, paintTitle, above);
        buffer.open(QIODevice::WriteOnly);
        image.save(&buffer, "PNG");
    }
    return writeBytes(file, bytes);
}

std::optional<Error> writePicture(
    std::shared_ptr<const Rank> rank, const PictureRequest& request, const QString& file)
{
    const bool vector = file.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive);
    if (!vector && !file.endsWith(QLatin1String(".png"), Qt::CaseInsensitive))
        return wrongPictureName(file);
    Style style;
    style.setChoice(request.dark ? ThemeChoice::Dark : ThemeChoice::Light);
    if (request.applyLook)
        style.applyTo(*qApp);
    Session session;
    ViewState view;
    session.setRank(std::move(rank));
    session.setDevice(request.deviceIndex);
    session.setCardSize(request.cardBytes);
    if (request.diagnosis)
        session.setDiagnosis(request.diagnosis);
    if (const auto replay = session.replay()) {
        view.reset(replay->states(), request.state.value_or(replay->timeline.requested().total().maxState));
        if (request.range)
            view.setWindow({static_cast<double>(request.range->first), request.range->second + 1.0});
        const auto& stacks = replay->timeline.allocations().stack;
        if (std::none_of(stacks.begin(), stacks.end(),
                [&](StackId stack) { return valid(session.sites()->of(stack)); }))
            view.setColourBy(ColourBy::Size);
        selectAt(request, *replay, view);
    }
    const double ratio = vector ? 1 : request.scale;
    NotesState notes;
    notes.reset(request.annotations);
    const PictureTitle title = PictureTitle::of(session, view.cursor());
    const int above = request.title ? PictureTitle::height(style) : 0;
    const QSize room(request.size.width(), std::max(1, request.size.height() - above));
    QSize size = request.size;
    const auto write = [&](const Paint& paint) {
        const Paint whole = [&](QPainter& painter) {
            if (request.title)
                title.paint(painter, style, request.size.width());
            painter.translate(0, above);
            paint(painter);
        };
        return writeBytes(file, vector ? vectorBytes(size, whole) : rasterBytes(size, request.scale, whole));
    };
    switch (request.view) {
    case PictureView::Timeline: {
        TimelineView timeline(session, view, style);
        timeline.setNotes(notes, {"timeline", request.input});
        timeline.setPalette(style.theme().palette());
        settle(timeline, room);
        return writeTimelinePicture(timeline, style, request.size, request.scale, file,
            request.title ? &title : nullptr, request.areas);
    }
    case PictureView::Segments: {
        SegmentMapView map(session, view, style);
        map.setForPicture();
        map.setNotes(notes, {"segments", request.input});
        map.setPalette(style.theme().palette());
        settle(map, room);
        map.flush();
        if (const auto& picture = map.scene().picture; request.trim && picture) {
            const int spare = map.canvas().contentHeight() - static_cast<int>(std::ceil(picture->height));
            size.setHeight(size.height() - std::max(0, spare));
            settle(map, QSize(size.width(), std::max(1, size.height() - above)));
            map.flush();
        }
        if (request.areas)
            *request.areas = map.areas(mostAreas);
        return write([&](QPainter& painter) { map.renderTo(painter, ratio); });
    }
    case PictureView::Live: {
        LiveTableView table(session, view, style);
        table.setForPicture();
        settle(table, room);
        table.flush();
        QCoreApplication::processEvents();
        return write([&](QPainter& painter) { renderWidget(table, painter, above); });
    }
    case PictureView::Details: {
        DetailsView details(session, view, style);
        details.setForPicture();
        settle(details, room);
        details.flush();
        QCoreApplication::processEvents();
        return write([&](QPainter& painter) { renderWidget(details, painter, above); });
    }
    case PictureView::Tree: {
        CallTreeView tree(session, view, style);
        settle(tree, room);
        tree.source().flush();
        QCoreApplication::processEvents();
        return write([&](QPainter& painter) { renderWidget(tree, painter, above); });
    }
    case PictureView::Flame: {
        FlameView flame(session, view, style);
        settle(flame, room);
        flame.flush();
        return write([&](QPainter& painter) { flame.renderTo(painter, ratio); });
    }
    case PictureView::Events: {
        EventsView events(session, view, style);
        settle(events, room);
        QCoreApplication::processEvents();
        return write([&](QPainter& painter) { renderWidget(events, painter, above); });
    }
    case PictureView::Growth: {
        GrowthView growth(session, view, style);
        settle(growth, room);
        while (growth.busy())
            QCoreApplication::processEvents();
        QCoreApplication::processEvents();
        return write([&](QPainter& painter) { renderWidget(growth, painter, above); });
    }
    }
    return std::nullopt;
}

} // namespace tidemark
