// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/ids.hpp"
#include "model/core/result.hpp"
#include "model/replay/replay.hpp"
#include "model/replay/segment_class.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// Why a request failed, in the order in which they are tried (help/out-of-memory.md).
enum class Verdict : std::uint8_t {
    CaptureBlocked, ///< V1: a capture or a pool's scope is open, caches are not flushed
    Capacity, ///< V2: even perfectly packed it would not have fitted
    WrongPool, ///< V3: free memory lies in another stream or private pool
    Fragmentation, ///< V4: enough is free, but in pieces
    OutsideAllocator, ///< V6: others hold the card
    Unknown, ///< the event lacks what the verdict needs
};
/// "V1" … "V6", "none" for unknown.
const char* verdictCode(Verdict verdict);

/// Why the cache was not flushed before the request failed.
enum class OomScope : std::uint8_t {
    None, ///< it was, as far as the file tells
    Capture, ///< a graph was being captured: frames, or the event's pool (n, 0)
    UserPool, ///< a user's pool was open, the event's (0, n)
    Inferred, ///< memory that a flush gives back was still there: one of the two, which the file does not
              ///< name
};

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
    /// The only memory it can be served from; its pool is none for a private pool without memory so far.
    MemoryClass requestClass;
    std::optional<std::uint64_t> deviceFree;
    std::optional<std::int64_t> slack; ///< reserved + free − allocated − waiting − request
    std::uint64_t growth = 0; ///< what the segment would have had to grow by
    bool reservedKnown = false; ///< else the figures of segments are all 0
    std::int64_t reserved = 0;
    std::int64_t allocated = 0; ///< block bytes
    std::int64_t waiting = 0;
    /// Default pool: free bytes in native segments with live blocks, and partly used expandable pages.
    std::uint64_t pinned = 0;
    std::uint64_t pinnedHoles = 0; ///< holes with some of them
    std::uint64_t sameClassFree = 0; ///< all free bytes of the request's class
    /// Free bytes of other classes of the request's pool kind: Σ of the three below.
    std::uint64_t elsewhere = 0;
    std::uint64_t elsewhereStreams = 0; ///< of the request's own pool, on other streams
    std::uint64_t elsewhereDefault = 0; ///< of the default pool, where the request is a private pool's
    std::uint64_t elsewherePrivate = 0; ///< of private pools other than the request's
    std::uint64_t elsewhereHoles = 0;
    std::vector<SegmentId> elsewhereSegments;
    /// Default pool: cached memory that a flush would have given back; only left over while flushes are
    /// barred.
    std::uint64_t unflushed = 0;
    std::vector<SegmentId> unflushedIds;
    std::uint64_t largestHole = 0;
    std::uint64_t holes = 0;
    double unusable = 0; ///< M5 for the request
    Verdict verdict = Verdict::Unknown;
    bool thinMargin = false; ///< V5
    bool capturing = false; ///< the file names the scope
    OomScope scope = OomScope::None;
    /// The largest hole that the request could have been served from; 0: none. Blocks that max_split_size
    /// reserves for larger requests do not count.
    std::uint64_t fittingHole = 0;
    double inactiveRatio = 0; ///< M1
    double externalFragmentation = 0; ///< M4 of the request's class
    bool expandable = false; ///< expandable segments were on
    /// Reserved + free: all the allocator could own.
    std::optional<std::uint64_t> usable() const
    {
        return deviceFree && reservedKnown ? std::optional(static_cast<std::uint64_t>(reserved) + *deviceFree)
                                           : std::nullopt;
    }
    /// V5's bound: 1 % of what is usable, or 40 MiB a hole.
    std::uint64_t thinBelow() const;
    /// Memory of the request's pool kind that it may not use all the same.
    bool isElsewhere(const SegmentView& segment) const
    {
        const MemoryClass of = classOf(segment);
        return of.small == requestClass.small && !(of == requestClass);
    }
    std::vector<PinningBlock> pins; ///< by leverage, highest first
    std::vector<HoleClass> holeClasses; ///< by size, largest first
    std::string cannotTell; ///< what is missing when the verdict is Unknown
};

/// Takes one event apart. Cost: as SegmentHistory::stateAt. Any thread.
OomAutopsy autopsy(const Replay& replay, const OomEvent& oom, std::optional<std::uint64_t> deviceTotal);
/// Whether expandable segments were on, by the file alone: its settings, else its segments and events.
bool expandableInFile(const Snapshot& snapshot, const DeviceTrace& device);
/// Blocks of this size and above serve no smaller request; absent: not set.
std::optional<std::uint64_t> maxSplitSize(const Snapshot& snapshot);

/// What the text of an OutOfMemoryError says, as pasted by a user.
struct OomText {
    std::uint64_t tried = 0;
    std::optional<std::uint64_t> total;
    std::optional<std::uint64_t> free;
    std::optional<std::uint64_t> allocated;
    std::optional<std::uint64_t> reservedUnallocated;
    std::optional<std::uint64_t> privatePools;
    std::optional<std::uint64_t> nonPyTorch;
    std::optional<std::uint64_t> processUsed; ///< "this process has … memory in use"
    std::optional<std::int64_t> slack; ///< free + reserved but unallocated − tried
    Verdict verdict = Verdict::Unknown;
    bool thinMargin = false;
    bool advisesExpandable = false;
    std::string explanation; ///< two sentences
};
/// Old and new wordings, PyTorch 1.1 on. Messages of other libraries ("CUDA error: out of memory", NCCL) give
/// Verdict::OutsideAllocator and no figures; figures that cannot be read or true give Verdict::Unknown and
/// say so; anything else is an error.
Result<OomText> parseOomText(std::string_view text);

} // namespace tidemark
