// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/colouring.hpp"

#include "model/core/units.hpp"
#include "model/lens/group_maxima.hpp"

#include <algorithm>
#include <array>

namespace tidemark {

namespace {

/// " other site", " other sites".
struct Noun {
    const char* one;
    const char* many;
};

constexpr std::size_t categorySlots = 12;
constexpr std::uint32_t noGroup = 0xffffffffU;

/// Steps of a life's share of the trace, each four times the one before.
constexpr std::array<const char*, sizeClasses> ageNames{"lives below 0.02 % of the trace", "0.02 to 0.1 %",
    "0.1 to 0.4 %", "0.4 to 1.6 %", "1.6 to 6.3 %", "6.3 to 25 %", "25 % of the trace and more"};

std::uint8_t ageStep(StateIndex first, StateIndex end, StateIndex states)
{
    const std::uint64_t life = end - first;
    std::uint8_t step = 6;
    for (std::uint64_t scaled = life * 4; step > 0 && scaled < states; scaled *= 4)
        --step;
    return step;
}

/// What a segment is made for, as a group number.
enum class KindGroup : std::uint32_t { Small, Large, Expandable, Private, Unknown };

constexpr std::array<const char*, 5> kindNames{
    "small-pool segments", "large-pool segments", "expandable segments", "private pools", "segment unknown"};

KindGroup kindGroup(const SegmentRange& range)
{
    if (range.pool != PoolId{0})
        return KindGroup::Private;
    if (range.expandable)
        return KindGroup::Expandable;
    switch (range.kind) {
    case SegmentKind::Small:
        return KindGroup::Small;
    case SegmentKind::Large:
        return KindGroup::Large;
    case SegmentKind::Unknown:
        break;
    }
    return KindGroup::Unknown;
}

class Colourer {
public:
    Colourer(const Replay& replay, ColourBy by)
        : m_replay(replay)
        , m_columns(replay.timeline.allocations())
        , m_out(std::make_shared<Colouring>())
    {
        m_out->by = by;
        m_out->slotOf.resize(m_columns.count());
    }

    std::shared_ptr<const Colouring> finish()
    {
        if (m_replay.timeline.delayedFrees() > 0)
            m_out->legend.push_back({colourSlot::waiting, "waiting for a stream", noGroup});
        return m_out;
    }

    /// Colours the user's rules ask for, by group; those of the rest go round them.
    using Chosen = std::vector<std::optional<std::uint8_t>>;

    void byGrouping(const Grouping& grouping, Noun noun, const Chosen& chosen = {})
    {
        std::vector<std::uint32_t> groupOf(m_columns.count());
        for (std::uint32_t id = 0; id < m_columns.count(); ++id)
            groupOf[id] = grouping.of(AllocationId{id});
        const std::vector<std::uint8_t> slots = rank(
            groupOf, grouping.count(), [&](std::uint32_t g) { return !grouping.predating(g); },
            [&](std::uint32_t g) { return grouping.name(g); }, noun, chosen);
        bool stays = false;
        bool freed = false;
        for (std::uint32_t id = 0; id < m_columns.count(); ++id) {
            if (!grouping.predating(groupOf[id])) {
                m_out->slotOf[id] = slots[groupOf[id]];
                continue;
            }
            const bool end = m_columns.endState[id] == m_replay.states();
            m_out->slotOf[id] = end ? colourSlot::predatingStays : colourSlot::predatingFreed;
            (end ? stays : freed) = true;
        }
        if (stays)
            m_out->legend.push_back({colourSlot::predatingStays, "before recording, stays", noGroup});
        if (freed)
            m_out->legend.push_back({colourSlot::predatingFreed, "before recording, freed later", noGroup});
    }

    void byLabel(const Grouping& modules, const Labels* labels)
    {
        Chosen chosen(modules.count());
        const std::size_t own = labels != nullptr ? labels->rules->own() : 0;
        for (std::uint32_t group = 0; own > 0 && group < modules.count(); ++group)
            for (std::size_t rule = 0; rule < own && !chosen[group]; ++rule)
                if (labels->rules->rules()[rule].label == modules.name(group))
                    chosen[group] = labels->rules->rules()[rule].colour;
        byGrouping(modules, {" other module", " other modules"}, chosen);
    }

    void bySegmentKind()
    {
        const std::span<const SegmentRange> ranges = m_replay.segments.ranges();
        std::vector<KindGroup> kindOf;
        for (const SegmentRange& range : ranges) {
            if (index(range.id) >= kindOf.size())
                kindOf.resize(index(range.id) + 1, KindGroup::Unknown);
            kindOf[index(range.id)] = kindGroup(range);
        }
        std::vector<std::uint32_t> groupOf(m_columns.count());
        for (std::uint32_t id = 0; id < m_columns.count(); ++id) {
            const SegmentId segment = m_replay.segments.segmentOf(AllocationId{id});
            const KindGroup kind = valid(segment) && index(segment) < kindOf.size() ? kindOf[index(segment)]
                                                                                    : KindGroup::Unknown;
            groupOf[id] = static_cast<std::uint32_t>(kind);
        }
        const std::vector<std::uint8_t> slots = rank(
            groupOf, kindNames.size(), [](std::uint32_t) { return true; },
            [](std::uint32_t g) { return std::string(kindNames[g]); }, {" other kind", " other kinds"});
        for (std::uint32_t id = 0; id < m_columns.count(); ++id)
            m_out->slotOf[id] = slots[groupOf[id]];
        for (LegendItem& item : m_out->legend)
            item.group = noGroup;
    }

    void bySize(const Grouping& sizes)
    {
        m_out->sequential = true;
        std::array<std::uint32_t, sizeClasses> groupOf;
        groupOf.fill(noGroup);
        for (std::uint32_t id = 0; id < m_columns.count(); ++id) {
            const std::uint32_t step = sizeClass(m_columns.size[id]);
            m_out->slotOf[id] = static_cast<std::uint8_t>(step);
            groupOf[step] = sizes.of(AllocationId{id});
        }
        for (std::uint32_t step = 0; step < sizeClasses; ++step)
            m_out->legend.push_back({static_cast<std::uint8_t>(step), sizeClassName(step), groupOf[step]});
    }

    void byAge()
    {
        m_out->sequential = true;
        for (std::uint32_t id = 0; id < m_columns.count(); ++id)
            m_out->slotOf[id] = ageStep(m_columns.firstState[id], m_columns.endState[id], m_replay.states());
        for (std::uint8_t step = 0; step < ageNames.size(); ++step)
            m_out->legend.push_back({step, ageNames[step], noGroup});
    }

private:
    /// Slots of groups by their own maxima, and the legend for them.
    template <typename Eligible, typename Name>
    std::vector<std::uint8_t> rank(const std::vector<std::uint32_t>& groupOf, std::size_t groups,
        Eligible eligible, Name name, Noun noun, const Chosen& chosen = {})
    {
        const std::vector<std::uint64_t> most = groupMaxima(m_replay.timeline, groupOf, groups);
        std::vector<std::uint8_t> used(groups, 0);
        for (const std::uint32_t group : groupOf)
            used[group] = 1;
        std::vector<std::uint32_t> order;
        for (std::uint32_t group = 0; group < groups; ++group)
            if (used[group] != 0 && eligible(group))
                order.push_back(group);
        const auto wish = [&](std::uint32_t g) { return g < chosen.size() ? chosen[g] : std::nullopt; };
        // Chosen colours are not given to others while there are free ones.
        std::vector<std::uint8_t> free;
        std::array<bool, categorySlots> taken{};
        for (const std::uint32_t group : order)
            if (const auto slot = wish(group))
                taken[*slot] = true;
        for (std::uint8_t slot = 0; slot < categorySlots; ++slot)
            if (!taken[slot])
                free.push_back(slot);
        std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
            return most[a] != most[b] ? most[a] > most[b] : name(a) < name(b);
        });
        std::vector<std::uint8_t> slots(groups, colourSlot::other);
        std::size_t shown = 0;
        for (std::size_t next = 0; const std::uint32_t group : order) {
            const auto slot = wish(group);
            if (!slot && next == free.size())
                continue;
            slots[group] = slot ? *slot : free[next++];
            m_out->legend.push_back({slots[group], name(group), group});
            ++shown;
        }
        if (const std::size_t rest = order.size() - shown; rest > 0)
            m_out->legend.push_back({colourSlot::other,
                formatCount(static_cast<std::int64_t>(rest)) + (rest == 1 ? noun.one : noun.many), noGroup});
        return slots;
    }

    const Replay& m_replay;
    const AllocationColumns& m_columns;
    std::shared_ptr<Colouring> m_out;
};

} // namespace

std::shared_ptr<const Colouring> Colouring::build(
    const Replay& replay, const Sites& sites, ColourBy by, const Labels* labels)
{
    Colourer colourer(replay, by);
    switch (by) {
    case ColourBy::Site:
        colourer.byGrouping(*Grouping::build(replay, sites, GroupBy::Site), {" other site", " other sites"});
        break;
    case ColourBy::Stream:
        colourer.byGrouping(
            *Grouping::build(replay, sites, GroupBy::Stream), {" other stream", " other streams"});
        break;
    case ColourBy::Pool:
        colourer.byGrouping(*Grouping::build(replay, sites, GroupBy::Pool), {" other pool", " other pools"});
        break;
    case ColourBy::Category:
        colourer.byGrouping(
            *Grouping::build(replay, sites, GroupBy::Category), {" other category", " other categories"});
        break;
    case ColourBy::Size:
        colourer.bySize(*Grouping::build(replay, sites, GroupBy::Size));
        break;
    case ColourBy::Age:
        colourer.byAge();
        break;
    case ColourBy::SegmentKind:
        colourer.bySegmentKind();
        break;
    case ColourBy::Label:
        colourer.byLabel(*Grouping::build(replay, sites, GroupBy::Label, labels), labels);
        break;
    case ColourBy::Role:
        colourer.byGrouping(
            *Grouping::build(replay, sites, GroupBy::Role, labels), {" other role", " other roles"});
        break;
    }
    return colourer.finish();
}

} // namespace tidemark
