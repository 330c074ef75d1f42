// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/colouring.hpp"
#include "model/lens/groups.hpp"
#include "model/run/rank.hpp"

#include <map>
#include <memory>
#include <vector>

namespace tidemark {

/// What groupings and colourings are made from; a value.
struct LookupSource {
    std::shared_ptr<const Replay> replay;
    std::shared_ptr<const Sites> sites;
    std::shared_ptr<const Labels> labels; ///< null while there are none

    bool operator==(const LookupSource&) const = default;
    /// The main device of a file as it is first shown.
    static LookupSource of(const Rank& rank);
};

/// Which of them are wanted.
struct LookupWish {
    std::vector<GroupBy> groupings;
    std::vector<ColourBy> colourings;
};

/// Groupings and colourings of one device, made ahead of their use. Cost of making one: a pass over all
/// allocations, some tenths of a second for 10⁷ events, so that it has no place on the GUI thread. Any
/// thread.
struct Lookups {
    LookupSource source;
    std::map<GroupBy, std::shared_ptr<const Grouping>> groupings;
    std::map<ColourBy, std::shared_ptr<const Colouring>> colourings;

    static std::shared_ptr<const Lookups> make(const LookupSource& source, const LookupWish& wish);
};

/// Whether they change with the labels.
bool needsLabels(GroupBy by);
bool needsLabels(ColourBy by);

} // namespace tidemark
