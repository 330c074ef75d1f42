// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/result.hpp"

#include <QBuffer>
#include <QByteArray>
#include <QPainter>
#include <QSize>
#include <QString>
#include <QSvgGenerator>
#include <QWidget>

#include <functional>
#include <optional>

/// What all pictures of views are made with. GUI thread.
namespace tidemark {

using Paint = std::function<void(QPainter&)>;

bool isVectorName(const QString& file);
/// The name ends in .png or .svg.
bool isPictureName(const QString& file);
Error wrongPictureName(const QString& file);

/// Replaces a file as a whole or not at all; what went wrong, if anything.
std::optional<Error> writeBytes(const QString& file, const QByteArray& bytes);
QByteArray rasterBytes(QSize size, double scale, const Paint& paint);
QByteArray vectorBytes(QSize size, const Paint& paint);
void prepareSvg(QSvgGenerator& generator, QBuffer& buffer, QSize size);

/// A widget draws itself at an offset, not through a moved painter.
void renderWidget(QWidget& view, QPainter& painter, int above);
/// Lays a view out at the picture's size without showing it.
void settle(QWidget& view, QSize size);

} // namespace tidemark
