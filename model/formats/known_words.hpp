// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/snapshot/snapshot.hpp"

#include <cstdint>
#include <span>

namespace tidemark {

/// Keys of snapshot files of every version (help/format.md), in all kinds of dict.
enum class Key : std::uint8_t {
    Other,
    Action,
    Addr,
    Address,
    Size,
    Stream,
    TimeUs,
    Frames,
    ForwardFrames,
    CompileContext,
    UserMetadata,
    InternalMetadata,
    PoolId,
    Category,
    DeviceFree,
    Name,
    Filename,
    Line,
    FxNodeOp,
    FxNodeName,
    FxNodeTarget,
    FxNodeInfo,
    FxOriginalTrace,
    Device,
    TotalSize,
    AllocatedSize,
    ActiveSize,
    RequestedSize,
    SegmentType,
    SegmentPoolId,
    IsExpandable,
    Blocks,
    State,
    History,
    RealSize,
    Stage,
    Segments,
    DeviceTraces,
    AllocatorSettings,
    ExternalAnnotations,
    HostSegments,
    HostTraces,
    TraceAllocMaxEntries,
    TraceAllocOverflowed,
    Traces,
};

/// A dict of a snapshot file by what it stands for.
enum class DictKind : std::uint8_t { Generic, Top, Event, Frame, Segment, Block, Annotation };

/// One word with a meaning somewhere in a snapshot: as a key, as an action, as a state.
struct Word {
    const char* text;
    Key key = Key::Other;
    Action action = Action::Unknown;
    BlockState state = BlockState::Unknown;
    SegmentKind segmentKind = SegmentKind::Unknown;
};

/// All words; the one table of what is known.
std::span<const Word> knownWords();

/// Whether a dict of this kind may have the key in some version of PyTorch or of its forks.
bool keyBelongs(DictKind kind, Key key);

/// What a dict with these keys is: the bits are 1 << Key. One word of a kind is not enough, because people's
/// own metadata has a state or a stage too; what lacks more stays generic, and is read by the place it stands
/// at.
DictKind kindOf(std::uint64_t keys);

/// The kind as it is called in notes: "event", "segment", …; "" for the top level.
const char* kindName(DictKind kind);

constexpr std::uint64_t bit(Key key) noexcept
{
    return 1ULL << static_cast<unsigned>(key);
}

} // namespace tidemark
