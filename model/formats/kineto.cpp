// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/kineto.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace tidemark {

namespace {

/// Devices told apart in one trace; a process has at most a few dozen.
constexpr std::size_t maxDevices = 1024;

bool isCpuRange(std::string_view category)
{
    static constexpr std::array<std::string_view, 6> categories{
        "cpu_op", "python_function", "Operator", "operator", "cpu_function", ""};
    return std::ranges::find(categories, category) != categories.end();
}

/// Versions before 1.12 file these marks under the operators.
bool isMark(std::string_view category, std::string_view name)
{
    return category == "user_annotation" || name.starts_with("ProfilerStep#")
        || name.starts_with("Optimizer.");
}

void assign(std::string& to, const JsonPull& json)
{
    to.assign(json.text());
}

} // namespace

std::optional<std::int64_t> nanosecondsFromMicroseconds(std::string_view literal)
{
    const char* const last = literal.data() + literal.size();
    std::int64_t whole = 0;
    const auto parsed = std::from_chars(literal.data(), last, whole);
    if (parsed.ec == std::errc{} && (parsed.ptr == last || *parsed.ptr == '.')) {
        std::int64_t fraction = 0;
        std::int64_t unit = 100;
        const char* p = parsed.ptr;
        if (p != last)
            for (++p; p != last && *p >= '0' && *p <= '9'; ++p, unit /= 10)
                fraction += (*p - '0') * unit;
        std::int64_t ns = 0;
        if (p == last && !__builtin_mul_overflow(whole, std::int64_t{1000}, &ns)
            && !__builtin_add_overflow(ns, literal.starts_with('-') ? -fraction : fraction, &ns))
            return ns;
    }
    double us = 0;
    const auto real = std::from_chars(literal.data(), last, us);
    if (real.ec != std::errc{} || real.ptr != last || !(std::abs(us) < 9.2e15))
        return std::nullopt;
    return std::llround(us * 1000);
}

Frame kinetoFrame(std::string_view name, StringTable& strings)
{
    for (std::size_t close = name.find("): "); close != std::string_view::npos;
         close = name.find("): ", close + 1)) {
        const std::size_t open = name.rfind('(', close);
        if (open == std::string_view::npos || open == 0)
            continue;
        Frame frame;
        const char* const end = name.data() + close;
        const auto line = std::from_chars(name.data() + open + 1, end, frame.line);
        if (line.ec != std::errc{} || line.ptr != end)
            continue;
        frame.name = strings.intern(name.substr(close + 3));
        frame.file = strings.intern(name.substr(0, open));
        return frame;
    }
    return {strings.intern(name), StringId::none, 0};
}

KinetoCollector::KinetoCollector(SnapshotBuilder& builder)
    : m_builder(builder)
{ }

bool KinetoCollector::readEvent(JsonPull& json)
{
    if (json.token() != JsonToken::BeginObject)
        return json.skip(); // false when the text failed
    m_now.name.clear();
    m_now.category.clear();
    m_now.pid.clear();
    m_now.tid.clear();
    m_now.callStack.clear();
    m_now.tsNs.reset();
    m_now.durNs.reset();
    m_now.deviceType.reset();
    m_now.deviceId.reset();
    m_now.memory = {};
    m_now.hasBytes = false;
    m_now.phase = 0;
    while (json.next() == JsonToken::Key) {
        const std::string_view key = json.text();
        std::string* text = key == "name" ? &m_now.name
            : key == "cat"                ? &m_now.category
            : key == "pid"                ? &m_now.pid
            : key == "tid"                ? &m_now.tid
                                          : nullptr;
        auto* const time = key == "ts" ? &m_now.tsNs : key == "dur" ? &m_now.durNs : nullptr;
        const bool args = key == "args";
        const bool phase = key == "ph";
        const JsonToken value = json.next();
        const bool scalar
            = value == JsonToken::String || value == JsonToken::Integer || value == JsonToken::Real;
        if (text && scalar)
            assign(*text, json);
        else if (time && scalar)
            *time = nanosecondsFromMicroseconds(json.text());
        else if (phase && scalar && !json.text().empty())
            m_now.phase = json.text().front();
        else if (args && value == JsonToken::BeginObject) {
            if (!readArgs(json))
                return false;
        } else if (!json.skip())
            return false;
    }
    if (json.token() != JsonToken::EndObject)
        return false;
    ++m_events;
    keepEvent();
    return true;
}

bool KinetoCollector::readArgs(JsonPull& json)
{
    while (json.next() == JsonToken::Key) {
        if (json.text() == "Call stack") {
            if (json.next() == JsonToken::String)
                assign(m_now.callStack, json);
            else if (!json.skip())
                return false;
        } else if (!readNumberArg(json, json.text())) {
            return false;
        }
    }
    return json.token() == JsonToken::EndObject;
}

bool KinetoCollector::readNumberArg(JsonPull& json, std::string_view key)
{
    KinetoMemory& m = m_now.memory;
    enum class Arg { Other, Type, Id, Address, Bytes, Allocated, Reserved };
    const Arg arg = key == "Device Type" ? Arg::Type
        : key == "Device Id"             ? Arg::Id
        : key == "Addr"                  ? Arg::Address
        : key == "Bytes"                 ? Arg::Bytes
        : key == "Total Allocated"       ? Arg::Allocated
        : key == "Total Reserved"        ? Arg::Reserved
                                         : Arg::Other;
    if (arg == Arg::Other)
        return json.skip();
    json.next();
    if ((json.token() != JsonToken::Integer && json.token() != JsonToken::Real) || !json.isWhole())
        return json.skip();
    const std::int64_t value = json.integer();
    switch (arg) {
    case Arg::Type:
        m_now.deviceType = value;
        break;
    case Arg::Id:
        m_now.deviceId = value;
        break;
    case Arg::Address:
        m.address = static_cast<std::uint64_t>(value);
        m.hasAddress = true;
        break;
    case Arg::Bytes:
        m.bytes = value;
        m_now.hasBytes = true;
        break;
    case Arg::Allocated:
        m.totalAllocated = value;
        m.hasAllocated = true;
        break;
    case Arg::Reserved:
        m.totalReserved = value;
        m.hasReserved = true;
        break;
    case Arg::Other:
        break;
    }
    return true;
}

void KinetoCollector::keepEvent()
{
    if (m_now.name == "[memory]" || m_now.name == "[OutOfMemory]")
        keepMemory();
    else if (m_now.phase == 'X' && m_now.tsNs && m_now.durNs && *m_now.durNs >= 0)
        keepRange();
}

void KinetoCollector::keepMemory()
{
    m_now.memory.oom = m_now.name == "[OutOfMemory]";
    const auto which = device();
    if (!which || !m_now.hasBytes || (m_now.memory.bytes == 0 && !m_now.memory.oom)) {
        ++m_unplaced;
        return;
    }
    m_now.memory.device = *which;
    m_now.memory.thread = thread();
    m_now.memory.timeNs = m_now.tsNs.value_or(noTime);
    m_memory.push_back(m_now.memory);
}

void KinetoCollector::keepRange()
{
    std::int64_t end = 0;
    if (__builtin_add_overflow(*m_now.tsNs, *m_now.durNs, &end))
        return;
    if (isMark(m_now.category, m_now.name)) {
        m_annotated.push_back({*m_now.tsNs, end, m_builder.strings().intern(m_now.name)});
        return;
    }
    if (!isCpuRange(m_now.category))
        return;
    m_ranges[thread()].push_back({*m_now.tsNs, end, rangeFrame(), callStack()});
}

/// Threads by process and thread number, which some versions write as texts.
std::uint32_t KinetoCollector::thread()
{
    m_now.pid.push_back('/');
    m_now.pid.append(m_now.tid);
    const auto [entry, added] = m_threads.try_emplace(m_now.pid, static_cast<std::uint32_t>(m_ranges.size()));
    if (added)
        m_ranges.emplace_back();
    return entry->second;
}

/// Device types are those of c10/core/DeviceType.h: 0 is the CPU, anything else has a memory of its own.
std::optional<std::uint32_t> KinetoCollector::device()
{
    const std::int64_t id = m_now.deviceId.value_or(0);
    const std::int64_t type = m_now.deviceType.value_or(id < 0 ? 0 : 1);
    if (type < 0 || type > 255 || id < -1 || id > 65535)
        return std::nullopt;
    for (std::uint32_t i = 0; i < m_devices.size(); ++i)
        if (m_devices[i].type == type && (type == 0 || m_devices[i].id == id))
            return i;
    if (m_devices.size() == maxDevices)
        return std::nullopt;
    Device added{cpuOrdinal, static_cast<int>(type), id};
    if (type != 0) {
        // Two kinds of accelerators in one process share their numbers; the later kind moves up.
        added.ordinal = std::max(0, static_cast<int>(id));
        while (std::ranges::find(m_devices, added.ordinal, &Device::ordinal) != m_devices.end())
            ++added.ordinal;
    }
    m_devices.push_back(added);
    return static_cast<std::uint32_t>(m_devices.size() - 1);
}

FrameId KinetoCollector::rangeFrame()
{
    const StringId name = m_builder.strings().intern(m_now.name);
    const auto [entry, added] = m_frames.try_emplace(name, FrameId::none);
    if (added)
        entry->second = m_builder.frames().intern(kinetoFrame(m_now.name, m_builder.strings()));
    return entry->second;
}

StackId KinetoCollector::callStack()
{
    if (m_now.callStack.empty())
        return StackId::none;
    StringTable& strings = m_builder.strings();
    const auto [entry, added] = m_callStacks.try_emplace(m_now.callStack, StackId::none);
    if (!added)
        return entry->second;
    std::vector<FrameId> frames;
    std::string_view rest = m_now.callStack;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(';'), rest.size());
        if (end > 0)
            frames.push_back(m_builder.frames().intern(kinetoFrame(rest.substr(0, end), strings)));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return entry->second = m_builder.stacks().intern(frames);
}

} // namespace tidemark
