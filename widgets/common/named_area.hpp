// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPolygonF>
#include <QString>

namespace tidemark {

/// A part of a picture with what a tooltip says of it, in logical pixels of the picture.
struct NamedArea {
    QPolygonF outline;
    QString text;
};

} // namespace tidemark
