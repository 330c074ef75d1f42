// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/known_words.hpp"

#include <array>

namespace tidemark {

namespace {

constexpr Word key(const char* text, Key k)
{
    Word w{text};
    w.key = k;
    return w;
}

constexpr Word action(const char* text, Action a)
{
    Word w{text};
    w.action = a;
    return w;
}

constexpr Word state(const char* text, BlockState s)
{
    Word w{text};
    w.state = s;
    return w;
}

constexpr Word segmentKind(const char* text, SegmentKind k)
{
    Word w{text};
    w.segmentKind = k;
    return w;
}

constexpr std::array words{
    key("action", Key::Action),
    key("addr", Key::Addr),
    key("address", Key::Address),
    key("size", Key::Size),
    key("stream", Key::Stream),
    key("time_us", Key::TimeUs),
    key("frames", Key::Frames),
    key("forward_frames", Key::ForwardFrames),
    key("compile_context", Key::CompileContext),
    key("user_metadata", Key::UserMetadata),
    key("internal_metadata", Key::InternalMetadata),
    key("pool_id", Key::PoolId),
    key("category", Key::Category),
    key("device_free", Key::DeviceFree),
    key("name", Key::Name),
    key("filename", Key::Filename),
    key("line", Key::Line),
    key("fx_node_op", Key::FxNodeOp),
    key("fx_node_name", Key::FxNodeName),
    key("fx_node_target", Key::FxNodeTarget),
    key("fx_node_info", Key::FxNodeInfo),
    key("fx_original_trace", Key::FxOriginalTrace),
    key("device", Key::Device),
    key("total_size", Key::TotalSize),
    key("allocated_size", Key::AllocatedSize),
    key("active_size", Key::ActiveSize),
    key("requested_size", Key::RequestedSize),
    key("segment_type", Key::SegmentType),
    key("segment_pool_id", Key::SegmentPoolId),
    key("is_expandable", Key::IsExpandable),
    key("blocks", Key::Blocks),
    key("state", Key::State),
    key("history", Key::History),
    key("real_size", Key::RealSize),
    key("stage", Key::Stage),
    key("segments", Key::Segments),
    key("device_traces", Key::DeviceTraces),
    key("allocator_settings", Key::AllocatorSettings),
    key("external_annotations", Key::ExternalAnnotations),
    key("host_segments", Key::HostSegments),
    key("host_traces", Key::HostTraces),
    key("trace_alloc_max_entries", Key::TraceAllocMaxEntries),
    key("trace_alloc_overflowed", Key::TraceAllocOverflowed),
    key("traces", Key::Traces),

    action("alloc", Action::Alloc),
    action("free_requested", Action::FreeRequested),
    action("free_completed", Action::FreeCompleted),
    action("free", Action::Free),
    action("segment_alloc", Action::SegmentAlloc),
    action("segment_free", Action::SegmentFree),
    action("segment_map", Action::SegmentMap),
    action("segment_unmap", Action::SegmentUnmap),
    action("oom", Action::Oom),
    action("snapshot", Action::Snapshot),
    action("user_defined", Action::UserDefined),
    action("annotate", Action::Annotate),
    action("workspace_snapshot", Action::WorkspaceSnapshot),

    state("active_allocated", BlockState::Allocated),
    state("active_pending_free", BlockState::Pending),
    // Documented in torch.cuda.memory_snapshot's reference, written by nobody.
    state("active_awaiting_free", BlockState::Pending),
    state("inactive", BlockState::Inactive),

    segmentKind("small", SegmentKind::Small),
    segmentKind("large", SegmentKind::Large),
};

constexpr std::uint64_t all(std::initializer_list<Key> keys)
{
    std::uint64_t bits = 0;
    for (const Key k : keys)
        bits |= bit(k);
    return bits;
}

constexpr std::uint64_t eventKeys = all({Key::Action, Key::Addr, Key::Address, Key::Size, Key::Stream,
    Key::TimeUs, Key::Frames, Key::ForwardFrames, Key::CompileContext, Key::UserMetadata,
    Key::InternalMetadata, Key::PoolId, Key::Category, Key::DeviceFree});
constexpr std::uint64_t frameKeys = all({Key::Name, Key::Filename, Key::Line, Key::FxNodeOp, Key::FxNodeName,
    Key::FxNodeTarget, Key::FxNodeInfo, Key::FxOriginalTrace});
constexpr std::uint64_t segmentKeys = all({Key::Device, Key::Address, Key::TotalSize, Key::AllocatedSize,
    Key::ActiveSize, Key::RequestedSize, Key::Stream, Key::SegmentType, Key::SegmentPoolId, Key::IsExpandable,
    Key::Frames, Key::ForwardFrames, Key::Blocks});
constexpr std::uint64_t blockKeys = all({Key::Address, Key::Size, Key::RequestedSize, Key::State, Key::Frames,
    Key::ForwardFrames, Key::History, Key::UserMetadata});
constexpr std::uint64_t topKeys = all(
    {Key::Segments, Key::DeviceTraces, Key::AllocatorSettings, Key::ExternalAnnotations, Key::HostSegments,
        Key::HostTraces, Key::TraceAllocMaxEntries, Key::TraceAllocOverflowed, Key::Traces});

} // namespace

std::span<const Word> knownWords()
{
    return words;
}

bool keyBelongs(DictKind kind, Key key)
{
    switch (kind) {
    case DictKind::Generic:
    case DictKind::Annotation: // record_function metadata may add any pair
        return true;
    case DictKind::Top:
        return (topKeys & bit(key)) != 0;
    case DictKind::Event:
        return (eventKeys & bit(key)) != 0;
    case DictKind::Frame:
        return (frameKeys & bit(key)) != 0;
    case DictKind::Segment:
        return (segmentKeys & bit(key)) != 0;
    case DictKind::Block:
        return (blockKeys & bit(key)) != 0;
    }
    return true;
}

DictKind kindOf(std::uint64_t keys)
{
    if ((keys & all({Key::Segments, Key::DeviceTraces, Key::HostSegments, Key::HostTraces})) != 0)
        return DictKind::Top;
    const auto has
        = [keys](std::initializer_list<Key> wanted) { return (keys & all(wanted)) == all(wanted); };
    const auto hasAny = [keys](std::initializer_list<Key> wanted) { return (keys & all(wanted)) != 0; };
    if (has({Key::Action}) && hasAny({Key::Addr, Key::Address, Key::DeviceFree}))
        return DictKind::Event;
    if (hasAny({Key::Blocks, Key::TotalSize, Key::SegmentType}) && hasAny({Key::Address, Key::Device}))
        return DictKind::Segment;
    // 1.13 writes the size and the state alone.
    if (has({Key::State, Key::Size}) && (has({Key::Address}) || (keys & ~blockKeys) == 0))
        return DictKind::Block;
    if (has({Key::Stage, Key::Name}) && hasAny({Key::TimeUs, Key::Device}))
        return DictKind::Annotation;
    if (has({Key::Name, Key::Filename, Key::Line})
        || ((has({Key::Filename}) || has({Key::Name, Key::Line})) && (keys & ~frameKeys) == 0))
        return DictKind::Frame;
    return DictKind::Generic;
}

const char* kindName(DictKind kind)
{
    switch (kind) {
    case DictKind::Event:
        return "event";
    case DictKind::Frame:
        return "frame";
    case DictKind::Segment:
        return "segment";
    case DictKind::Block:
        return "block";
    case DictKind::Annotation:
        return "annotation";
    case DictKind::Generic:
    case DictKind::Top:
        break;
    }
    return "";
}

} // namespace tidemark
