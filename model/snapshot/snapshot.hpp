// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/ids.hpp"
#include "model/core/quality.hpp"
#include "model/snapshot/tables.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tidemark {

/// What one trace entry did (help/format.md).
enum class Action : std::uint8_t {
    Alloc,
    FreeRequested,
    FreeCompleted,
    Free, ///< not written by PyTorch; a recorder that knows only one kind of free
    SegmentAlloc,
    SegmentFree,
    SegmentMap,
    SegmentUnmap,
    Oom,
    Snapshot,
    UserDefined, ///< PyTorch 2.4: a range mark inside the trace
    Annotate,
    WorkspaceSnapshot, ///< Ascend NPU
    Unknown, ///< any other word; see DeviceTrace::otherActions
};

/// The word as in the file; Unknown gives "unknown".
const char* actionName(Action action);

/// Marks an event without a time.
inline constexpr std::int64_t noTime = std::numeric_limits<std::int64_t>::min();

/// The events of one device, a column per field; rows are in file order. The second group of columns is
/// either empty (no event of the device has the field) or as long as `action`. About 33 bytes an event
/// without them.
struct EventColumns {
    std::vector<Action> action;
    /// Start address; 0 where absent. On `oom` the free bytes of the device live in DeviceTrace::ooms
    /// instead.
    std::vector<std::uint64_t> address;
    /// Bytes as in the file, two's complement: values ≥ 2^63 read as negative and count as 0
    /// (help/numbers.md).
    std::vector<std::int64_t> size;
    std::vector<StreamId> stream;
    /// Unix microseconds, or noTime.
    std::vector<std::int64_t> timeUs;
    std::vector<StackId> stack;

    std::vector<PoolId> pool;
    std::vector<StringId> userMetadata;
    std::vector<StringId> compileContext;
    std::vector<StringId> internalMetadata;
    std::vector<StringId> category;
    std::vector<StackId> forwardStack;

    std::size_t count() const { return action.size(); }
};

/// A byte count that can be added up: what is not above 0 counts as nothing.
constexpr std::uint64_t sane(std::int64_t size) noexcept
{
    return size > 0 ? static_cast<std::uint64_t>(size) : 0;
}

struct OomEvent {
    EventIndex event{};
    /// Rounded size of the request that failed.
    std::optional<std::int64_t> requested;
    /// Free bytes the driver reported; absent in some files.
    std::optional<std::int64_t> deviceFree;
};

enum class SegmentKind : std::uint8_t { Small, Large, Unknown };
enum class BlockState : std::uint8_t { Allocated, Pending, Inactive, Unknown };

/// One contiguous piece of reserved memory at the end of the file (help/format.md). For expandable segments:
/// one mapped range.
struct Segment {
    std::uint64_t address = 0;
    std::int64_t totalSize = 0;
    StreamId stream{};
    PoolId pool{};
    StackId stack = StackId::none;
    SegmentKind kind = SegmentKind::Unknown;
    bool expandable = false;
    /// Its blocks are DeviceTrace::blocks[firstBlock … firstBlock + blockCount).
    std::uint32_t firstBlock = 0;
    std::uint32_t blockCount = 0;
};

struct Block {
    std::uint64_t address = 0;
    std::int64_t size = 0;
    /// What the program asked for, by the rule of help/numbers.md: the stated request when it lies in 1…size,
    /// else size. Meaningless for inactive blocks.
    std::int64_t requested = 0;
    StackId stack = StackId::none;
    StackId forwardStack = StackId::none;
    StringId userMetadata = StringId::none;
    /// The word, when the state is Unknown.
    StringId stateName = StringId::none;
    BlockState state = BlockState::Unknown;
};

struct OutsideRange;

/// Everything the file holds about one device. Ordinal −1 is pinned host memory; recorders that trace the
/// CPU's allocator use cpuOrdinal.
struct DeviceTrace {
    int ordinal = 0;
    EventColumns events;
    std::vector<Segment> segments;
    /// Without segments: stand-ins for memory that the recorder counts as allocated throughout although no
    /// event mentions it (profiler traces).
    std::vector<Block> blocks;
    /// False: the file says nothing of segments, so reserved is unknown, not 0 (help/numbers.md).
    bool hasSegments = false;
    std::vector<OomEvent> ooms;
    /// Event and word of every Action::Unknown, in order.
    std::vector<std::pair<EventIndex, StringId>> otherActions;
    /// Event and digits of every size that does not fit in 63 bits, as the file states it (a −1 stored as
    /// 2^64 − 1, a number of twenty bytes), in order. In the column such a size is below 0.
    std::vector<std::pair<EventIndex, StringId>> oddSizes;
    /// `trace_alloc_max_entries` and `trace_alloc_overflowed`, where written.
    std::optional<std::uint64_t> ringCapacity;
    std::optional<bool> ringOverflowed;
    /// Reserved after each event as the recorder itself counted it (Kineto's "Total Reserved"); empty
    /// otherwise.
    std::vector<std::int64_t> statedReserved;
    /// Events before this index were dropped on the caller's wish (--events FIRST:LAST); 0 otherwise.
    std::uint32_t firstEventInFile = 0;
    /// Null when all events were read. Otherwise what those that were not kept say of the ones that were
    /// (snapshot/outside_range.hpp); segments and blocks are then those of the range's end.
    std::shared_ptr<const OutsideRange> outside;
};

/// Device ordinal given to the CPU's own allocator in profiler recordings.
inline constexpr int cpuOrdinal = -2;

/// Device of an annotation that belongs to the whole process (profiler traces): it marks every device's
/// trace.
inline constexpr int everyDevice = -3;

/// "GPU 0", "pinned host memory", "CPU".
std::string deviceName(int ordinal);

/// A begin or end mark of record_function, from `external_annotations` or, in 2.4, from the trace itself.
struct Annotation {
    bool start = false;
    StringId name = StringId::none;
    int device = 0;
    std::int64_t timeUs = noTime;
    /// Where it stands in its device's trace, when it came from there.
    std::optional<EventIndex> event;
};

using SettingValue = std::variant<bool, std::int64_t, double, std::string>;

/// One entry of `allocator_settings`; nested dicts have dotted keys ("roundup_power2_divisions.256").
struct Setting {
    std::string key;
    SettingValue value;
};

/// torch.profiler's own memory timeline (help/format.md): bytes per category over time, no allocations.
struct CategoryTimeline {
    static constexpr std::array<const char*, 8> names{"parameter", "optimizer_state", "input", "temporary",
        "activation", "gradient", "autograd_detail", "unknown"};
    /// Unix microseconds, not decreasing; row i holds from timesUs[i] on.
    std::vector<std::int64_t> timesUs;
    /// bytes[c][i]: live bytes of category c at row i.
    std::array<std::vector<std::int64_t>, 8> bytes;
    /// Bytes that existed before the first row, when the file tells.
    std::optional<std::int64_t> predating;
};

enum class SourceKind { Snapshot, KinetoTrace, ProfilerTimeline };

/// Where a snapshot came from and in what clothes.
struct Source {
    std::string path;
    /// Base name of path.
    std::string name;
    SourceKind kind = SourceKind::Snapshot;
    std::string encoding; ///< "pickle" or "json"
    std::string container = "none"; ///< none, gzip, zstd, zip, html
    std::optional<int> pickleProtocol;
    std::uint64_t fileBytes = 0;
    std::uint64_t unpackedBytes = 0;
    /// Bytes after the pickle's STOP; harmless.
    std::uint64_t trailingBytes = 0;
    /// Only what could be read of a truncated or damaged file: set with Quality::TruncatedFile.
    bool partial = false;
};

/// One file, read: immutable after SnapshotBuilder::finish, shared between threads without locks.
struct Snapshot {
    Source source;
    StringTable strings;
    FrameTable frames;
    StackTable stacks;
    /// Stream values as in the file (pointer values as int64; 0 is the default stream), by StreamId.
    std::vector<std::int64_t> streams;
    /// (first, second) of the private pool id; (0, 0) is the default pool, always PoolId 0.
    std::vector<std::pair<std::int64_t, std::int64_t>> pools;
    /// Devices with events or segments; host first, then by ordinal.
    std::vector<DeviceTrace> devices;
    /// Length of `device_traces`, including devices where nothing happened.
    std::size_t deviceSlots = 0;
    std::vector<Annotation> annotations;
    std::vector<Setting> settings;
    std::optional<CategoryTimeline> categories;
    /// What reading met; replay adds its own (Replay::quality).
    std::vector<QualityNote> quality;
};

/// "(0, 1)" for a private pool, "default pool" for (0, 0).
std::string poolName(const Snapshot& snapshot, PoolId pool);
/// "stream 7" by the file's value; pointer-like values in hexadecimal; "default stream" for 0.
std::string streamName(const Snapshot& snapshot, StreamId stream);

} // namespace tidemark
