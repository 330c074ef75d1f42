// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/snapshot_json.hpp"

namespace tidemark::test {

using Json = nlohmann::json;

namespace {

Json framesJson(const Snapshot& snapshot, StackId stack)
{
    Json frames = Json::array();
    if (valid(stack))
        for (const FrameId id : snapshot.stacks[stack]) {
            const Frame& frame = snapshot.frames[id];
            frames.push_back({{"name", snapshot.strings.view(frame.name)},
                {"filename", snapshot.strings.view(frame.file)}, {"line", frame.line}});
        }
    return frames;
}

Json eventJson(const Snapshot& snapshot, const DeviceTrace& device, std::size_t i)
{
    const EventColumns& events = device.events;
    Json event{{"action", actionName(events.action[i])}, {"size", events.size[i]},
        {"stream", snapshot.streams[index(events.stream[i])]},
        {"frames", framesJson(snapshot, events.stack[i])}, {"time_us", events.timeUs[i]}};
    event["addr"] = events.address[i];
    for (const OomEvent& oom : device.ooms)
        if (index(oom.event) == i)
            event["device_free"] = oom.deviceFree.value_or(0);
    return event;
}

Json segmentJson(const Snapshot& snapshot, const DeviceTrace& device, const Segment& segment)
{
    Json json{{"device", device.ordinal}, {"address", segment.address}, {"total_size", segment.totalSize},
        {"stream", snapshot.streams[index(segment.stream)]}, {"segment_pool_id", {0, 0}},
        {"segment_type", segment.kind == SegmentKind::Small ? "small" : "large"},
        {"is_expandable", segment.expandable}, {"blocks", Json::array()}};
    for (std::uint32_t i = 0; i < segment.blockCount; ++i) {
        const Block& block = device.blocks[segment.firstBlock + i];
        const char* const state = block.state == BlockState::Inactive ? "inactive"
            : block.state == BlockState::Allocated                    ? "active_allocated"
                                                                      : "active_pending_free";
        json["blocks"].push_back({{"address", block.address}, {"size", block.size},
            {"requested_size", block.requested}, {"state", state}, {"frames", Json::array()}});
    }
    return json;
}

} // namespace

Json snapshotJson(const Snapshot& snapshot)
{
    Json json{{"segments", Json::array()}, {"device_traces", Json::array()},
        {"allocator_settings", Json::object()}};
    for (const DeviceTrace& device : snapshot.devices) {
        Json trace = Json::array();
        for (std::size_t i = 0; i < device.events.count(); ++i)
            trace.push_back(eventJson(snapshot, device, i));
        json["device_traces"].push_back(std::move(trace));
        for (const Segment& segment : device.segments)
            json["segments"].push_back(segmentJson(snapshot, device, segment));
    }
    for (const Setting& setting : snapshot.settings)
        if (const auto* text = std::get_if<std::string>(&setting.value))
            json["allocator_settings"][setting.key] = *text;
    return json;
}

} // namespace tidemark::test
