// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/assembler.hpp"

#include "model/core/limits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tidemark {

Value Assembler::makeRow(DictKind kind, std::span<const Value> flat)
{
    switch (kind) {
    case DictKind::Event: {
        EventRow row;
        for (std::size_t i = 0; i < flat.size(); i += 2)
            setEventField(row, keyOf(flat[i]), flat[i], flat[i + 1]);
        Chunk& chunk = m_chunks.back();
        const std::uint64_t at = chunk.end();
        if (at >= limits::maxEvents)
            return Value::opaque();
        m_builder.append(chunk.rows, row);
        learnShape(flat);
        return {Tag::Event, static_cast<std::int64_t>(at)};
    }
    case DictKind::Frame:
        return {Tag::Frame, static_cast<std::int64_t>(index(internFrame(flat, {}, nullptr)))};
    case DictKind::Segment: {
        SegmentDraft draft;
        for (std::size_t i = 0; i < flat.size(); i += 2)
            setSegmentField(draft, keyOf(flat[i]), flat[i], flat[i + 1]);
        m_segments.push_back(draft);
        return {Tag::Segment, static_cast<std::int64_t>(m_segments.size() - 1)};
    }
    case DictKind::Block: {
        BlockDraft draft;
        for (std::size_t i = 0; i < flat.size(); i += 2)
            setBlockField(draft, keyOf(flat[i]), flat[i], flat[i + 1]);
        m_blocks.push_back(draft);
        return {Tag::Block, static_cast<std::int64_t>(m_blocks.size() - 1)};
    }
    case DictKind::Annotation: {
        Annotation annotation;
        for (std::size_t i = 0; i < flat.size(); i += 2)
            setAnnotationField(annotation, keyOf(flat[i]), flat[i + 1]);
        m_annotations.push_back(annotation);
        return {Tag::Annotation, static_cast<std::int64_t>(m_annotations.size() - 1)};
    }
    case DictKind::Generic:
    case DictKind::Top:
        break;
    }
    return newBody(flat, keysOf(flat));
}

void Assembler::updateRow(Value& row, std::span<const Value> flat)
{
    const std::uint32_t id = row.id();
    const auto each = [&](auto&& set) {
        for (std::size_t i = 0; i < flat.size(); i += 2)
            set(keyOf(flat[i]), flat[i], flat[i + 1]);
    };
    switch (row.tag()) {
    case Tag::Event: {
        EventRow event = loadRow(id);
        each([&](Key k, Value keyValue, Value v) { setEventField(event, k, keyValue, v); });
        storeRow(id, event);
        break;
    }
    case Tag::Frame: {
        ++m_frameChanges;
        const Frame frame = m_builder.frames()[FrameId{id}];
        row = {Tag::Frame,
            static_cast<std::int64_t>(index(internFrame(flat, frame, m_builder.frames().fx(FrameId{id}))))};
        break;
    }
    case Tag::Segment:
        each([&](Key k, Value keyValue, Value v) { setSegmentField(m_segments[id], k, keyValue, v); });
        break;
    case Tag::Block:
        each([&](Key k, Value keyValue, Value v) { setBlockField(m_blocks[id], k, keyValue, v); });
        break;
    case Tag::Annotation:
        each([&](Key k, Value, Value v) { setAnnotationField(m_annotations[id], k, v); });
        break;
    default:
        break;
    }
}

void Assembler::setEventField(EventRow& row, Key key, Value keyValue, Value value)
{
    const auto number = [&](auto& field) {
        std::int64_t n = 0;
        if (toInteger(value, n))
            field = static_cast<std::remove_reference_t<decltype(field)>>(n);
        else
            oddType(DictKind::Event, keyValue, value);
    };
    switch (key) {
    case Key::Action:
        setAction(row, value);
        break;
    case Key::Addr:
    case Key::Address:
        number(row.address);
        break;
    case Key::Size:
        if (std::int64_t n = 0; toInteger(value, n)) {
            row.size = value.tag() == Tag::Huge ? std::numeric_limits<std::int64_t>::min() : n;
            row.hasSize = true;
            const bool odd = value.tag() == Tag::Huge || value.tag() == Tag::Unsigned;
            row.sizeText = odd ? internMade(plainText(value)) : StringId::none;
        } else
            oddType(DictKind::Event, keyValue, value);
        break;
    case Key::Stream:
        number(row.stream);
        break;
    case Key::TimeUs:
        number(row.timeUs);
        break;
    case Key::Frames:
        row.stack = stackNode(value, DictKind::Event, keyValue);
        break;
    case Key::ForwardFrames:
        row.forwardStack = stackNode(value, DictKind::Event, keyValue);
        break;
    case Key::DeviceFree:
        if (const auto n = integerOf(value))
            row.deviceFree = *n;
        break;
    case Key::PoolId:
        row.pool = poolOf(value);
        break;
    case Key::CompileContext: {
        const StringId text = metadataText(value);
        row.compileContext = text == m_notCompiled ? StringId::none : text;
        break;
    }
    case Key::UserMetadata:
        row.userMetadata = metadataText(value);
        break;
    case Key::InternalMetadata:
        row.internalMetadata = metadataText(value);
        break;
    case Key::Category:
        row.category = metadataText(value);
        break;
    default:
        oddKey(DictKind::Event, keyValue);
        break;
    }
}

void Assembler::setAction(EventRow& row, Value value)
{
    row.otherAction = StringId::none;
    if (const Word* word = wordOf(value)) {
        row.action = word->action;
        if (row.action == Action::Unknown)
            row.otherAction = value.text();
        return;
    }
    row.action = Action::Unknown;
    row.otherAction = value.tag() == Tag::Text ? value.text() : internMade(plainText(value));
}

FrameId Assembler::internFrame(std::span<const Value> flat, Frame frame, const FxInfo* fx)
{
    FxInfo info = fx ? *fx : FxInfo{};
    for (std::size_t i = 0; i < flat.size(); i += 2)
        setFrameField(frame, info, keyOf(flat[i]), flat[i], flat[i + 1]);
    const FrameId id = m_builder.frames().intern(frame);
    if (valid(info.op) || valid(info.name) || valid(info.target) || valid(info.trace))
        m_builder.frames().setFx(id, info);
    return id;
}

void Assembler::setFrameField(Frame& frame, FxInfo& fx, Key key, Value keyValue, Value value)
{
    switch (key) {
    case Key::Name:
        frame.name = textOrNone(value);
        break;
    case Key::Filename:
        frame.file = textOrNone(value);
        break;
    case Key::Line: {
        const std::int64_t line = integerOf(value).value_or(0);
        frame.line = line > 0 && line <= std::numeric_limits<std::uint32_t>::max()
            ? static_cast<std::uint32_t>(line)
            : 0;
        break;
    }
    case Key::FxNodeOp:
        fx.op = textOrNone(value);
        break;
    case Key::FxNodeName:
        fx.name = textOrNone(value);
        break;
    case Key::FxNodeTarget:
        fx.target = textOrNone(value);
        break;
    case Key::FxOriginalTrace:
        fx.trace = textOrNone(value);
        break;
    case Key::FxNodeInfo: // named in the documentation, never written
        break;
    default:
        oddKey(DictKind::Frame, keyValue);
        break;
    }
}

void Assembler::setSegmentField(SegmentDraft& segment, Key key, Value keyValue, Value value)
{
    const auto number = [&](auto& field) {
        if (const auto n = integerOf(value)) {
            field = static_cast<std::remove_reference_t<decltype(field)>>(*n);
            return true;
        }
        oddType(DictKind::Segment, keyValue, value);
        return false;
    };
    switch (key) {
    case Key::Device:
        number(segment.device);
        break;
    case Key::Address:
        number(segment.address);
        break;
    case Key::TotalSize:
        segment.hasTotalSize = number(segment.totalSize) || segment.hasTotalSize;
        break;
    case Key::Stream:
        number(segment.stream);
        break;
    case Key::SegmentType: {
        const Word* word = wordOf(value);
        segment.kind = word ? word->segmentKind : SegmentKind::Unknown;
        break;
    }
    case Key::SegmentPoolId: {
        const PoolId pool = poolOf(value);
        segment.pool = valid(pool) ? pool : PoolId{0};
        break;
    }
    case Key::IsExpandable:
        segment.expandable = integerOf(value).value_or(0) != 0;
        break;
    case Key::Frames:
        segment.stackNode = stackNode(value, DictKind::Segment, keyValue);
        break;
    case Key::Blocks:
        segment.blocks = value;
        break;
    case Key::AllocatedSize: // sums over the blocks; the blocks are the truth
    case Key::ActiveSize:
    case Key::RequestedSize:
    case Key::ForwardFrames:
        break;
    default:
        oddKey(DictKind::Segment, keyValue);
        break;
    }
}

void Assembler::setBlockField(BlockDraft& block, Key key, Value keyValue, Value value)
{
    const auto number = [&](auto& field, bool& has) {
        if (const auto n = integerOf(value)) {
            field = static_cast<std::remove_reference_t<decltype(field)>>(*n);
            has = true;
        } else
            oddType(DictKind::Block, keyValue, value);
    };
    switch (key) {
    case Key::Address:
        number(block.address, block.hasAddress);
        break;
    case Key::Size:
        number(block.size, block.hasSize);
        break;
    case Key::RequestedSize:
        number(block.requested, block.hasRequested);
        break;
    case Key::State: {
        const Word* word = wordOf(value);
        block.state = word ? word->state : BlockState::Unknown;
        block.stateName = StringId::none;
        if (block.state == BlockState::Unknown)
            block.stateName = value.tag() == Tag::Text ? value.text() : internMade(plainText(value));
        break;
    }
    case Key::Frames:
        block.stackNode = stackNode(value, DictKind::Block, keyValue);
        break;
    case Key::ForwardFrames:
        block.forwardNode = stackNode(value, DictKind::Block, keyValue);
        break;
    case Key::History:
        block.history = value;
        break;
    case Key::UserMetadata:
        block.userMetadata = metadataText(value);
        break;
    default:
        oddKey(DictKind::Block, keyValue);
        break;
    }
}

void Assembler::setAnnotationField(Annotation& annotation, Key key, Value value)
{
    switch (key) {
    case Key::Stage:
        annotation.start = value.tag() == Tag::Text && m_builder.strings().view(value.text()) == "START";
        break;
    case Key::Name:
        annotation.name = textOrNone(value);
        break;
    case Key::Device: {
        const std::int64_t device = integerOf(value).value_or(0);
        const bool real = device >= -1 && device <= limits::maxDevice;
        // A mark still tells the time when its device cannot be.
        annotation.device = real ? static_cast<int>(device) : everyDevice;
        if (!real)
            oddPlace("range of device " + std::to_string(device) + " (shown on every device)");
        break;
    }
    case Key::TimeUs:
        annotation.timeUs = integerOf(value).value_or(noTime);
        break;
    default:
        break;
    }
}

const Assembler::Chunk& Assembler::chunkOf(std::uint32_t row) const
{
    const auto after = std::ranges::upper_bound(m_chunks, row, {}, [](const Chunk& c) { return c.firstRow; });
    return *(after - 1);
}

EventRow Assembler::loadRow(std::uint32_t row) const
{
    const Chunk& chunk = chunkOf(row);
    const auto place = chunk.place(row);
    if (!place)
        return {};
    EventRow event = chunk.rows.row(*place);
    event.stream = m_builder.streamValue(chunk.rows.columns.stream[*place]);
    return event;
}

void Assembler::storeRow(std::uint32_t row, const EventRow& event)
{
    auto& chunk = const_cast<Chunk&>(chunkOf(row)); // NOLINT: *this is not const here
    const auto place = chunk.place(row);
    // What has been counted already cannot be taken back.
    if (!place || (chunk.fold && chunk.fold->insideDone()))
        m_rangeBroken = true;
    else
        chunk.rows.replace(*place, event, m_builder.stream(event.stream));
}

/// The number a value stands for, cut to its lowest 64 bits.
std::optional<std::int64_t> Assembler::otherInteger(Value value) const
{
    const Value v = resolve(value);
    switch (v.tag()) {
    case Tag::Bool:
    case Tag::Int:
        return v.payload();
    case Tag::Boxed:
        return m_boxed[v.id()];
    case Tag::Unsigned:
        return static_cast<std::int64_t>(m_unsigned[v.id()]);
    case Tag::Huge:
        return static_cast<std::int64_t>(m_huge[v.id()].low);
    case Tag::Real: {
        const double d = m_reals[v.id()];
        if (std::isfinite(d) && std::abs(d) < 9.2e18)
            return static_cast<std::int64_t>(d);
        if (d > 0 && d < 1.8e19)
            return static_cast<std::int64_t>(static_cast<std::uint64_t>(d));
        return std::nullopt;
    }
    default:
        return std::nullopt;
    }
}

StringId Assembler::textOrNone(Value value)
{
    if (value.tag() == Tag::Text)
        return value.text();
    if (value.tag() == Tag::None)
        return StringId::none;
    return internMade(plainText(value));
}

/// Contexts and metadata of any type, as text; what says nothing is none.
StringId Assembler::metadataText(Value value)
{
    const StringId text = textOrNone(value);
    return text == m_emptyText ? StringId::none : text;
}

PoolId Assembler::poolOf(Value value)
{
    const Value v = resolve(value);
    if (v.tag() == Tag::Pair) {
        PoolId& pool = m_pairPools[v.id()];
        if (!valid(pool))
            pool = m_builder.pool(m_pairs[v.id()].first, m_pairs[v.id()].second);
        return pool;
    }
    const auto items = itemsOf(v);
    if (items.size() != 2)
        return PoolId::none;
    const auto first = integerOf(items[0]);
    const auto second = integerOf(items[1]);
    return first && second ? m_builder.pool(*first, *second) : PoolId::none;
}

/// The node that will be a stack once everything is read.
StackId Assembler::stackNode(Value value, DictKind kind, Value key)
{
    if (value.tag() == Tag::Node) {
        Value& content = m_nodes[value.id()];
        // Lists that were filled one by one become stacks here; one that changes later is loosened again.
        if (content.tag() == Tag::List && collectFrames(m_lists[content.id()])) {
            m_lists[content.id()] = {};
            m_freeLists.push_back(content.id());
            content = {Tag::Stack, static_cast<std::int64_t>(index(internStack(m_scratch)))};
        }
        return StackId{value.id()};
    }
    switch (value.tag()) {
    case Tag::EmptyList:
    case Tag::EmptyTuple:
        return m_emptyNode;
    case Tag::Stack:
        return nodeOf(StackId{value.id()});
    case Tag::List:
        if (collectFrames(m_lists[value.id()])) {
            m_lists[value.id()] = {};
            m_freeLists.push_back(value.id());
            return stackNode(
                {Tag::Stack, static_cast<std::int64_t>(index(internStack(m_scratch)))}, kind, key);
        }
        return StackId{newNode(value).id()};
    case Tag::None:
        return StackId::none;
    default:
        oddType(kind, key, value);
        return StackId::none;
    }
}

/// The node that stands for a stack wherever nothing can be added to the list.
StackId Assembler::nodeOf(StackId stack)
{
    const std::size_t at = index(stack);
    if (m_stackNodes.size() <= at)
        m_stackNodes.resize(std::max(at + 1, m_stackNodes.size() * 2), StackId::none);
    if (!valid(m_stackNodes[at]))
        m_stackNodes[at] = StackId{newNode({Tag::Stack, static_cast<std::int64_t>(at)}).id()};
    return m_stackNodes[at];
}

void Assembler::oddKey(DictKind kind, Value key)
{
    const StringId name = textOrNone(key);
    ++m_oddKeys[(static_cast<std::uint64_t>(kind) << 32U) | (valid(name) ? index(name) : 0xffffffffU)];
}

/// Something that belongs to a device no machine has.
void Assembler::oddPlace(const std::string& what)
{
    const std::pair key{DictKind::Top, what};
    if (m_oddTypes.size() < limits::maxForeignNames || m_oddTypes.contains(key))
        ++m_oddTypes[key];
    else
        ++m_oddTypes[{DictKind::Top, "others"}];
}

void Assembler::oddType(DictKind kind, Value key, Value value)
{
    const Tag tag = resolve(value).tag();
    if (tag == Tag::None)
        return;
    if (m_oddTypes.size() < limits::maxForeignNames)
        ++m_oddTypes[{kind, plainText(key) + " (" + describe(value) + ")"}];
}

/// Whether keys that come later tell that a row was somebody's own dict: it lacks what every row has, and has
/// what none has.
bool Assembler::isStranger(Value row, std::span<const Value> more) const
{
    DictKind kind = DictKind::Block;
    if (row.tag() == Tag::Frame) {
        const Frame frame = m_builder.frames()[FrameId{row.id()}];
        if (valid(frame.name) && valid(frame.file))
            return false;
        kind = DictKind::Frame;
    } else if (row.tag() != Tag::Block || m_blocks[row.id()].hasAddress) {
        return false;
    }
    for (std::size_t i = 0; i < more.size(); i += 2)
        if (!keyBelongs(kind, keyOf(more[i])))
            return true;
    return false;
}

} // namespace tidemark
