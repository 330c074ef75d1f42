// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/small_files.hpp"

#include "tests/support/packing.hpp"
#include "tests/support/pickle_forge.hpp"

#include <cstdint>

namespace tidemark::test {

namespace {

/// pySample() as JSON.
constexpr const char* jsonSnapshot = R"({"segments": [{"device": 0, "address": 139637976727552,
"total_size": 2097152, "stream": 0, "segment_type": "large", "segment_pool_id": [0, 0], "is_expandable": false,
"blocks": [{"address": 139637976727552, "size": 1048576, "requested_size": 1000000,
"state": "active_allocated", "frames": [{"name": "relu", "filename": "net.py", "line": 12}]},
{"size": 1048576, "state": "inactive"}]}],
"device_traces": [[{"action": "segment_alloc", "addr": 139637976727552, "size": 2097152, "stream": 0,
"time_us": 10, "frames": []}, {"action": "alloc", "addr": 139637976727552, "size": 1e6, "stream": 7,
"time_us": 11, "frames": [{"name": "relu", "filename": "net.py", "line": 12}]},
{"action": "oom", "size": 99999999, "device_free": 5, "time_us": 12, "stream": 0}], []],
"allocator_settings": {"expandable_segments": true, "roundup_power2_divisions": {"256": 4}},
"external_annotations": [{"stage": "START", "name": "ProfilerStep#3 \u00e9\ud83d\ude00", "device": 0,
"time_us": 9}]})";

constexpr const char* kinetoTrace = R"({"schemaVersion":1,"baseTimeNanoseconds":1700000000000000000,
"deviceProperties":[{"id":0,"name":"X","totalGlobalMem":1000}],"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":7,"ts":10.5,"dur":4,"args":{}},
{"ph":"X","cat":"python_function","name":"nn.Module: Linear_3","pid":1,"tid":7,"ts":10,"dur":9,
"args":{"Python id":1,"Python parent id":null,"Python module id":3}},
{"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":7,"ts":11,"args":{"Device Type":1,
"Device Id":0,"Addr":139637976727552,"Bytes":512,"Total Allocated":512,"Total Reserved":2097152,"Ev Idx":1}},
{"ph":"i","s":"t","name":"[memory]","pid":1,"tid":7,"ts":13,"args":{"Device Type":1,"Device Id":0,
"Addr":139637976727552,"Bytes":-512,"Total Allocated":0,"Total Reserved":2097152}},
{"ph":"i","s":"t","name":"[OutOfMemory]","pid":1,"tid":7,"ts":14,"args":{"Device Type":1,"Device Id":0,
"Bytes":512}}]})";

constexpr const char* rawTimeline = "[[-1,1,512,0],[1000,2,128,4],[2000,1,-128,4],[3000,3,-512,7]]";
constexpr const char* categoryTimeline = "[[1000, 2000], [[0,1,2,3,4,5,6,7,8],[0,0,0,0,0,9,0,0,0]]]";

/// The opening of a C++ recording: one flat list of segments with histories.
Py oldSegments()
{
    const Py frames = pyList({pyFrame("relu", "net.py", 12)});
    const Py block = with(pyBlock(4096, 512, "active_allocated", 300),
        {{"history",
            pyList({pyDict({{"addr", pyInt(4096)}, {"real_size", pyInt(300)}, {"frames", frames}})})}});
    return pyList({pySegment(0, 4096, 1024, {block, pyBlock(4608, 512, "inactive", 0)})});
}

} // namespace

std::string base64(std::string_view bytes)
{
    constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t three = 0;
        for (std::size_t k = 0; k < 3; ++k)
            three = (three << 8U)
                | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : std::uint32_t{0});
        for (std::size_t k = 0; k < 4; ++k)
            out += i + k <= bytes.size() ? alphabet[(three >> (18 - 6 * k)) & 63U] : '=';
    }
    return out;
}

std::string viewerPage(std::string_view pickle)
{
    return "<!DOCTYPE html>\n<html>\n<head></head>\n<body>\n<script type=\"module\">\nconst local_files = "
           "[{\"name\": \"snapshot.pickle\", \"base64\": \""
        + base64(pickle) + "\"}]\n</script>\n</body>\n</html>\n";
}

std::vector<SmallFile> smallFiles()
{
    const Py sample = pySample();
    std::vector<SmallFile> out;
    for (const int protocol : {0, 1, 2, 4, 5})
        out.push_back({"pickle" + std::to_string(protocol), pickled(sample, {.protocol = protocol})});
    out.push_back({"pickle-cpp", pickled(sample, {.cpp = true})});
    out.push_back({"pickle-list", pickled(oldSegments())});
    out.push_back({"snapshot-json", jsonSnapshot});
    out.push_back({"kineto-json", kinetoTrace});
    out.push_back({"raw-timeline-json", rawTimeline});
    out.push_back({"category-timeline-json", categoryTimeline});
    out.push_back({"page-html", viewerPage(pickled(oldSegments()))});
    return out;
}

std::vector<SmallFile> smallContainers()
{
    const std::string pickle = pickled(oldSegments());
    const std::string text = rawTimeline;
    std::vector<SmallFile> out;
    for (const auto& [name, bytes] : {SmallFile{"pickle", pickle}, SmallFile{"json", text}}) {
        out.push_back({name + ".gz", gzipped(bytes)});
        out.push_back({name + ".zst", zstdCompressed(bytes)});
        out.push_back(
            {name + ".zip", zipped({{"archive/data.pkl", bytes, true}, {"archive/version", "3\n"}})});
        out.push_back({name + ".stored.zip", zipped({{"archive/data.pkl", bytes}})});
        out.push_back({name + ".zip64", zipped({{"archive/data.pkl", bytes, true}}, {.zip64 = true})});
    }
    return out;
}

} // namespace tidemark::test
