// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/style/icons.hpp"

#include <QFile>
#include <QPainter>
#include <QSvgRenderer>

namespace tidemark {

QPixmap IconRenderer::render(const QString& name, QRgb ink, QRgb paper, int sizePixels)
{
    const QString key
        = QStringLiteral("%1/%2/%3/%4").arg(name).arg(ink, 0, 16).arg(paper, 0, 16).arg(sizePixels);
    if (const auto known = m_pixmaps.constFind(key); known != m_pixmaps.constEnd())
        return *known;

    auto source = m_sources.constFind(name);
    if (source == m_sources.constEnd()) {
        QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
        source = m_sources.insert(name, file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray());
    }
    if (source->isEmpty() || sizePixels <= 0)
        return {};

    QByteArray svg = *source;
    // Paper first: an ink of #ffffff begins like the white that paper replaces.
    svg.replace("#fff", QColor(paper).name().toLatin1());
    svg.replace("currentColor", QColor(ink).name().toLatin1());
    QSvgRenderer renderer(svg);
    QPixmap pixmap(sizePixels, sizePixels);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    renderer.render(&painter);
    painter.end();
    m_pixmaps.insert(key, pixmap);
    return pixmap;
}

} // namespace tidemark
