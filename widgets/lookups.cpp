// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/lookups.hpp"

namespace tidemark {

LookupSource LookupSource::of(const Rank& rank)
{
    const std::size_t device = rank.mainDevice();
    return {device < rank.devices.size() ? rank.devices[device] : nullptr, rank.sites, nullptr};
}

std::shared_ptr<const Lookups> Lookups::make(const LookupSource& source, const LookupWish& wish)
{
    auto made = std::make_shared<Lookups>();
    made->source = source;
    if (!source.replay || !source.sites)
        return made;
    for (const GroupBy by : wish.groupings)
        made->groupings[by] = Grouping::build(*source.replay, *source.sites, by, source.labels.get());
    for (const ColourBy by : wish.colourings)
        made->colourings[by] = Colouring::build(*source.replay, *source.sites, by, source.labels.get());
    return made;
}

bool needsLabels(GroupBy by)
{
    return by == GroupBy::Label || by == GroupBy::Role;
}

bool needsLabels(ColourBy by)
{
    return by == ColourBy::Label || by == ColourBy::Role;
}

} // namespace tidemark
