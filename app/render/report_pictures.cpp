// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/render/report_pictures.hpp"

#include "app/render/picture.hpp"

#include <QFile>
#include <QSvgRenderer>
#include <QTemporaryDir>

namespace tidemark {

QSize reportPictureSize(bool paper)
{
    return paper ? QSize(760, 360) : QSize(1000, 420);
}

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
    const QTemporaryDir folder;
    const QString name = folder.filePath(QLatin1String(id) + QStringLiteral(".svg"));
    QFile file(name);
    if (writePicture(ask.input.rank, request, name) || !file.open(QIODevice::ReadOnly))
        return {};
    report::Picture picture;
    picture.id = id;
    picture.data = file.readAll().toStdString();
    const QSize size = QSvgRenderer(QByteArray::fromStdString(picture.data)).viewBox().size();
    picture.width = size.width();
    picture.height = size.height();
    return {std::move(picture)};
}

} // namespace tidemark
