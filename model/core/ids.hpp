// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tidemark {

/// Index into one of the interned tables or columns. A strong id is only a number with a meaning; `none`
/// marks "absent" inside columns, where an optional would double the row. Interfaces use std::optional
/// instead.
enum class StringId : std::uint32_t { none = 0xffffffffU };
enum class FrameId : std::uint32_t { none = 0xffffffffU };
enum class StackId : std::uint32_t { none = 0xffffffffU };
enum class StreamId : std::uint32_t { none = 0xffffffffU };
enum class PoolId : std::uint32_t { none = 0xffffffffU };
/// Position of an event in its device's trace, from 0, in the order of the file.
enum class EventIndex : std::uint32_t { none = 0xffffffffU };
/// Position in Timeline's allocation columns: predating allocations first, then by allocating event.
enum class AllocationId : std::uint32_t { none = 0xffffffffU };
/// Position in SegmentHistory's segment columns.
enum class SegmentId : std::uint32_t { none = 0xffffffffU };
/// A call site: see lens/sites.hpp.
enum class SiteId : std::uint32_t { none = 0xffffffffU };

/// The number behind a strong id, for indexing columns.
template <typename Id>
requires std::is_enum_v<Id>
constexpr std::size_t index(Id id) noexcept
{
    return static_cast<std::size_t>(id);
}

/// True unless the id is the "absent" marker.
template <typename Id>
requires std::is_enum_v<Id>
constexpr bool valid(Id id) noexcept
{
    return id != Id::none;
}

/// A point between events of one device's trace: the state once event `m` has been applied; −1 is the state
/// before the first event (help/numbers.md). Signed because −1 is a real, drawable moment, not an error
/// value.
using Moment = std::int64_t;
inline constexpr Moment beforeFirst = -1;

/// Moments as an unsigned index for columns: state s is the moment s − 1; a trace of n events has n + 1
/// states.
using StateIndex = std::uint32_t;
constexpr StateIndex stateOf(Moment m) noexcept
{
    return static_cast<StateIndex>(m + 1);
}
constexpr Moment momentOf(StateIndex s) noexcept
{
    return static_cast<Moment>(s) - 1;
}

} // namespace tidemark
