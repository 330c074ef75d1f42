// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/style/theme.hpp"

#include <QHash>
#include <QIcon>
#include <QPixmap>
#include <QString>

namespace tidemark {

/// Draws the one-colour icons of resources/icons in any colour at any size and device ratio, and remembers
/// what it drew. GUI thread.
class IconRenderer {
public:
    /// `sizePixels` are device pixels. `paper` replaces the white parts of the severity icons. An unknown
    /// name gives a null pixmap.
    QPixmap render(const QString& name, QRgb ink, QRgb paper, int sizePixels);

private:
    QHash<QString, QByteArray> m_sources;
    QHash<QString, QPixmap> m_pixmaps;
};

} // namespace tidemark
