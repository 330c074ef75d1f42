// SPDX-License-Identifier: GPL-3.0-or-later
// Clicks on the legend: what TimelineInput makes of them.
#include "model/lens/filter.hpp"
#include "widgets/style/text.hpp"
#include "widgets/timeline/timeline_input.hpp"
#include "widgets/timeline/timeline_painters.hpp"
#include "widgets/timeline/timeline_view.hpp"

#include <QMenu>

namespace tidemark {

void TimelineInput::clickLegend(const QPointF& pos, Qt::KeyboardModifiers modifiers)
{
    for (const LegendPlace& place : legendPlaces(m_scene)) {
        if (!place.box.contains(pos))
            continue;
        if (place.item >= 0) {
            chooseLegendItem(place.item, modifiers);
            return;
        }
        QMenu menu(&m_canvas);
        for (const int item : place.hidden) {
            const LegendItem& entry = m_scene.colouring->legend[static_cast<std::size_t>(item)];
            menu.addAction(
                QIcon(m_scene.style.swatch(entry.slot, m_scene.colouring->sequential, m_scene.ratio)),
                QString::fromStdString(entry.text), this, [=, this] { chooseLegendItem(item, modifiers); });
        }
        menu.exec(m_canvas.mapToGlobal(place.box.bottomLeft().toPoint()));
        return;
    }
}

QString TimelineInput::searchText(const LegendItem& entry, std::uint32_t group, GroupBy kind) const
{
    if (kind == GroupBy::Site)
        return QString::fromStdString(filterTerm("site:", entry.text));
    if (kind == GroupBy::Label)
        return QString::fromStdString(filterTerm("label:", entry.text));
    if (kind == GroupBy::Role)
        return QString::fromStdString(filterTerm("role:", entry.text));
    const Snapshot& snapshot = *m_scene.replay->snapshot;
    const AllocationColumns& all = m_scene.replay->timeline.allocations();
    const auto grouping = m_scene.session.grouping(kind);
    for (std::uint32_t i = 0; i < all.count(); ++i) {
        if (grouping->of(static_cast<AllocationId>(i)) != group)
            continue;
        if (kind == GroupBy::Stream && valid(all.stream[i]))
            return QStringLiteral("stream:%1").arg(snapshot.streams[index(all.stream[i])]);
        if (kind == GroupBy::Pool && valid(all.pool[i])) {
            const auto& [first, second] = snapshot.pools[index(all.pool[i])];
            return QStringLiteral("pool:(%1,%2)").arg(first).arg(second);
        }
        if (kind == GroupBy::Size) {
            const auto [from, to] = sizeClassBounds(sizeClass(all.size[i]));
            QString text = QStringLiteral("size>=%1").arg(from);
            if (to)
                text += QStringLiteral(" size<%1").arg(*to);
            return text;
        }
        break;
    }
    return {};
}

void TimelineInput::chooseLegendItem(int item, Qt::KeyboardModifiers modifiers)
{
    const LegendItem& entry = m_scene.colouring->legend[static_cast<std::size_t>(item)];
    const auto group = legendGroup(entry);
    const auto kind = m_scene.groupKind();
    if (!group || !kind)
        return;
    if (!m_scene.session.isPrepared({{*kind}, {}})) {
        m_scene.session.prepare(*this, {{*kind}, {}}, [=, this, of = m_scene.colouring] {
            if (of == m_scene.colouring)
                chooseLegendItem(item, modifiers);
        });
        return;
    }
    if (modifiers & Qt::ControlModifier) {
        const QString text = searchText(entry, *group, *kind);
        if (!text.isEmpty())
            emit m_scene.state.searchRequested(text);
        return;
    }
    Selection selection;
    selection.kind = Selection::Kind::Group;
    selection.group = *group;
    selection.groupBy = *kind;
    if (m_scene.state.selection() == selection)
        m_scene.state.clearSelection();
    else
        m_scene.state.select(selection);
}

} // namespace tidemark
