// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/details/details_sheet.hpp"

/// The sheets of the details, one function a kind of thing (details_sheet.hpp chooses).
namespace tidemark {

struct SheetContext {
    const Session& session;
    const ViewState& view;
    const Replay& replay;
    StateIndex cursor;
    const SheetFacts& facts;
};

/// These need the facts of their kind.
DetailsSheet allocationSheet(const SheetContext& context, AllocationId id);
DetailsSheet groupSheet(const SheetContext& context, const Grouping& grouping, std::uint32_t group);
DetailsSheet setSheet(const SheetContext& context, const ChosenSet& set);
/// Of a segment or a hole, at the cursor.
DetailsSheet placeSheet(const SheetContext& context, const Selection& selection);
DetailsSheet momentSheet(const SheetContext& context);
DetailsSheet rangeSheet(const SheetContext& context, StateIndex first, StateIndex last);
/// Of a file without devices, or of nothing.
DetailsSheet fileSheet(const Session& session);

/// "GPU 0 · stream 7 · pool (0, 1)"; absent ids read "several streams".
QString placeText(const Replay& replay, StreamId stream, PoolId pool);
/// Site name of an allocation.
QString siteText(const SheetContext& context, AllocationId id);
QString eventLink(EventIndex event);
/// Cuts a share as "26.6 % of live".
QString shareText(std::uint64_t part, std::int64_t whole);

} // namespace tidemark
