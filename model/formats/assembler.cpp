// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/assembler.hpp"

#include "model/core/limits.hpp"
#include "model/core/units.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace tidemark {

namespace {

constexpr std::array<std::string_view, 7> dictClasses{"collections.OrderedDict", "collections.defaultdict",
    "collections.Counter", "builtins.dict", "__builtin__.dict",
    "torch.fx.immutable_collections.immutable_dict", "types.MappingProxyType"};
constexpr std::array<std::string_view, 4> listClasses{
    "builtins.list", "__builtin__.list", "builtins.tuple", "__builtin__.tuple"};
constexpr std::array<std::string_view, 2> rebuilders{"copyreg._reconstructor", "copy_reg._reconstructor"};

bool isScalar(Tag tag)
{
    return tag < Tag::Text || tag == Tag::Opaque;
}

/// Items that have a place in a snapshot; lists of them do not count against the budget for the rest.
bool isRow(Tag tag)
{
    return tag >= Tag::Event;
}

} // namespace

Assembler::Assembler(SnapshotBuilder& builder, const ReadOptions& options)
    : m_builder(builder)
    , m_options(options)
{
    for (const Word& word : knownWords()) {
        const std::size_t id = index(builder.strings().intern(word.text));
        if (m_words.size() <= id)
            m_words.resize(id + 1);
        m_words[id] = word;
    }
    m_chunks.emplace_back();
    m_emptyText = builder.strings().intern("");
    m_notCompiled = builder.strings().intern("N/A");
    m_emptyNode = StackId{newNode(Value::emptyList()).id()};
}

Value Assembler::text(std::string_view bytes)
{
    if (bytes.size() > limits::longTextBytes) {
        const bool tooMuch = m_longTextBytes > limits::maxLongTextBytes;
        const std::size_t room = tooMuch ? limits::longTextBytes : limits::maxStringBytes;
        if (bytes.size() > room) {
            ++m_cutTexts;
            bytes = bytes.substr(0, room);
        }
        const std::size_t before = m_builder.strings().size();
        const Value result{Tag::Text, static_cast<std::int64_t>(index(m_builder.strings().intern(bytes)))};
        if (m_builder.strings().size() > before)
            m_longTextBytes += bytes.size();
        return result;
    }
    if (bytes.size() > 8)
        return {Tag::Text, static_cast<std::int64_t>(index(m_builder.strings().intern(bytes)))};
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), bytes.size());
    return {Tag::Text, static_cast<std::int64_t>(index(internShort(word, bytes.size())))};
}

/// Texts like "N/A" are written out again for every event.
StringId Assembler::addShort(std::uint64_t bytes, std::size_t length)
{
    char text[sizeof bytes];
    std::memcpy(text, &bytes, sizeof bytes);
    ShortText& place = m_shortTexts[placeOf(bytes, length)];
    place = {bytes, static_cast<std::uint32_t>(length), m_builder.strings().intern({text, length})};
    return place.id;
}

Value Assembler::cutText(std::string_view head)
{
    ++m_cutTexts;
    return text(head);
}

Value Assembler::integer(std::int64_t number)
{
    if (Value::fits(number))
        return {Tag::Int, number};
    m_boxed.push_back(number);
    return {Tag::Boxed, static_cast<std::int64_t>(m_boxed.size() - 1)};
}

Value Assembler::unsignedInteger(std::uint64_t number)
{
    if (number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return integer(static_cast<std::int64_t>(number));
    m_unsigned.push_back(number);
    return {Tag::Unsigned, static_cast<std::int64_t>(m_unsigned.size() - 1)};
}

Value Assembler::hugeInteger(std::string_view decimal, std::uint64_t low)
{
    m_huge.push_back({low, m_builder.strings().intern(decimal)});
    return {Tag::Huge, static_cast<std::int64_t>(m_huge.size() - 1)};
}

Value Assembler::real(double number)
{
    m_reals.push_back(number);
    return {Tag::Real, static_cast<std::int64_t>(m_reals.size() - 1)};
}

const Word* Assembler::wordOf(Value value) const
{
    if (value.tag() != Tag::Text || value.id() >= m_words.size())
        return nullptr;
    const Word& word = m_words[value.id()];
    return word.text ? &word : nullptr;
}

Key Assembler::keyOf(Value key) const
{
    return key.tag() == Tag::Text && key.id() < m_words.size() ? m_words[key.id()].key : Key::Other;
}

std::uint64_t Assembler::keysOf(std::span<const Value> flat) const
{
    std::uint64_t keys = 0;
    for (std::size_t i = 0; i < flat.size(); i += 2)
        keys |= bit(keyOf(flat[i]));
    return keys;
}

Value Assembler::finishDict(std::span<const Value> keysAndValues)
{
    if (keysAndValues.empty())
        return Value::emptyDict();
    return newDict(keysAndValues, keysOf(keysAndValues));
}

Value Assembler::finishList(std::span<const Value> items)
{
    return items.empty() ? Value::emptyList() : newList(items);
}

Value Assembler::finishTuple(std::span<const Value> items)
{
    if (items.empty())
        return Value::emptyTuple();
    if (items.size() == 2 && items[0].tag() <= Tag::Boxed && items[1].tag() <= Tag::Boxed) {
        const auto first = integerOf(items[0]);
        const auto second = integerOf(items[1]);
        if (first && second && m_pairs.size() < limits::maxPairs) {
            const auto [entry, added]
                = m_pairIds.try_emplace({*first, *second}, static_cast<std::uint32_t>(m_pairs.size()));
            if (added) {
                m_pairs.emplace_back(*first, *second);
                m_pairPools.push_back(PoolId::none);
            }
            return {Tag::Pair, entry->second};
        }
    }
    return newList(items);
}

Value Assembler::newDict(std::span<const Value> flat, std::uint64_t keys)
{
    const DictKind kind = kindOf(keys);
    if (kind != DictKind::Generic && kind != DictKind::Top)
        return makeRow(kind, flat);
    return newBody(flat, keys);
}

Value Assembler::newBody(std::span<const Value> flat, std::uint64_t keys)
{
    std::uint32_t id = 0;
    if (m_freeDicts.empty()) {
        id = static_cast<std::uint32_t>(m_dicts.size());
        m_dicts.emplace_back();
    } else {
        id = m_freeDicts.back();
        m_freeDicts.pop_back();
    }
    m_dicts[id].flat.assign(flat.begin(), flat.end());
    m_dicts[id].keys = keys;
    Value body{Tag::Dict, id};
    if (!isKept(m_dicts[id]))
        keepBudget(body, sizeof(DictBody) + flat.size_bytes());
    return body;
}

/// Snapshots themselves, and the history of old files' blocks, are never dropped.
bool Assembler::isKept(const DictBody& body)
{
    return (body.keys & (bit(Key::Segments) | bit(Key::DeviceTraces) | bit(Key::RealSize))) != 0
        && body.flat.size() <= 2 * limits::maxKeptPairs;
}

bool Assembler::setItems(Value& dict, std::span<const Value> keysAndValues)
{
    const Value content = resolve(dict);
    switch (content.tag()) {
    case Tag::EmptyDict:
    case Tag::Foreign: { // an object that takes items is of a dict class
        const Value made = finishDict(keysAndValues);
        slot(dict) = made;
        return true;
    }
    case Tag::Dict: {
        DictBody& body = m_dicts[content.id()];
        body.flat.insert(body.flat.end(), keysAndValues.begin(), keysAndValues.end());
        body.keys |= keysOf(keysAndValues);
        const DictKind kind = kindOf(body.keys);
        if (kind == DictKind::Generic || kind == DictKind::Top) {
            Value grown = content;
            if (!isKept(body))
                keepBudget(grown, keysAndValues.size_bytes());
            slot(dict) = grown;
            return true;
        }
        const std::vector<Value> flat = std::move(body.flat);
        body = {};
        m_freeDicts.push_back(content.id());
        m_looseBytes -= std::min(m_looseBytes, sizeof(DictBody) + (flat.size() * sizeof(Value)));
        const Value made = makeRow(kind, flat);
        slot(dict) = made;
        return true;
    }
    case Tag::Event:
    case Tag::Frame:
    case Tag::Segment:
    case Tag::Block:
    case Tag::Annotation: {
        Value row = content;
        if (isStranger(row, keysAndValues)) {
            std::vector<Value> flat = pairsOf(row);
            flat.insert(flat.end(), keysAndValues.begin(), keysAndValues.end());
            row = newBody(flat, keysOf(flat));
        } else {
            updateRow(row, keysAndValues);
        }
        slot(dict) = row;
        return true;
    }
    case Tag::Opaque:
        return true;
    default:
        return false;
    }
}

Value Assembler::newList(std::span<const Value> items)
{
    switch (resolve(items.front()).tag()) {
    case Tag::Frame:
        if (collectFrames(items))
            return {Tag::Stack, static_cast<std::int64_t>(index(internStack(m_scratch)))};
        break;
    case Tag::Event:
        if (allEvents(items)) {
            m_eventLists.emplace_back();
            startChunk(resolve(items.front()).id());
            addRows(m_eventLists.back(), items);
            foldRows(m_eventLists.back());
            return {Tag::EventList, static_cast<std::int64_t>(m_eventLists.size() - 1)};
        }
        break;
    default:
        break;
    }
    return newItems(items);
}

Value Assembler::newItems(std::span<const Value> items)
{
    std::uint32_t id = 0;
    if (m_freeLists.empty()) {
        id = static_cast<std::uint32_t>(m_lists.size());
        m_lists.emplace_back();
    } else {
        id = m_freeLists.back();
        m_freeLists.pop_back();
    }
    m_lists[id].assign(items.begin(), items.end());
    Value list{Tag::List, id};
    if (!isRow(resolve(items.front()).tag()))
        keepBudget(list, sizeof(std::vector<Value>) + items.size_bytes());
    return list;
}

/// Counts memory that holds nothing of a snapshot so far; past the budget such containers are not kept.
void Assembler::keepBudget(Value& container, std::size_t bytes)
{
    m_looseBytes += bytes;
    if (m_looseBytes <= limits::maxLooseBytes)
        return;
    std::size_t counted = 0;
    if (container.tag() == Tag::List) {
        counted = sizeof(std::vector<Value>) + m_lists[container.id()].size() * sizeof(Value);
        m_lists[container.id()] = {};
        m_freeLists.push_back(container.id());
    } else {
        counted = sizeof(DictBody) + m_dicts[container.id()].flat.size() * sizeof(Value);
        m_dicts[container.id()] = {};
        m_freeDicts.push_back(container.id());
    }
    m_looseBytes -= std::min(m_looseBytes, counted);
    container = Value::opaque();
}

bool Assembler::append(Value& list, std::span<const Value> items)
{
    const Value content = resolve(list);
    if (isFinished(content))
        return items.empty();
    switch (content.tag()) {
    case Tag::EmptyList:
    case Tag::Foreign: { // an object that takes items is of a list class
        if (items.empty())
            return true;
        const Value made = newList(items);
        slot(list) = made;
        return true;
    }
    case Tag::EventList:
    case Tag::Stack:
    case Tag::List: {
        Value grown = content;
        if (!items.empty())
            extend(grown, items);
        slot(list) = grown;
        return true;
    }
    case Tag::Opaque:
        return true;
    default:
        return false;
    }
}

bool Assembler::appendOne(Value& list, Value item)
{
    if (resolve(list) != Value::emptyList() || resolve(item).tag() != Tag::Frame)
        return append(list, {&item, 1});
    // More frames will follow one by one; the list becomes a stack when it is used as one.
    const Value made = newItems({&item, 1});
    slot(list) = made;
    return true;
}

void Assembler::extend(Value& list, std::span<const Value> items)
{
    if (list.tag() == Tag::EventList) {
        if (allEvents(items)) {
            addRows(m_eventLists[list.id()], items);
            foldRows(m_eventLists[list.id()]);
            return;
        }
        list = loosen(list);
    } else if (list.tag() == Tag::Stack) {
        list = loosen(list);
    }
    if (list.tag() != Tag::List)
        return;
    std::vector<Value>& kept = m_lists[list.id()];
    const bool useful = isRow(resolve(kept.front()).tag());
    const std::size_t before = kept.size();
    kept.insert(kept.end(), items.begin(), items.end());
    if (!useful)
        keepBudget(list, (kept.size() - before) * sizeof(Value));
    if (list.tag() != Tag::List || useful || before >= limits::maxLooseItems
        || kept.size() < limits::maxLooseItems)
        return;
    // A long list of bare numbers is nobody's trace: only its existence matters.
    if (std::ranges::all_of(kept, [](Value v) { return isScalar(v.tag()); })) {
        m_looseBytes -= std::min(m_looseBytes, kept.size() * sizeof(Value));
        kept = {};
        m_freeLists.push_back(list.id());
        list = Value::opaque();
    }
}

/// A list of events or a stack as a plain list, so that anything can be added.
Value Assembler::loosen(Value list)
{
    const std::vector<Value> items = argumentsOf(list);
    if (items.empty())
        return Value::emptyList();
    return newItems(items);
}

bool Assembler::collectFrames(std::span<const Value> items)
{
    if (items.size() > limits::maxStackFrames) {
        ++m_cutStacks;
        items = items.first(limits::maxStackFrames);
    }
    m_scratch.resize(items.size());
    const Value* nodes = m_nodes.data();
    FrameId* out = m_scratch.data();
    for (const Value item : items) {
        const Value v = item.tag() == Tag::Node ? nodes[item.id()] : item;
        if (v.tag() != Tag::Frame)
            return false;
        *out++ = FrameId{v.id()};
    }
    return true;
}

bool Assembler::allEvents(std::span<const Value> items) const
{
    return std::ranges::all_of(items, [this](Value v) { return resolve(v).tag() == Tag::Event; });
}

void Assembler::addRows(std::vector<Range>& ranges, std::span<const Value> events)
{
    for (const Value v : events) {
        const std::uint32_t row = resolve(v).id();
        if (!ranges.empty() && ranges.back().first + ranges.back().count == row)
            ++ranges.back().count;
        else
            ranges.push_back({row, 1});
    }
}

std::span<const Value> Assembler::itemsOf(Value list) const
{
    const Value content = resolve(list);
    if (content.tag() == Tag::List)
        return m_lists[content.id()];
    return {};
}

Value Assembler::name(std::string_view module, std::string_view symbol)
{
    std::string full(module.substr(0, limits::longTextBytes));
    full += '.';
    full += symbol.substr(0, limits::longTextBytes);
    return {Tag::Name, static_cast<std::int64_t>(index(internMade(full)))};
}

/// A text the file does not hold as it is, but that is put together from what it holds: few bytes can ask for
/// many.
StringId Assembler::internMade(std::string_view text)
{
    StringTable& strings = m_builder.strings();
    if (text.size() > limits::shortTextBytes && strings.bytes() > limits::maxTextBytes + (m_bytesSeen * 2)) {
        text = text.substr(0, limits::shortTextBytes);
        ++m_cutTexts;
    }
    return strings.intern(text);
}

/// The same for stacks: a list that grows between its uses is another stack each time.
StackId Assembler::internStack(std::span<const FrameId> frames)
{
    StackTable& stacks = m_builder.stacks();
    if (frames.size() > limits::shortStackFrames && stacks.frames() > limits::maxStackCells + m_bytesSeen) {
        frames = frames.first(limits::shortStackFrames);
        ++m_cutStacks;
    }
    return stacks.intern(frames);
}

std::string_view Assembler::foreignName(Value value) const
{
    const Value content = resolve(value);
    if (content.tag() != Tag::Name && content.tag() != Tag::Foreign)
        return {};
    return m_builder.strings().view(content.text());
}

/// A tuple's items, whatever the tuple has become: one of events alone is a list of events.
std::vector<Value> Assembler::argumentsOf(Value list) const
{
    const Value content = resolve(list);
    std::vector<Value> items;
    if (content.tag() == Tag::List)
        return m_lists[content.id()];
    if (content.tag() == Tag::Stack) {
        for (const FrameId f : m_builder.stacks()[StackId{content.id()}])
            items.emplace_back(Tag::Frame, static_cast<std::int64_t>(index(f)));
    } else if (content.tag() == Tag::EventList) {
        for (const Range& r : m_eventLists[content.id()])
            for (std::uint32_t i = 0; i < r.count; ++i)
                items.emplace_back(Tag::Event, r.first + i);
    }
    return items;
}

Value Assembler::inertCall(Value callee, Value arguments)
{
    const std::string_view called = foreignName(callee);
    const std::vector<Value> args = argumentsOf(arguments);
    if (std::ranges::find(dictClasses, called) != dictClasses.end()) {
        // The first argument of a defaultdict makes missing values.
        const std::size_t at = called == "collections.defaultdict" ? 1 : 0;
        const Value source = args.size() <= at ? Value::emptyDict() : resolve(args[at]);
        if (source.tag() == Tag::Dict) {
            const std::vector<Value> flat = m_dicts[source.id()].flat;
            return finishDict(flat);
        }
        if (isRow(source.tag()) && source.tag() != Tag::EventList && source.tag() != Tag::Stack)
            return args[at];
        std::vector<Value> flat;
        for (const Value pair : itemsOf(source)) {
            const auto both = itemsOf(pair);
            if (both.size() == 2)
                flat.insert(flat.end(), both.begin(), both.end());
        }
        return finishDict(flat);
    }
    if (std::ranges::find(listClasses, called) != listClasses.end())
        return args.empty() ? Value::emptyList() : args.front();
    if (std::ranges::find(rebuilders, called) != rebuilders.end() && args.size() == 3) {
        // How protocols 0 and 1 write subclasses: the third argument is the plain content.
        const Tag tag = tagOf(args[2]);
        if (tag >= Tag::EmptyDict && tag != Tag::EmptyTuple)
            return args[2];
    }
    const std::string shown = called.empty() ? "an unnamed object" : std::string(called);
    if (m_foreign.size() < limits::maxForeignNames || m_foreign.contains(shown))
        ++m_foreign[shown];
    else
        ++m_foreign["others"];
    const Value content = resolve(callee);
    if (content.tag() == Tag::Name || content.tag() == Tag::Foreign)
        return {Tag::Foreign, content.payload()};
    return {Tag::Foreign, static_cast<std::int64_t>(index(m_builder.strings().intern(shown)))};
}

double Assembler::expect(std::uint64_t done, std::uint64_t total)
{
    constexpr std::size_t enough = 65536;
    Chunk& chunk = m_chunks.back();
    const std::size_t rows = chunk.rows.count();
    if (rows == 0)
        m_expectFrom = done;
    if (m_expected || rows < enough || done >= total || done <= m_expectFrom)
        return 0;
    m_expected = true;
    const double more = static_cast<double>(total - done) / static_cast<double>(done - m_expectFrom) * 1.1;
    const auto grown = [more](std::size_t count) {
        return count + static_cast<std::size_t>(std::min(1e8, static_cast<double>(count) * more));
    };
    if (!m_options.ranged())
        chunk.rows.reserve(grown(rows));
    m_nodes.reserve(grown(m_nodes.size()));
    return more;
}

bool Assembler::tooMany(std::uint64_t bytes, std::uint64_t memoSlots)
{
    m_bytesSeen = bytes;
    const std::uint64_t made
        = m_nodes.size() + m_segments.size() + m_blocks.size() + m_annotations.size() + events();
    const std::uint64_t numbers = m_boxed.size() + m_unsigned.size() + m_reals.size() + m_huge.size();
    return made + memoSlots > limits::maxObjects + (bytes / 8) || m_nodes.size() > limits::maxEvents
        || numbers > limits::maxBoxedNumbers + (bytes / 8)
        || m_builder.strings().bytes() > (limits::maxTextBytes + bytes) * 4
        || m_builder.stacks().frames() > (limits::maxStackCells + bytes) * 4;
}

std::uint64_t Assembler::events() const
{
    return m_chunks.back().end();
}

std::string Assembler::understood() const
{
    const auto counted = [](std::uint64_t n, const char* one, const char* many) {
        return formatCount(static_cast<std::int64_t>(n)) + (n == 1 ? one : many);
    };
    // Segments belong to the end of the recording: with events that are cut off they are of no use.
    return events() > 0 ? counted(events(), " event", " events")
                        : counted(m_segments.size(), " segment", " segments");
}

} // namespace tidemark
