// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/render/picture_tools.hpp"

#include <QCoreApplication>
#include <QImage>
#include <QLayout>
#include <QSaveFile>

namespace tidemark {

bool isVectorName(const QString& file)
{
    return file.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive);
}

bool isPictureName(const QString& file)
{
    return isVectorName(file) || file.endsWith(QLatin1String(".png"), Qt::CaseInsensitive);
}

Error wrongPictureName(const QString& file)
{
    return {ErrorCode::Usage,
        QStringLiteral("%1: pictures are written as .png or .svg; end the name with one of them.")
            .arg(file)
            .toStdString(),
        std::nullopt};
}

std::optional<Error> writeBytes(const QString& file, const QByteArray& bytes)
{
    QSaveFile out(file);
    if (!out.open(QIODevice::WriteOnly) || out.write(bytes) != bytes.size() || !out.commit())
        return Error{ErrorCode::Io,
            QStringLiteral("%1 cannot be written: %2.").arg(file, out.errorString()).toStdString(),
            std::nullopt};
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

void renderWidget(QWidget& view, QPainter& painter, int above)
{
    painter.translate(0, -above);
    view.render(&painter, QPoint(0, above));
}

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

} // namespace tidemark
