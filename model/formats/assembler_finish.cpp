// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/assembler.hpp"

#include "model/core/limits.hpp"
#include "model/core/text.hpp"
#include "model/core/units.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace tidemark {

std::optional<Error> Assembler::finish(Value value, bool cut)
{
    Top top;
    top.cut = cut;
    if (auto error = readTop(value, top))
        return error;
    if (auto error = finishTraces(top))
        return error;
    // Half of the segments beside a trace would give wrong totals; alone they are better than nothing.
    const bool cutSegments
        = cut && events() > 0 && (top.last == Key::Segments || top.last == Key::HostSegments);
    if (top.segments && !cutSegments)
        finishSegments(*top.segments, std::nullopt);
    if (top.hostSegments && !cutSegments)
        finishSegments(*top.hostSegments, -1);
    if (auto error = finishRanges())
        return error;
    if (top.cut)
        noteCut(top);
    finishAnnotations(top.annotations);
    finishSettings("", top.settings, 0);
    finishRings(top);
    finishNotes();
    return std::nullopt;
}

Error Assembler::notASnapshot(const std::string& found) const
{
    std::string message = "This is not a memory snapshot: it holds " + found
        + ", where a dict with the keys segments or device_traces (or a list of segments) was expected.";
    if (!m_foreign.empty())
        message += " It asks for " + displayText(m_foreign.begin()->first, 80)
            + " to be called when it is loaded; that was not done.";
    message += " Record one with torch.cuda.memory._dump_snapshot.";
    return {ErrorCode::NotASnapshot, message, std::nullopt};
}

std::optional<Error> Assembler::readTop(Value value, Top& top)
{
    const Value content = resolve(value);
    switch (content.tag()) {
    case Tag::EmptyList:
    case Tag::List: { // memory_snapshot(), PyTorch 1.13: the segments alone
        const auto items = itemsOf(content);
        const bool any = std::ranges::any_of(items, [this](Value v) { return tagOf(v) == Tag::Segment; });
        if (!items.empty() && !any)
            return notASnapshot("a list of other things");
        top.segments = content;
        top.last = Key::Segments;
        return std::nullopt;
    }
    case Tag::Dict:
        break;
    default:
        return notASnapshot(describe(content));
    }

    const std::vector<Value> flat = m_dicts[content.id()].flat;
    for (std::size_t i = 0; i < flat.size(); i += 2) {
        const Value v = flat[i + 1];
        top.last = keyOf(flat[i]);
        switch (top.last) {
        case Key::Segments:
            top.segments = v;
            break;
        case Key::DeviceTraces:
            top.traces = v;
            break;
        case Key::Traces: // written by _memory_viz.py around a bare list; always empty there
            if (!top.traces)
                top.traces = v;
            break;
        case Key::HostSegments:
            top.hostSegments = v;
            break;
        case Key::HostTraces:
            top.hostTraces = v;
            break;
        case Key::AllocatorSettings:
            top.settings = v;
            break;
        case Key::ExternalAnnotations:
            top.annotations = v;
            break;
        case Key::TraceAllocMaxEntries:
            top.ringCapacity = v;
            break;
        case Key::TraceAllocOverflowed:
            top.ringOverflowed = v;
            break;
        default:
            oddKey(DictKind::Top, flat[i]);
            break;
        }
    }
    const bool snapshot = top.segments || top.hostSegments || top.hostTraces
        || (top.traces && (m_dicts[content.id()].keys & bit(Key::DeviceTraces)) != 0);
    if (!snapshot) {
        std::string names;
        for (std::size_t i = 0; i < flat.size() && i < 6; i += 2)
            names += (i > 0 ? ", " : "") + displayText(plainText(flat[i]), 40);
        return notASnapshot("a dict with the keys " + names + (flat.size() > 6 ? ", …" : ""));
    }
    for (const auto& [what, where] :
        {std::pair{&top.segments, "segments"}, std::pair{&top.traces, "device_traces"}}) {
        if (!*what)
            continue;
        const Tag tag = tagOf(**what);
        const bool list = tag == Tag::List || tag == Tag::EmptyList || tag == Tag::EmptyTuple
            || tag == Tag::EventList || tag == Tag::None;
        if (!list)
            return notASnapshot(describe(**what) + " under the key " + where);
    }
    // Other programs call parts of other things segments, such as transcripts of speech.
    if (top.segments && !top.traces && tagOf(*top.segments) == Tag::List
        && std::ranges::none_of(
            itemsOf(resolve(*top.segments)), [this](Value v) { return tagOf(v) == Tag::Segment; }))
        return notASnapshot("segments that are not of memory");
    return std::nullopt;
}

std::vector<Assembler::Range> Assembler::rangesOf(Value list)
{
    const Value content = resolve(list);
    if (content.tag() == Tag::EventList)
        return m_eventLists[content.id()];
    std::vector<Range> ranges;
    for (const Value item : itemsOf(content)) {
        Value event = resolve(item);
        // Rewritten files have entries without an action; they stay in the list as what they are.
        if (event.tag() == Tag::EmptyDict || event.tag() == Tag::Dict || event.tag() == Tag::Block) {
            const std::vector<Value> flat
                = event.tag() == Tag::Dict ? m_dicts[event.id()].flat : std::vector<Value>{};
            EventRow row;
            setAction(row, Value::none());
            for (std::size_t i = 0; i < flat.size(); i += 2)
                setEventField(row, keyOf(flat[i]), flat[i], flat[i + 1]);
            event = {Tag::Event, static_cast<std::int64_t>(events())};
            m_builder.append(m_chunks.back().rows, row);
            slot(const_cast<Value&>(item)) = event; // NOLINT: shared entries become one row
        } else if (event.tag() == Tag::EventList) {
            const auto& inner = m_eventLists[event.id()];
            ranges.insert(ranges.end(), inner.begin(), inner.end());
            continue;
        } else if (event.tag() != Tag::Event) {
            ++m_oddTypes[{DictKind::Top, "trace entry (" + describe(event) + ")"}];
            continue;
        }
        addRows(ranges, {&event, 1});
    }
    return ranges;
}

std::optional<Error> Assembler::finishTraces(Top& top)
{
    std::vector<TraceList> traces;
    if (top.traces) {
        const Value content = resolve(*top.traces);
        std::vector<Value> lists(itemsOf(content).begin(), itemsOf(content).end());
        if (content.tag() == Tag::EventList) // a writer that forgot the list of devices
            lists = {content};
        m_builder.setDeviceSlots(lists.size());
        for (std::size_t i = 0; i < lists.size(); ++i) {
            if (i > static_cast<std::size_t>(limits::maxDevice)) {
                if (tagOf(lists[i]) != Tag::EmptyList && tagOf(lists[i]) != Tag::None)
                    oddPlace("trace of device " + std::to_string(i));
            } else if (auto ranges = rangesOf(lists[i]); !ranges.empty()) {
                traces.push_back({static_cast<int>(i), std::move(ranges)});
            }
        }
        top.traceLists = lists.size();
    }
    const bool anyEvents = !traces.empty();
    if (top.hostTraces)
        if (auto ranges = rangesOf(*top.hostTraces); !ranges.empty())
            traces.push_back({-1, std::move(ranges)});

    std::uint64_t listed = 0;
    for (const TraceList& t : traces)
        for (const Range& r : t.ranges)
            listed += r.count;
    if (listed > events() && listed > limits::maxRepeatedEvents + (m_bytesSeen / 16))
        return Error{ErrorCode::TooLarge,
            "The file lists " + formatUnsigned(listed) + " events, but holds only " + formatUnsigned(events())
                + " different ones: it refers to them again and again, which no recorder does.",
            std::nullopt};

    // Lists of several devices that refer to the same rows cannot be moved.
    std::vector<Range> used;
    for (const TraceList& t : traces)
        used.insert(used.end(), t.ranges.begin(), t.ranges.end());
    std::ranges::sort(used, {}, &Range::first);
    bool alone = true;
    for (std::size_t i = 1; i < used.size() && alone; ++i)
        alone = used[i - 1].first + used[i - 1].count <= used[i].first;

    const bool emptySegments = !top.segments || itemsOf(*top.segments).empty();
    const bool hasSegments = top.segments && (!emptySegments || !anyEvents);
    const bool inTraces = top.last == Key::DeviceTraces || top.last == Key::Traces;
    if (top.cut && inTraces && top.traceLists > 0)
        m_cutDevices.push_back(static_cast<int>(top.traceLists) - 1);
    if (top.cut && top.last == Key::HostTraces)
        m_cutDevices.push_back(-1);
    for (TraceList& t : traces)
        addTrace(t, alone);
    m_hasSegments = hasSegments && !(top.cut && anyEvents && top.last == Key::Segments);
    m_hasHostSegments = top.hostSegments.has_value() && !(top.cut && top.last == Key::HostSegments);
    for (const TraceList& t : traces)
        m_builder.device(t.ordinal).hasSegments
            = !isCut(t.ordinal) && (t.ordinal == -1 ? m_hasHostSegments : m_hasSegments);
    return std::nullopt;
}

EventBuffer Assembler::takeRows(const TraceList& trace, bool alone, std::shared_ptr<RangeFold>& fold)
{
    if (alone && trace.ranges.size() == 1)
        for (Chunk& chunk : m_chunks)
            if (chunk.firstRow == trace.ranges[0].first
                && chunk.end() == chunk.firstRow + std::uint64_t{trace.ranges[0].count}) {
                fold = std::move(chunk.fold);
                return std::exchange(chunk.rows, {});
            }

    EventBuffer rows;
    for (const Range& r : trace.ranges)
        for (std::uint32_t i = 0; i < r.count; ++i) {
            const Chunk& chunk = chunkOf(r.first + i);
            if (const auto place = chunk.place(r.first + i))
                rows.appendFrom(chunk.rows, *place);
            else
                m_rangeBroken = true;
        }
    return rows;
}

void Assembler::addTrace(TraceList& trace, bool alone)
{
    std::shared_ptr<RangeFold> fold;
    EventBuffer rows = takeRows(trace, alone, fold);
    std::uint64_t listed = 0;
    for (const Range& r : trace.ranges)
        listed += r.count;
    const bool ranged = m_options.ranged() && !m_rangeBroken;
    const auto [first, last] = rangeOf(m_options, listed);
    if (ranged) {
        if (!fold)
            fold = std::make_shared<RangeFold>();
        cutToRange(rows, *fold, listed, first, last);
    }
    finishColumns(rows.columns);
    noteEvents(trace.ordinal, rows);
    addMarks(trace.ordinal, rows);
    m_builder.addTrace(trace.ordinal, std::move(rows));
    if (!ranged)
        return;
    m_builder.device(trace.ordinal).firstEventInFile
        = static_cast<std::uint32_t>(std::min<std::uint64_t>(first, limits::maxEvents));
    m_folds.emplace_back(trace.ordinal, std::move(fold));
}

bool Assembler::isCut(int ordinal) const
{
    return std::ranges::find(m_cutDevices, ordinal) != m_cutDevices.end();
}

void Assembler::finishColumns(EventColumns& columns)
{
    for (StackId& stack : columns.stack)
        stack = finalStack(stack);
    for (StackId& stack : columns.forwardStack)
        stack = finalStack(stack);
}

StackId Assembler::finalStack(StackId node)
{
    if (!valid(node))
        return node;
    Value& content = m_nodes[index(node)];
    if (content.tag() == Tag::Stack)
        return StackId{content.id()};
    const StackId stack = stackOfItems(content);
    content = {Tag::Stack, static_cast<std::int64_t>(index(stack))};
    return stack;
}

StackId Assembler::stackOfItems(Value list)
{
    const std::vector<Value> items(itemsOf(list).begin(), itemsOf(list).end());
    std::vector<FrameId> frames;
    for (const Value item : items) {
        if (frames.size() >= limits::maxStackFrames) {
            ++m_cutStacks;
            break;
        }
        if (const auto frame = frameOfItem(item))
            frames.push_back(*frame);
        else
            ++m_lostFrames;
    }
    return internStack(frames);
}

/// A frame of whatever stands in a list of frames: a dict that lacks keys, or (forward_frames) a text like
/// `File "model.py", line 3, in forward`.
std::optional<FrameId> Assembler::frameOfItem(Value item)
{
    const Value v = resolve(item);
    if (v.tag() == Tag::Frame)
        return FrameId{v.id()};
    if (v.tag() == Tag::Dict) {
        const std::vector<Value> flat = m_dicts[v.id()].flat;
        return internFrame(flat, {}, nullptr);
    }
    if (v.tag() != Tag::Text)
        return std::nullopt;

    StringTable& strings = m_builder.strings();
    const std::string text(strings.view(v.text()));
    Frame frame;
    const std::size_t file = text.find("File \"");
    const std::size_t line = file == std::string::npos ? file : text.find("\", line ", file + 6);
    if (line == std::string::npos) {
        frame.name = v.text();
        return m_builder.frames().intern(frame);
    }
    frame.file = strings.intern(std::string_view(text).substr(file + 6, line - file - 6));
    std::from_chars(text.data() + line + 8, text.data() + text.size(), frame.line);
    const std::size_t in = text.find(", in ", line);
    if (in != std::string::npos)
        frame.name = strings.intern(
            std::string_view(text).substr(in + 5, std::min(text.find('\n', in), text.size()) - in - 5));
    return m_builder.frames().intern(frame);
}

/// PyTorch 2.4 wrote record_function ranges as events: START or END as the frame's name, the range's name as
/// its file.
void Assembler::addMarks(int ordinal, const EventBuffer& rows)
{
    for (std::size_t i = 0; i < rows.count(); ++i) {
        if (rows.columns.action[i] != Action::UserDefined)
            continue;
        const auto frames = m_builder.stacks()[rows.columns.stack[i]];
        if (frames.empty())
            continue;
        const Frame frame = m_builder.frames()[frames.front()];
        Annotation mark;
        mark.start = m_builder.strings().view(frame.name) == "START";
        mark.name = frame.file;
        mark.device = ordinal;
        mark.timeUs = rows.columns.timeUs[i];
        mark.event = EventIndex{static_cast<std::uint32_t>(i)};
        m_builder.addAnnotation(mark);
    }
}

void Assembler::noteEvents(int ordinal, const EventBuffer& rows)
{
    const EventColumns& c = rows.columns;
    for (const auto& [event, word] : rows.otherActions) {
        m_builder.note(Quality::UnknownAction, ordinal, m_builder.strings().view(word),
            "Actions that no version of PyTorch writes: they are listed as events and change nothing else.");
        QualityNote* note = m_builder.findNote(Quality::UnknownAction, ordinal);
        if (!note->firstEvent)
            note->firstEvent = static_cast<std::uint32_t>(index(event));
    }
    const auto mustHaveBytes
        = [](Action a) { return a == Action::Alloc || a == Action::SegmentAlloc || a == Action::SegmentMap; };
    for (std::size_t i = 0; i < c.count(); ++i) {
        if (c.size[i] > 0 || (c.size[i] == 0 && !mustHaveBytes(c.action[i]))
            || c.action[i] == Action::UserDefined)
            continue;
        m_builder.note(Quality::AbsurdSize, ordinal, formatAddress(c.address[i]),
            "Sizes of zero, below zero or of 2^63 and more: they are shown as they are and count as 0 in "
            "every total.");
        QualityNote* note = m_builder.findNote(Quality::AbsurdSize, ordinal);
        if (!note->firstEvent)
            note->firstEvent = static_cast<std::uint32_t>(i);
    }
}

std::optional<Assembler::SegmentDraft> Assembler::segmentOf(Value value)
{
    const Value v = resolve(value);
    if (v.tag() == Tag::Segment)
        return m_segments[v.id()];
    if (v.tag() != Tag::Dict && v.tag() != Tag::EmptyDict)
        return std::nullopt;
    SegmentDraft draft;
    if (v.tag() == Tag::Dict) {
        const std::vector<Value> flat = m_dicts[v.id()].flat;
        for (std::size_t i = 0; i < flat.size(); i += 2)
            setSegmentField(draft, keyOf(flat[i]), flat[i], flat[i + 1]);
    }
    return draft;
}

std::optional<Assembler::BlockDraft> Assembler::blockOf(Value value)
{
    const Value v = resolve(value);
    if (v.tag() == Tag::Block)
        return m_blocks[v.id()];
    if (v.tag() != Tag::Dict && v.tag() != Tag::EmptyDict)
        return std::nullopt;
    BlockDraft draft;
    draft.stateName = m_builder.strings().intern("None");
    if (v.tag() == Tag::Dict) {
        const std::vector<Value> flat = m_dicts[v.id()].flat;
        for (std::size_t i = 0; i < flat.size(); i += 2)
            setBlockField(draft, keyOf(flat[i]), flat[i], flat[i + 1]);
    }
    return draft;
}

void Assembler::finishSegments(Value list, std::optional<int> ordinal)
{
    const std::vector<Value> items(itemsOf(list).begin(), itemsOf(list).end());
    for (const Value item : items) {
        const auto draft = segmentOf(item);
        if (!draft) {
            ++m_oddTypes[{DictKind::Top, "segment (" + describe(item) + ")"}];
            continue;
        }
        if (!ordinal && (draft->device < -1 || draft->device > limits::maxDevice)) {
            oddPlace("segment of device " + std::to_string(draft->device));
            continue;
        }
        DeviceTrace& device = m_builder.device(ordinal.value_or(static_cast<int>(draft->device)));
        // The state at the end says nothing about a trace that breaks off before.
        if (isCut(device.ordinal))
            continue;
        device.hasSegments = true;
        finishSegment(*draft, device);
    }
}

void Assembler::finishSegment(const SegmentDraft& draft, DeviceTrace& device)
{
    Segment segment;
    segment.address = draft.address;
    segment.stream = m_builder.stream(draft.stream);
    segment.pool = draft.pool;
    segment.stack = finalStack(draft.stackNode);
    segment.kind = draft.kind;
    segment.expandable = draft.expandable;
    segment.firstBlock = static_cast<std::uint32_t>(device.blocks.size());
    std::uint64_t running = draft.address;
    const std::vector<Value> items(itemsOf(draft.blocks).begin(), itemsOf(draft.blocks).end());
    for (const Value item : items) {
        if (const auto block = blockOf(item))
            finishBlock(*block, running, device.ordinal, device);
        else
            ++m_oddTypes[{DictKind::Segment, "block (" + describe(item) + ")"}];
    }
    segment.blockCount = static_cast<std::uint32_t>(device.blocks.size()) - segment.firstBlock;
    segment.totalSize = draft.totalSize;
    if (!draft.hasTotalSize) {
        std::uint64_t sum = 0;
        for (std::uint32_t i = 0; i < segment.blockCount; ++i)
            sum += static_cast<std::uint64_t>(device.blocks[segment.firstBlock + i].size);
        segment.totalSize = static_cast<std::int64_t>(sum);
    }
    if (segment.totalSize < 0)
        m_builder.note(Quality::AbsurdSize, device.ordinal, formatAddress(segment.address),
            "Sizes of zero, below zero or of 2^63 and more: they are shown as they are and count as 0 in "
            "every total.");
    device.segments.push_back(segment);
}

void Assembler::finishBlock(const BlockDraft& draft, std::uint64_t& running, int ordinal, DeviceTrace& device)
{
    Block block;
    block.address = draft.hasAddress ? draft.address : running;
    block.size = draft.size;
    running = block.address + static_cast<std::uint64_t>(draft.size);
    block.stack = finalStack(draft.stackNode);
    block.forwardStack = finalStack(draft.forwardNode);
    block.userMetadata = draft.userMetadata;
    block.state = draft.state;
    block.stateName = draft.stateName;

    std::int64_t requested = draft.hasRequested ? draft.requested : draft.size;
    // PyTorch 1.13 and 2.0: the newest occupant stands first in the block's history.
    if (const auto history = itemsOf(draft.history); !history.empty()) {
        const Value newest = resolve(history.front());
        const std::vector<Value> flat
            = newest.tag() == Tag::Dict ? m_dicts[newest.id()].flat : std::vector<Value>{};
        for (std::size_t i = 0; i < flat.size(); i += 2) {
            if (keyOf(flat[i]) == Key::RealSize && !draft.hasRequested)
                requested = integerOf(flat[i + 1]).value_or(draft.size);
            if (keyOf(flat[i]) == Key::Frames && !valid(block.stack) && draft.state != BlockState::Inactive)
                block.stack = finalStack(stackNode(flat[i + 1], DictKind::Block, flat[i]));
        }
    }
    block.requested = requested > 0 && requested <= draft.size ? requested : draft.size;

    if (block.state == BlockState::Unknown)
        m_builder.note(Quality::UnknownState, ordinal, m_builder.strings().view(block.stateName),
            "Block states that no version of PyTorch writes: such blocks are shown and belong to no total.");
    if (block.size < 0)
        m_builder.note(Quality::AbsurdSize, ordinal, formatAddress(block.address),
            "Sizes of zero, below zero or of 2^63 and more: they are shown as they are and count as 0 in "
            "every total.");
    device.blocks.push_back(block);
}

} // namespace tidemark
