// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/limits.hpp"
#include "model/core/text.hpp"
#include "model/core/units.hpp"
#include "model/formats/assembler.hpp"

#include <algorithm>
#include <cstdio>

namespace tidemark {

namespace {

/// Bytes of a dict or list that is shown as text.
constexpr std::size_t maxMetadataText = 4096;

} // namespace

/// A value as people read it: JSON-like for containers, bounded in depth and length.
std::string Assembler::plainText(Value value, int depth) const
{
    const Value v = resolve(value);
    const auto number = [](auto n) { return std::to_string(n); };
    switch (v.tag()) {
    case Tag::None:
        return "None";
    case Tag::Bool:
        return v.payload() != 0 ? "True" : "False";
    case Tag::Int:
        return number(v.payload());
    case Tag::Boxed:
        return number(m_boxed[v.id()]);
    case Tag::Unsigned:
        return number(m_unsigned[v.id()]);
    case Tag::Huge:
        return std::string(m_builder.strings().view(m_huge[v.id()].text));
    case Tag::Real: {
        char buffer[40];
        std::snprintf(buffer, sizeof buffer, "%.15g", m_reals[v.id()]);
        return buffer;
    }
    case Tag::Text: {
        const std::string_view text = m_builder.strings().view(v.text());
        return depth == 0 ? std::string(text) : '"' + std::string(text.substr(0, maxMetadataText)) + '"';
    }
    case Tag::Pair:
        return '[' + number(m_pairs[v.id()].first) + ", " + number(m_pairs[v.id()].second) + ']';
    case Tag::EmptyDict:
    case Tag::EmptyList:
    case Tag::EmptyTuple:
        return depth == 0 ? "" : v.tag() == Tag::EmptyDict ? "{}" : "[]";
    case Tag::Dict:
        return itemsText(m_dicts[v.id()].flat, true, depth);
    case Tag::List:
    case Tag::Stack:
        return itemsText(argumentsOf(v), false, depth);
    case Tag::Frame:
    case Tag::Block:
        return itemsText(pairsOf(v), true, depth);
    default:
        return describe(v);
    }
}

std::string Assembler::itemsText(std::span<const Value> items, bool dict, int depth) const
{
    if (depth > 4)
        return "…";
    std::string out(1, dict ? '{' : '[');
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i > 0)
            out += dict && i % 2 == 1 ? ": " : ", ";
        if (out.size() > maxMetadataText) {
            out += "…";
            break;
        }
        out += plainText(items[i], depth + 1);
    }
    return out + (dict ? '}' : ']');
}

/// The pairs of a frame or a block that may be somebody's metadata with the same keys.
std::vector<Value> Assembler::pairsOf(Value row) const
{
    std::vector<Value> flat;
    const auto text = [this](std::string_view word) {
        return Value{Tag::Text, static_cast<std::int64_t>(index(m_builder.strings().intern(word)))};
    };
    const auto add = [&](const char* key, Value value) { flat.insert(flat.end(), {text(key), value}); };
    const auto number = [&](std::int64_t n) {
        const Value value{Tag::Int, n};
        return value.payload() == n ? value : text(std::to_string(n));
    };
    const auto addText = [&](const char* key, StringId id) {
        if (valid(id))
            add(key, {Tag::Text, static_cast<std::int64_t>(index(id))});
    };
    if (row.tag() == Tag::Frame) {
        const Frame frame = m_builder.frames()[FrameId{row.id()}];
        addText("name", frame.name);
        addText("filename", frame.file);
        if (frame.line > 0)
            add("line", number(frame.line));
        return flat;
    }
    const BlockDraft& block = m_blocks[row.id()];
    if (block.hasAddress)
        add("address", number(static_cast<std::int64_t>(block.address)));
    add("size", number(block.size));
    if (block.hasRequested)
        add("requested_size", number(block.requested));
    if (valid(block.stateName))
        addText("state", block.stateName);
    else
        add("state", text(std::ranges::find(knownWords(), block.state, &Word::state)->text));
    return flat;
}

std::string Assembler::describe(Value value) const
{
    const Value content = resolve(value);
    switch (content.tag()) {
    case Tag::None:
        return "None";
    case Tag::Bool:
        return "a truth value";
    case Tag::Int:
    case Tag::Boxed:
    case Tag::Unsigned:
    case Tag::Huge:
        return "a whole number";
    case Tag::Real:
        return "a number";
    case Tag::Text:
        return "a text";
    case Tag::Name:
        return "the name " + std::string(foreignName(content));
    case Tag::Foreign:
        return "an object of " + std::string(foreignName(content));
    case Tag::EmptyTuple:
    case Tag::Pair:
        return "a tuple";
    case Tag::EmptyList:
        return isFinished(content) ? "the finished stack of an event" : "an empty list";
    case Tag::List:
    case Tag::EventList:
    case Tag::Stack:
        return isFinished(content) ? "the finished stack of an event" : "a list";
    case Tag::EmptyDict:
        return "an empty dict";
    default:
        return content.tag() == Tag::Opaque ? "something" : "a dict";
    }
}

void Assembler::finishAnnotations(Value list)
{
    for (const Value item : itemsOf(list)) {
        const Value v = resolve(item);
        if (v.tag() == Tag::Annotation) {
            m_builder.addAnnotation(m_annotations[v.id()]);
            continue;
        }
        Annotation annotation;
        if (v.tag() == Tag::Dict)
            for (std::size_t i = 0; i + 1 < m_dicts[v.id()].flat.size(); i += 2)
                setAnnotationField(annotation, keyOf(m_dicts[v.id()].flat[i]), m_dicts[v.id()].flat[i + 1]);
        m_builder.addAnnotation(annotation);
    }
}

void Assembler::finishSettings(const std::string& prefix, Value dict, int depth)
{
    const Value content = resolve(dict);
    if (content.tag() != Tag::Dict || depth > 3)
        return;
    const std::vector<Value> flat = m_dicts[content.id()].flat;
    for (std::size_t i = 0; i < flat.size(); i += 2) {
        const std::string key = prefix + plainText(flat[i]);
        const Value v = resolve(flat[i + 1]);
        switch (v.tag()) {
        case Tag::Bool:
            m_builder.addSetting(key, v.payload() != 0);
            break;
        case Tag::Int:
        case Tag::Boxed:
        case Tag::Unsigned:
            m_builder.addSetting(key, integerOf(v).value_or(0));
            break;
        case Tag::Real:
            m_builder.addSetting(key, m_reals[v.id()]);
            break;
        case Tag::Dict:
            finishSettings(key + '.', v, depth + 1);
            break;
        default:
            m_builder.addSetting(key, plainText(v));
            break;
        }
    }
}

/// `trace_alloc_max_entries` and `trace_alloc_overflowed`: at the top level or among the settings, one value
/// or one per device.
void Assembler::finishRings(const Top& top)
{
    Value capacity = top.ringCapacity;
    Value overflowed = top.ringOverflowed;
    const Value settings = resolve(top.settings);
    if (settings.tag() == Tag::Dict) {
        const std::vector<Value>& flat = m_dicts[settings.id()].flat;
        for (std::size_t i = 0; i < flat.size(); i += 2) {
            if (keyOf(flat[i]) == Key::TraceAllocMaxEntries)
                capacity = flat[i + 1];
            if (keyOf(flat[i]) == Key::TraceAllocOverflowed)
                overflowed = flat[i + 1];
        }
    }
    const auto perDevice = [this](Value v, std::size_t device) -> std::optional<std::int64_t> {
        const Value content = resolve(v);
        if (content.tag() == Tag::Pair)
            return device == 0 ? std::optional(m_pairs[content.id()].first)
                : device == 1  ? std::optional(m_pairs[content.id()].second)
                               : std::nullopt;
        if (content.tag() == Tag::List)
            return device < itemsOf(content).size() ? integerOf(itemsOf(content)[device]) : std::nullopt;
        return integerOf(content);
    };
    const std::size_t slots = m_builder.deviceSlots();
    for (std::size_t i = 0; i < slots; ++i) {
        const auto entries = perDevice(capacity, i);
        const auto wrapped = perDevice(overflowed, i);
        if (!entries && !wrapped)
            continue;
        DeviceTrace* device = m_builder.findDevice(static_cast<int>(i));
        if (!device)
            continue;
        if (entries && *entries > 0)
            device->ringCapacity = static_cast<std::uint64_t>(*entries);
        if (wrapped)
            device->ringOverflowed = *wrapped != 0;
    }
}

/// Says for every device what of it lies behind the end of a file that was cut.
void Assembler::noteCut(const Top& top)
{
    const bool inTraces = top.last == Key::DeviceTraces || top.last == Key::Traces;
    const bool inSegments = top.last == Key::Segments || top.last == Key::HostSegments;
    for (const DeviceTrace& device : m_builder.devices()) {
        const bool host = device.ordinal == -1;
        const bool reached
            = host ? top.hostTraces.has_value() : device.ordinal < static_cast<int>(top.traceLists);
        const bool moreTraces = host || inTraces || !top.traces;
        const std::string name = deviceName(device.ordinal);
        std::string sentence;
        if (isCut(device.ordinal))
            sentence = "The file breaks off in the trace of " + name
                + ": later events are not in it, and the state at the end is not shown, because it lies "
                  "behind them.";
        else if (!reached && moreTraces && inSegments)
            sentence
                = "The file breaks off in its list of segments: those after are missing, and no trace of "
                + name + " was reached.";
        else if (!reached && moreTraces)
            sentence = "The file breaks off before the trace of " + name
                + ": its events were not reached, and what is shown is its state at the end.";
        else if (reached && !device.hasSegments && (!top.segments || inSegments))
            sentence = "The file breaks off before the end of its list of segments: the state of " + name
                + " at the end was not reached.";
        if (!sentence.empty())
            m_builder.note(Quality::TruncatedFile, device.ordinal, "", sentence);
    }
}

void Assembler::finishNotes()
{
    std::uint64_t oddKeys = 0;
    const auto unknownKey = [&](std::string_view example, std::uint64_t count) {
        oddKeys += count;
        m_builder.note(Quality::UnknownKey, std::nullopt, example,
            "Keys that no version of PyTorch writes, or values of a kind not expected there: they are left "
            "out.");
    };
    std::vector<std::pair<std::string, std::uint64_t>> names;
    for (const auto& [packed, count] : m_oddKeys) {
        const auto kind = static_cast<DictKind>(packed >> 32U);
        const StringId id{static_cast<std::uint32_t>(packed)};
        const std::string name = valid(id) ? displayText(m_builder.strings().view(id), 80) : "None";
        names.emplace_back(*kindName(kind) ? std::string(kindName(kind)) + '.' + name : name, count);
    }
    std::ranges::sort(names);
    for (const auto& [name, count] : names)
        unknownKey(name, count);
    for (const auto& [where, count] : m_oddTypes) {
        const std::string kind = kindName(where.first);
        unknownKey(kind.empty() ? where.second : kind + '.' + where.second, count);
    }
    if (m_lostFrames > 0)
        unknownKey("frames (items that are no frames)", m_lostFrames);
    if (QualityNote* note = m_builder.findNote(Quality::UnknownKey, std::nullopt))
        note->count = oddKeys;

    for (const auto& [name, count] : m_foreign) {
        m_builder.note(Quality::ForeignObject, std::nullopt, displayText(name, 80),
            "The file names classes or functions of other programs to be called when it is loaded: none was "
            "called, "
            "such values are left out.");
        m_builder.findNote(Quality::ForeignObject, std::nullopt)->count += count - 1;
    }

    std::uint64_t bad = 0;
    for (std::size_t i = 0; i < m_builder.strings().size(); ++i) {
        const std::string_view text = m_builder.strings().view(StringId{static_cast<std::uint32_t>(i)});
        if (isValidUtf8(text))
            continue;
        ++bad;
        m_builder.note(Quality::BadText, std::nullopt, displayText(text, 80),
            "Texts that are not valid UTF-8: the bad bytes are shown as U+FFFD.");
    }
    if (m_cutTexts + m_cutStacks == 0)
        return;
    std::string sentence;
    if (bad > 0)
        sentence = "Texts that are not valid UTF-8: the bad bytes are shown as U+FFFD. ";
    if (m_cutTexts > 0)
        sentence += "Very long texts were cut: " + formatUnsigned(m_cutTexts) + ". ";
    if (m_cutStacks > 0)
        sentence += "Stacks cut, to " + formatUnsigned(limits::maxStackFrames)
            + " frames or fewer: " + formatUnsigned(m_cutStacks) + ". ";
    sentence.pop_back();
    m_builder.note(Quality::BadText, std::nullopt, "", sentence);
    QualityNote* note = m_builder.findNote(Quality::BadText, std::nullopt);
    note->sentence = sentence;
    note->count = bad + m_cutTexts + m_cutStacks;
}

} // namespace tidemark
