// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/render/picture_title.hpp"

#include "widgets/common/moment_text.hpp"
#include "widgets/common/plot_text.hpp"
#include "widgets/style/text.hpp"

#include <QCoreApplication>
#include <QFontMetricsF>

#include <algorithm>

namespace tidemark {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("Picture", text);
}

} // namespace

PictureTitle PictureTitle::of(const Session& session, StateIndex state)
{
    PictureTitle title;
    if (!session.rank())
        return title;
    title.name = shownText(session.rank()->snapshot->source.name);
    const auto replay = session.replay();
    if (!replay)
        return title;
    title.name += QStringLiteral(" · ") + QString::fromStdString(deviceName(replay->device().ordinal));
    const StateIndex at = std::min(state, replay->states() - 1);
    title.figures
        = atMomentText(*replay, at) + tr(": live ") + bytesText(replay->timeline.requested().at(at));
    if (replay->segments.reservedKnown())
        title.figures += tr(", reserved ") + bytesText(replay->segments.reserved().at(at));
    return title;
}

int PictureTitle::height(const Style& style)
{
    return style.metrics().px(28);
}

void PictureTitle::paint(QPainter& painter, const Style& style, int width) const
{
    const int tall = height(style);
    const int pad = style.metrics().padding;
    painter.fillRect(0, 0, width, tall, style.color(Tone::Base));
    painter.fillRect(0, tall - 1, width, 1, style.color(Tone::Line2));
    const QFont strong = style.font(FontRole::Strong);
    const QFont small = style.font(FontRole::Small);
    const double room = width - 3.0 * pad;
    // The figures stay whole where both do not fit.
    const double figureRoom = std::min(room, QFontMetricsF(small).horizontalAdvance(figures) + 1);
    const QString shortName
        = QFontMetricsF(strong).elidedText(name, Qt::ElideMiddle, std::max(0.0, room - figureRoom));
    painter.setFont(strong);
    drawText(painter, textBox(strong, shortName, QPointF(pad, tall / 2.0), TextSide::Left), shortName,
        style.color(Tone::Text));
    const QString shown = QFontMetricsF(small).elidedText(figures, Qt::ElideRight, figureRoom);
    painter.setFont(small);
    drawText(painter, textBox(small, shown, QPointF(width - pad, tall / 2.0), TextSide::Right), shown,
        style.color(Tone::Text2));
}

} // namespace tidemark
