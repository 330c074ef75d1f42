// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/render/picture.hpp"

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
#include <QFile>
#include <QImage>
#include <QLayout>
#include <QPainter>
#include <QSaveFile>
#include <QSvgGenerator>

#include <algorithm>
#include <cmath>
#include <functional>

namespace tidemark {

namespace {

using Paint = std::function<void(QPainter&)>;

Error failure(ErrorCode code, const QString& message)
{
    return {code, message.toStdString(), std::nullopt};
}

std::optional<Error> writeBytes(const QString& file, const QByteArray& bytes)
{
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly) || out.write(bytes) != bytes.size() || !out.commit())
        return failure(
            ErrorCode::Io, QStringLiteral("%1 cannot be written: %2.").arg(file, out.errorString()));
    return std::nullopt;
}

QByteArray rasterBytes(QSize size, double scale, const Paint& paint)
{
    QImage image((QSizeF(size) * scale).toSize(), QImage::Format_RGB32);
    image.setDevicePixelRatio(scale);
    image.fill(Qt::white);
    QPainter painter(&image);
    paint(painter);
    painter.end();
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    image.save(&buffer, "PNG");
    return bytes;
}

void prepareSvg(QSvgGenerator& generator, QBuffer& buffer, QSize size)
{
    generator.setOutputDevice(&buffer);
    generator.setResolution(96);
    generator.setSize(size);
    generator.setViewBox(QRect(QPoint(0, 0), size));
    generator.setTitle(QStringLiteral("Tidemark"));
}

QByteArray vectorBytes(QSize size, const Paint& paint)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    QSvgGenerator generator;
    prepareSvg(generator, buffer, size);
    QPainter painter(&generator);
    paint(painter);
    painter.end();
    return bytes;
}

/// Lays a view out at the picture's size without showing it.
void settle(QWidget& view, QSize size)
{
    view.setAttribute(Qt::WA_DontShowOnScreen);
    view.resize(size);
    view.show();
    QCoreApplication::sendPostedEvents();
    if (view.layout())
        view.layout()->activate();
    QCoreApplication::processEvents();
}

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
std::optional<Error> writeTimelinePicture(
    TimelineView& timeline, const Style& style, QSize size, double scale, const QString& file)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    if (file.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive)) {
        QSvgGenerator generator;
        prepareSvg(generator, buffer, size);
        timeline.renderTo(generator, size);
    } else {
        QImage image((QSizeF(size) * scale).toSize(), QImage::Format_RGB32);
        image.fill(style.color(Tone::Base));
        timeline.renderTo(image, size, scale);
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
        return failure(ErrorCode::Usage,
            QStringLiteral("%1: pictures are written as .png or .svg; end the name with one of them.")
                .arg(file));
    Style style;
    style.setChoice(request.dark ? ThemeChoice::Dark : ThemeChoice::Light);
    if (request.applyLook)
        style.applyTo(*qApp);
    Session session;
    ViewState view;
    session.setRank(std::move(rank));
    session.setDevice(request.deviceIndex);
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
    QSize size = request.size;
    const auto write = [&](const Paint& paint) {
        return writeBytes(file, vector ? vectorBytes(size, paint) : rasterBytes(size, request.scale, paint));
    };
    switch (request.view) {
    case PictureView::Timeline: {
        TimelineView timeline(session, view, style);
        timeline.setPalette(style.theme().palette());
        settle(timeline, request.size);
        return writeTimelinePicture(timeline, style, request.size, request.scale, file);
    }
    case PictureView::Segments: {
        SegmentMapView map(session, view, style);
        map.setForPicture();
        map.setPalette(style.theme().palette());
        settle(map, request.size);
        map.flush();
        if (const auto& picture = map.scene().picture; request.trim && picture) {
            const int spare = map.canvas().contentHeight() - static_cast<int>(std::ceil(picture->height));
            size.setHeight(size.height() - std::max(0, spare));
            settle(map, size);
            map.flush();
        }
        return write([&](QPainter& painter) { map.renderTo(painter, ratio); });
    }
    case PictureView::Live: {
        LiveTableView table(session, view, style);
        table.setForPicture();
        settle(table, request.size);
        table.flush();
        QCoreApplication::processEvents();
        return write([&](QPainter& painter) { table.render(&painter); });
    }
    case PictureView::Details: {
        DetailsView details(session, view, style);
        details.setForPicture();
        settle(details, request.size);
        details.flush();
        QCoreApplication::processEvents();
        return write([&](QPainter& painter) { details.render(&painter); });
    }
    case PictureView::Tree: {
        CallTreeView tree(session, view, style);
        settle(tree, request.size);
        tree.source().flush();
        QCoreApplication::processEvents();
        return write([&](QPainter& painter) { tree.render(&painter); });
    }
    case PictureView::Flame: {
        FlameView flame(session, view, style);
        settle(flame, request.size);
        flame.flush();
        return write([&](QPainter& painter) { flame.renderTo(painter, ratio); });
    }
    case PictureView::Events: {
        EventsView events(session, view, style);
        settle(events, request.size);
        QCoreApplication::processEvents();
        return write([&](QPainter& painter) { events.render(&painter); });
    }
    case PictureView::Growth: {
        GrowthView growth(session, view, style);
        settle(growth, request.size);
        while (growth.busy())
            QCoreApplication::processEvents();
        QCoreApplication::processEvents();
        return write([&](QPainter& painter) { growth.render(&painter); });
    }
    }
    return std::nullopt;
}

} // namespace tidemark
