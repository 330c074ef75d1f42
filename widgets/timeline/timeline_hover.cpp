// SPDX-License-Identifier: GPL-3.0-or-later
// The half of TimelineInput that says what is under the pointer.
#include "widgets/style/text.hpp"
#include "widgets/timeline/timeline_input.hpp"
#include "widgets/timeline/timeline_painters.hpp"

#include <QToolTip>
#include <QWidget>

#include <algorithm>
#include <cmath>

namespace tidemark {

void TimelineInput::hover(const QPointF& pos)
{
    m_hover = pos;
    shapeCursor(pos);
    const std::uint32_t id = m_scene.replay ? m_scene.idAt(pos) : pixel::empty;
    m_scene.state.setHovered(id == pixel::empty ? AllocationId::none : AllocationId{id});
    emit m_scene.state.hoverTextChanged(hoverText());
    if (QToolTip::isVisible())
        QToolTip::hideText();
    m_tip.start();
}

void TimelineInput::refreshHover()
{
    if (m_hover && m_drag == Drag::None)
        emit m_scene.state.hoverTextChanged(hoverText());
}

void TimelineInput::forgetHover()
{
    m_hover.reset();
    m_tip.stop();
    m_scene.state.setHovered(AllocationId::none);
    emit m_scene.state.hoverTextChanged(scaleText());
}

void TimelineInput::showTip()
{
    if (!m_hover || m_drag != Drag::None || !m_canvas.underMouse())
        return;
    const QString text = tipText();
    if (!text.isEmpty())
        QToolTip::showText(m_canvas.mapToGlobal(m_hover->toPoint()), text, &m_canvas);
}

// "1 column = 19.4 events, 1 row = 80.9 MiB".
QString TimelineInput::scaleText() const
{
    if (!m_scene.source || m_scene.empty())
        return {};
    const TimelineWindow w = m_scene.window();
    const double perColumn = (w.right - w.left) / w.width;
    const auto number = [](double v) { return QString::number(v, 'f', v < 100 ? 1 : 0); };
    QString column;
    if (m_scene.scale.knots())
        column = perColumn >= 1 ? tr("1 column = %1 steps").arg(number(perColumn))
                                : tr("1 step = %1 columns").arg(number(1 / perColumn));
    else if (m_scene.scale.time())
        column = perColumn >= 1 ? tr("1 column = %1").arg(durationText(std::llround(perColumn)))
                                : tr("1 µs = %1 columns").arg(number(1 / perColumn));
    else
        column = perColumn >= 1 ? tr("1 column = %1 events").arg(number(perColumn))
                                : tr("1 event = %1 columns").arg(number(1 / perColumn));
    return tr("%1, 1 row = %2")
        .arg(column, bytesText(static_cast<std::int64_t>(std::llround(m_scene.bytesPerRow()))));
}

QString TimelineInput::hoverText() const
{
    QStringList parts;
    const QPointF pos = m_hover.value_or(QPointF(-1, -1));
    const Area area = areaAt(pos);
    if (area == Area::Plot || area == Area::Axis || area == Area::Pools) {
        const StateIndex state = m_scene.stateShownAt(pos.x());
        const std::uint32_t id = m_scene.idAt(pos);
        if (id != pixel::empty && m_scene.replay)
            parts << m_scene.idName(id) + QStringLiteral("  ")
                    + bytesText(m_scene.replay->timeline.allocations().size[id]);
        else if (id != pixel::empty)
            parts << m_scene.idName(id);
        parts << m_scene.stateName(state);
        if (const QString time = m_scene.stateTime(state); !time.isEmpty())
            parts << time;
        parts << tr("live %1").arg(bytesText(m_scene.source->requested().at(state)));
    } else if (area == Area::Lanes) {
        if (const auto item = laneItemAt(m_scene, pos))
            parts << item->name;
    } else if (area == Area::Finding) {
        const StateIndex state = m_scene.stateShownAt(pos.x());
        parts << shownText(m_scene.finding.finding->title)
              << tr("%1 of it live at %2")
                     .arg(bytesText(m_scene.finding.bytes->at(state)), m_scene.stateName(state));
    }
    if (const QString scale = scaleText(); !scale.isEmpty())
        parts << scale;
    return parts.join(QStringLiteral(" · "));
}

QString TimelineInput::tipText() const
{
    const QPointF pos = *m_hover;
    const QString line = QStringLiteral("<br>");
    switch (areaAt(pos)) {
    case Area::Plot: {
        const std::uint32_t id = m_scene.idAt(pos);
        if (id == pixel::empty)
            return {};
        if (m_scene.replay)
            return allocationTip(AllocationId{id});
        const StateIndex state = m_scene.stateShownAt(pos.x());
        const auto& bytes = m_scene.rank->snapshot->categories->bytes[id];
        const std::int64_t here = state < bytes.size() ? bytes[state] : 0;
        return QStringLiteral("<b>%1</b><br>%2 (%3)<br>%4")
            .arg(m_scene.idName(id).toHtmlEscaped(), bytesText(here), exactBytesText(here),
                m_scene.stateTime(state));
    }
    case Area::Lanes: {
        const auto item = laneItemAt(m_scene, pos);
        return item ? laneTip(*item) : QString();
    }
    case Area::Finding:
        return findingTip(m_scene.stateShownAt(pos.x()));
    case Area::Legend:
        for (const LegendPlace& place : legendPlaces(m_scene))
            if (place.item >= 0 && place.box.contains(pos)) {
                const LegendItem& item = m_scene.colouring->legend[static_cast<std::size_t>(place.item)];
                const QString name = shownText(item.text).toHtmlEscaped();
                if (!legendGroup(item) || !m_scene.groupKind())
                    return name;
                return name + line + tr("Click: select · Ctrl+click: search");
            }
        return {};
    case Area::Overview:
        return tr("The whole trace. Drag the box or its edges; double click shows everything");
    default:
        return {};
    }
}

QString TimelineInput::laneTip(const LaneItem& item) const
{
    const QString line = QStringLiteral("<br>");
    QString text = QStringLiteral("<b>%1</b>").arg(item.name.toHtmlEscaped()) + line
        + tr("%1 → %2").arg(m_scene.stateName(item.first), m_scene.stateName(item.last));
    if (item.lengthUs)
        text += QStringLiteral(" · ") + durationText(*item.lengthUs);
    if (!item.note.isEmpty())
        text += line + item.note.toHtmlEscaped();
    if (item.open)
        text += line + tr("its other end is not in the file");
    return text;
}

QString TimelineInput::findingTip(StateIndex state) const
{
    const QString line = QStringLiteral("<br>");
    const Series& bytes = *m_scene.finding.bytes;
    const Series::Extremes most = bytes.total();
    return QStringLiteral("<b>%1</b>").arg(shownText(m_scene.finding.finding->title).toHtmlEscaped()) + line
        + tr("%1 (%2) of it live at %3")
              .arg(bytesText(bytes.at(state)), exactBytesText(bytes.at(state)), m_scene.stateName(state))
        + line + tr("most %1 at %2").arg(bytesText(most.max), m_scene.stateName(most.maxState));
}

QString TimelineInput::allocationTip(AllocationId id) const
{
    const Timeline& timeline = m_scene.replay->timeline;
    const AllocationColumns& all = timeline.allocations();
    const std::size_t i = index(id);
    const QString line = QStringLiteral("<br>");
    QString text
        = QStringLiteral("<b>%1</b>").arg(m_scene.idName(static_cast<std::uint32_t>(i)).toHtmlEscaped())
        + line + QStringLiteral("%1 (%2)").arg(bytesText(all.size[i]), exactBytesText(all.size[i]));
    const bool predating = all.origin[i] != Origin::Traced;
    const bool ends = timeline.endEvent(id).has_value();
    const QString from = predating ? tr("before recording") : m_scene.stateName(all.firstState[i]);
    const QString to = ends ? m_scene.stateNumber(all.endState[i]) : tr("end");
    text += line + from + QStringLiteral(" → ") + to;
    if (!ends)
        text += QStringLiteral(" · ") + tr("alive at the end of the file");
    else if (!predating && m_scene.source->hasTimes())
        text += QStringLiteral(" · ")
            + durationText(static_cast<std::int64_t>(
                m_scene.source->timeOf(all.endState[i]) - m_scene.source->timeOf(all.firstState[i])));
    const StateIndex here = m_scene.stateShownAt(m_hover->x());
    if (all.pendingState[i] <= here && here < all.endState[i])
        text += line + tr("freed, waiting for a stream");
    const double perRow = m_scene.bytesPerRow();
    const double low
        = m_scene.top - std::floor((m_hover->y() - m_scene.geometry.plot.top()) * m_scene.ratio + 1) * perRow;
    const std::size_t sharing
        = m_scene.source->countWithin(m_scene.colouring, m_scene.state.stackOrder(), here, low, low + perRow);
    if (sharing > 1)
        text += line
            + tr("%1 allocations share this row of %2")
                  .arg(countText(static_cast<std::int64_t>(sharing)),
                      bytesText(static_cast<std::int64_t>(std::llround(perRow))));
    return text;
}

} // namespace tidemark
