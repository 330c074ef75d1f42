// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/json_snapshot.hpp"

#include "model/core/limits.hpp"
#include "model/core/units.hpp"
#include "model/formats/memory_stream.hpp"

#include <algorithm>
#include <array>

namespace tidemark {

namespace {

/// Items of a list that wait before they go to the assembler together.
constexpr std::size_t batchItems = 1024;
/// Values read between two looks at how much memory they took.
constexpr std::uint64_t stepsBetweenLooks = 4096;
/// Bytes looked at to tell what a bare list holds.
constexpr std::size_t aheadBytes = 64U << 10;
/// Containers that may stay open when a file is cut: the outermost one, the value of one of its keys, and the
/// trace of one device. Anything deeper, such as half an event, is dropped.
constexpr std::size_t keptDepth = 3;

/// The lowest 64 bits of a decimal number of any length.
std::uint64_t lowBits(std::string_view decimal)
{
    std::uint64_t low = 0;
    for (const char c : decimal)
        if (c >= '0' && c <= '9')
            low = low * 10 + static_cast<std::uint64_t>(c - '0');
    return decimal.starts_with('-') ? ~low + 1 : low;
}

} // namespace

JsonSnapshot::JsonSnapshot(JsonPull& json, SnapshotBuilder& builder, const ReadOptions& options)
    : m_json(json)
    , m_assembler(builder, options)
{ }

bool JsonSnapshot::decides(std::string_view key)
{
    static constexpr std::array<std::string_view, 7> keys{"segments", "device_traces", "traces",
        "allocator_settings", "external_annotations", "host_segments", "host_traces"};
    return std::ranges::find(keys, key) != keys.end();
}

bool JsonSnapshot::firstItemIsTraceEvent(const JsonPull& json)
{
    MemoryStream start("{" + std::string(json.ahead().substr(0, aheadBytes)));
    JsonPull item(start);
    item.next();
    while (item.next() == JsonToken::Key) {
        const std::string_view key = item.text();
        if (key == "ph" || key == "ts")
            return true;
        if (!item.skip())
            break;
    }
    return false;
}

void JsonSnapshot::beginObject(std::span<const std::string> skipped)
{
    open(true);
    for (const std::string& key : skipped) {
        add(m_assembler.text(key));
        add(Value::opaque());
    }
}

void JsonSnapshot::beginList()
{
    open(false);
}

void JsonSnapshot::open(bool object)
{
    m_open.push_back({m_values.size(), object, false, {}});
}

Value JsonSnapshot::close()
{
    Open& top = m_open.back();
    const std::span<const Value> rest{m_values.data() + top.first, m_values.size() - top.first};
    Value made;
    if (top.object) {
        made = m_assembler.finishDict(rest);
    } else if (top.hasList) {
        made = top.list;
        m_assembler.append(made, rest);
    } else {
        made = m_assembler.finishList(rest);
    }
    m_values.resize(top.first);
    m_open.pop_back();
    return made;
}

void JsonSnapshot::add(Value value)
{
    m_values.push_back(value);
    Open& top = m_open.back();
    if (top.object || m_values.size() - top.first < batchItems)
        return;
    const std::span<const Value> items{m_values.data() + top.first, m_values.size() - top.first};
    if (top.hasList) {
        m_assembler.append(top.list, items);
    } else {
        top.list = m_assembler.finishList(items);
        top.hasList = true;
    }
    m_values.resize(top.first);
}

Value JsonSnapshot::number()
{
    const std::string_view literal = m_json.text();
    if (m_json.token() == JsonToken::Integer) {
        if (m_json.integer() < 0 && !literal.starts_with('-'))
            return m_assembler.unsignedInteger(static_cast<std::uint64_t>(m_json.integer()));
        return m_assembler.integer(m_json.integer());
    }
    if (literal.find_first_not_of("-0123456789") == std::string_view::npos)
        return m_assembler.hugeInteger(literal, lowBits(literal));
    return m_assembler.real(m_json.real());
}

Value JsonSnapshot::scalar()
{
    switch (m_json.token()) {
    case JsonToken::Key:
    case JsonToken::String:
        return m_json.wasCut() ? m_assembler.cutText(m_json.text()) : m_assembler.text(m_json.text());
    case JsonToken::Integer:
    case JsonToken::Real:
        return number();
    case JsonToken::True:
        return Value::boolean(true);
    case JsonToken::False:
        return Value::boolean(false);
    default:
        return Value::none();
    }
}

/// What of the file's length cannot be: as for pickles, but told from time to time only.
bool JsonSnapshot::tooMany()
{
    if (++m_steps % stepsBetweenLooks != 0)
        return false;
    if (m_json.job())
        m_assembler.tellArrived(*m_json.job());
    const std::uint64_t bytes = m_json.offset();
    if (m_values.size() <= limits::maxOpenValues + bytes / 16 && !m_assembler.tooMany(bytes))
        return false;
    m_json.refuse({ErrorCode::TooLarge,
        "Up to byte " + formatUnsigned(bytes)
            + " the file makes far more objects than any snapshot of that length",
        bytes});
    m_failed = true;
    return true;
}

/// Reads the value that the current token begins, with all that is in it.
bool JsonSnapshot::readValue()
{
    const std::size_t outer = m_open.size();
    for (;;) {
        switch (m_json.token()) {
        case JsonToken::Failed:
        case JsonToken::End:
            m_failed = true;
            return false;
        case JsonToken::BeginObject:
        case JsonToken::BeginArray:
            if (m_open.size() < limits::maxDepth) {
                open(m_json.token() == JsonToken::BeginObject);
            } else {
                if (!m_json.skip()) {
                    m_failed = true;
                    return false;
                }
                add(Value::opaque());
            }
            break;
        case JsonToken::EndObject:
        case JsonToken::EndArray:
            add(close());
            break;
        default:
            add(scalar());
        }
        if (tooMany())
            return false;
        if (m_open.size() == outer)
            return true;
        m_json.next();
    }
}

bool JsonSnapshot::readMember(std::string_view key)
{
    add(m_json.wasCut() ? m_assembler.cutText(key) : m_assembler.text(key));
    m_json.next();
    return readValue();
}

bool JsonSnapshot::readItems()
{
    while (m_json.token() != JsonToken::EndArray) {
        if (!readValue())
            return false;
        m_json.next();
    }
    return true;
}

std::optional<Error> JsonSnapshot::finish()
{
    // An object is whole only as the file itself or under a key of it: in a list it is half a segment.
    const auto keeps = [this](std::size_t depth) {
        return !m_open[depth - 1].object || depth == 1 || (depth == 2 && m_open[0].object);
    };
    std::size_t whole = 0;
    while (whole < std::min(m_open.size(), keptDepth) && keeps(whole + 1))
        ++whole;
    while (m_open.size() > whole) {
        m_values.resize(m_open.back().first);
        m_open.pop_back();
    }
    while (m_open.size() > 1) {
        if (m_open.back().object && (m_values.size() - m_open.back().first) % 2 == 1)
            m_values.pop_back();
        add(close());
    }
    if (m_open.back().object && (m_values.size() - m_open.back().first) % 2 == 1)
        m_values.pop_back();
    return m_assembler.finish(close(), m_failed);
}

} // namespace tidemark
