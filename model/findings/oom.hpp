// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/ids.hpp"
#include "model/core/result.hpp"
#include "model/replay/replay.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// Why a request failed, in the order in which they are tried (help/out-of-memory.md).
enum class Verdict : std::uint8_t {
    CaptureBlocked, ///< V1: a graph is being captured, caches are not flushed
    Capacity, ///< V2: even perfectly packed it would not have fitted
    WrongPool, ///< V3: free memory lies in another stream or private pool
    Fragmentation, ///< V4: enough is free, but in pieces
    OutsideAllocator, ///< V6: others hold the card
    Unknown, ///< the event lacks what the verdict needs
};
const char* verdictName(Verdict verdict);

/// A live block that keeps free memory from going back to the device.
struct PinningBlock {
    AllocationId allocation = AllocationId::none;
    SegmentId segment = SegmentId::none;
    std::uint64_t size = 0; ///< block bytes
    /// Free bytes of its segment, shared equally with the segment's other blocks, and that per byte of
    /// itself.
    std::uint64_t releases = 0;
    double leverage = 0;
};

/// Holes of one size.
struct HoleClass {
    std::uint64_t size = 0;
    std::uint64_t count = 0;
};

/// An out-of-memory event taken apart. All bytes at the state just after the event, when the allocator has
/// already given back what it could.
struct OomAutopsy {
    EventIndex event{};
    StateIndex state = 0;
    std::optional<std::uint64_t> request; ///< rounded, as recorded
    std::optional<std::uint64_t> deviceFree;
    std::optional<std::int64_t> slack; ///< reserved + free − allocated − waiting − request
    std::uint64_t growth = 0; ///< what the segment would have had to grow by
    std::int64_t reserved = 0;
    std::int64_t allocated = 0; ///< block bytes
    std::int64_t waiting = 0;
    std::uint64_t pinned = 0; ///< free bytes in native segments with live blocks
    std::uint64_t sameClassPinned = 0; ///< of those, in the request's pool kind and stream
    std::uint64_t elsewhere = 0; ///< free bytes of other streams and private pools
    std::uint64_t largestHole = 0;
    std::uint64_t holes = 0;
    double unusable = 0; ///< M5 for the request
    Verdict verdict = Verdict::Unknown;
    bool thinMargin = false; ///< V5
    bool capturing = false;
    bool expandable = false; ///< expandable segments were on
    std::vector<PinningBlock> pins; ///< by leverage, highest first
    std::vector<HoleClass> holeClasses; ///< by size, largest first
    std::string cannotTell; ///< what is missing when the verdict is Unknown
};

/// Takes one event apart. Cost: as SegmentHistory::stateAt. Any thread.
OomAutopsy autopsy(const Replay& replay, const OomEvent& oom, std::optional<std::uint64_t> deviceTotal);

/// What the text of an OutOfMemoryError says, as pasted by a user.
struct OomText {
    std::uint64_t tried = 0;
    std::optional<std::uint64_t> total;
    std::optional<std::uint64_t> free;
    std::optional<std::uint64_t> allocated;
    std::optional<std::uint64_t> reservedUnallocated;
    std::optional<std::uint64_t> privatePools;
    std::optional<std::uint64_t> nonPyTorch;
    std::optional<std::int64_t> slack; ///< free + reserved but unallocated − tried
    Verdict verdict = Verdict::Unknown;
    bool thinMargin = false;
    bool advisesExpandable = false;
    std::string explanation; ///< two sentences
};
Result<OomText> parseOomText(std::string_view text);

} // namespace tidemark
