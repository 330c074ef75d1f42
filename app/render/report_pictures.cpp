// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/render/report_pictures.hpp"

#include "app/render/picture.hpp"

#include <QFile>
#include <QSvgRenderer>
#include <QTemporaryDir>

#include <cmath>

namespace tidemark {

QSize reportPictureSize(bool paper)
{
    return paper ? QSize(760, 360) : QSize(1000, 420);
}

namespace {

/// Areas that cannot be seen, but say what they are of when the pointer is over them.
QByteArray withTooltips(QByteArray svg, const std::vector<NamedArea>& areas)
{
    svg.replace("\"Sans Serif\"", "\"system-ui, sans-serif\""); // no family of the web's
    // A title of the whole would be the tooltip of everything.
    const qsizetype title = svg.indexOf("<title>");
    const qsizetype titleEnd = svg.indexOf("</title>");
    if (title >= 0 && titleEnd > title)
        svg.remove(title, titleEnd + 8 - title);
    const qsizetype end = svg.lastIndexOf("</svg>");
    if (end < 0)
        return svg;
    QString group = QStringLiteral("<g fill=\"#000\" fill-opacity=\"0\" stroke=\"none\">\n");
    const auto number = [](double value) { return QString::number(std::round(value * 10) / 10); };
    for (const NamedArea& area : areas) {
        group += QStringLiteral("<path d=\"");
        for (qsizetype i = 0; i < area.outline.size(); ++i)
            group += (i == 0 ? QStringLiteral("M") : QStringLiteral("L")) + number(area.outline[i].x())
                + QLatin1Char(' ') + number(area.outline[i].y());
        group += QStringLiteral("Z\"><title>") + area.text.toHtmlEscaped()
            + QStringLiteral("</title></path>\n");
    }
    svg.insert(end, (group + QStringLiteral("</g>\n")).toUtf8());
    return svg;
}

} // namespace

std::vector<report::Picture> drawReportPictures(const report::PictureAsk& ask, bool paper)
{
    PictureRequest request;
    const char* id = nullptr;
    switch (ask.kind) {
    case report::PictureKind::Timeline:
        request.view = PictureView::Timeline;
        id = "timeline";
        break;
    case report::PictureKind::Segments:
        request.view = PictureView::Segments;
        id = "segments";
        break;
    default:
        return {};
    }
    request.size = reportPictureSize(paper);
    request.deviceIndex = ask.input.device;
    request.state = ask.state;
    request.applyLook = false;
    request.annotations = ask.input.annotations;
    request.input = ask.input.inputIndex;
    request.diagnosis = ask.input.diagnosis;
    request.cardBytes = ask.input.deviceTotal;
    request.trim = true;
    std::vector<NamedArea> areas;
    request.areas = paper ? nullptr : &areas;
    const QTemporaryDir folder;
    const QString name = folder.filePath(QLatin1String(id) + QStringLiteral(".svg"));
    QFile file(name);
    if (writePicture(ask.input.rank, request, name) || !file.open(QIODevice::ReadOnly))
        return {};
    report::Picture picture;
    picture.id = id;
    const QByteArray drawn = file.readAll();
    picture.data = (paper ? drawn : withTooltips(drawn, areas)).toStdString();
    const QSize size = QSvgRenderer(QByteArray::fromStdString(picture.data)).viewBox().size();
    picture.width = size.width();
    picture.height = size.height();
    return {std::move(picture)};
}

} // namespace tidemark
