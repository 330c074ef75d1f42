// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/result.hpp"
#include "model/formats/known_words.hpp"
#include "model/formats/reader.hpp"
#include "model/formats/value.hpp"
#include "model/snapshot/range_fold.hpp"

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tidemark {

/// Turns the values of a snapshot file (pickle or JSON) into columns while they are being read, so that
/// nothing is held twice: a finished event dict is a row at once, a frame dict a FrameId, a list of frames a
/// StackId.
///
/// Dicts are told apart by their keys alone (known_words.hpp), at the moment they get them; what stays
/// unrecognised is kept as it is, within a memory budget, until finish() finds its place. A container that
/// may be referenced twice is a Node: whoever holds it sees what it became later, so the order in which a
/// pickle fills its containers does not matter. Columns hold the node of a stack while reading; finish()
/// replaces it.
///
/// One exception: a frame dict that is changed after a list with it was completed keeps its old text in that
/// list. No writer can produce this short of a frame that contains its own stack.
///
/// Cost: about 100 ns an event beside its frames. One thread. Nothing here recurses by the input's depth.
class Assembler {
public:
    Assembler(SnapshotBuilder& builder, const ReadOptions& options);

    // Scalars. Texts are cut at limits::maxStringBytes, which is counted.
    Value text(std::string_view bytes);
    /// As text, for a reader that has already dropped the end of a text that was too long.
    Value cutText(std::string_view head);
    Value integer(std::int64_t number);
    Value unsignedInteger(std::uint64_t number);
    /// A whole number beyond 64 bits: its decimal digits and its lowest 64 bits.
    Value hugeInteger(std::string_view decimal, std::uint64_t low);
    Value real(double number);

    // Containers whose content is complete. Keys and values alternate; a later equal key wins.
    Value finishDict(std::span<const Value> keysAndValues);
    Value finishList(std::span<const Value> items);
    Value finishTuple(std::span<const Value> items);

    // Events one after the other mostly have the same keys in the same order.

    /// The keys of the last dict that became an event, when all of them belong there.
    struct EventShape {
        static constexpr std::size_t maxFields = 24;
        std::array<Value, maxFields> texts;
        std::array<Key, maxFields> keys{};
        std::size_t count = 0;
        /// Another one each time the keys change.
        std::uint64_t version = 0;
    };
    const EventShape& lastEvent() const { return m_lastEvent; }
    /// Sets a field to a value of the type every recorder writes there. False, and nothing done, for others.
    bool setPlainField(EventRow& row, Key key, Value value);
    /// Adds an event: the value that stands for its dict. Absent when there are too many.
    std::optional<Value> makeEvent(const EventRow& row);
    /// A list that is complete once an event has it: nothing can be added to it any more, so that it needs no
    /// node of its own. No recorder fills a list after it has put it into an event.
    Value finishedStack(std::optional<StackId> stack) const
    {
        return stack ? Value{Tag::Stack, static_cast<std::int64_t>(index(*stack)) | finished}
                     : Value{Tag::EmptyList, finished};
    }
    /// As text, for texts of up to 8 bytes with 8 readable ones.
    Value shortText(const unsigned char* at, std::size_t length)
    {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, at, sizeof bytes);
        bytes &= length == 0 ? 0 : ~std::uint64_t{0} >> (64 - 8 * length);
        return {Tag::Text, static_cast<std::int64_t>(index(internShort(bytes, length)))};
    }

    // What pickles need besides: containers that are filled while others already refer to them.

    /// The same value with an identity of its own, to be stored in several places. Scalars stay themselves.
    Value share(Value value)
    {
        const Tag tag = value.tag();
        return tag <= Tag::Opaque || tag == Tag::Name || tag == Tag::Node || tag == Tag::EmptyTuple
                || tag == Tag::Pair
            ? value
            : newNode(value);
    }
    /// Adds pairs to a dict. False when `dict` is not one.
    bool setItems(Value& dict, std::span<const Value> keysAndValues);
    /// Adds items to a list. False when `list` is not one.
    bool append(Value& list, std::span<const Value> items);
    /// As append with one item that is likely to be followed by more (protocol 0 writes lists so).
    bool appendOne(Value& list, Value item);
    /// Makes an empty list a stack that is known already.
    void makeStack(Value& list, StackId stack)
    {
        slot(list) = {Tag::Stack, static_cast<std::int64_t>(index(stack))};
    }
    /// The stack a list has become.
    std::optional<StackId> stackOf(Value list) const
    {
        const Value content = resolve(list);
        return content.tag() == Tag::Stack ? std::optional(StackId{content.id()}) : std::nullopt;
    }
    /// How often a frame was changed after it was one.
    std::uint64_t frameChanges() const { return m_frameChanges; }
    /// A class or function the file names: nothing is looked up or imported.
    Value name(std::string_view module, std::string_view symbol);
    /// What calling `callee` would have given. Dict kinds give an empty dict, all else an inert object whose
    /// name is reported.
    Value inertCall(Value callee, Value arguments);
    /// "os.system" of a Name or Foreign value, "" otherwise.
    std::string_view foreignName(Value value) const;
    /// A text value's bytes, as part of a name.
    std::string nameText(Value value) const { return plainText(value); }
    /// What a dict with these pairs would be.
    DictKind kindOfPairs(std::span<const Value> flat) const { return kindOf(keysOf(flat)); }
    /// What a value is in words: "a list", "an integer", "an object of numpy.dtype".
    std::string describe(Value value) const;
    Tag tagOf(Value value) const { return resolve(value).tag(); }

    /// Hands everything to the builder. `cut`: the file ended early and the reader closed the open containers
    /// itself; a trace that was being read then has no final state.
    std::optional<Error> finish(Value top, bool cut = false);

    /// Makes room for the rest of a file of which `done` of `total` bytes are read, so that columns need not
    /// move while they grow. Only address space: pages that stay unused cost nothing. Gives, once, by how
    /// much what is there will grow; else 0.
    double expect(std::uint64_t done, std::uint64_t total);
    /// Whether `bytes` of a file cannot honestly have made so many objects, numbers, texts and stacks.
    bool tooMany(std::uint64_t bytes, std::uint64_t memoSlots = 0);
    /// Tells of the events that have come since the last call, when somebody wants to know.
    void tellArrived(const Job& job);
    /// Events made so far.
    std::uint64_t events() const;
    /// "12,345 events", or "12 segments" before the first event: for messages about files that end early.
    std::string understood() const;
    bool anythingUnderstood() const { return events() > 0 || !m_segments.empty(); }

private:
    struct Chunk {
        std::uint32_t firstRow = 0;
        EventBuffer rows;
        /// Where only a range of events is kept: rows that were dropped in front of `rows`, and behind the
        /// first `kept` of them.
        std::uint32_t droppedFront = 0;
        std::uint32_t kept = 0;
        std::uint32_t droppedBehind = 0;
        std::shared_ptr<RangeFold> fold;

        std::uint64_t end() const { return firstRow + droppedFront + rows.count() + droppedBehind; }
        /// Position in `rows`; absent when it was dropped.
        std::optional<std::size_t> place(std::uint32_t row) const;
    };
    struct Range {
        std::uint32_t first = 0;
        std::uint32_t count = 0;
    };
    struct DictBody {
        std::vector<Value> flat; ///< key, value, key, value
        std::uint64_t keys = 0;
    };
    struct Huge {
        std::uint64_t low = 0;
        StringId text = StringId::none;
    };
    struct SegmentDraft {
        std::uint64_t address = 0;
        std::int64_t totalSize = 0;
        std::int64_t device = 0;
        std::int64_t stream = 0;
        Value blocks = Value::emptyList();
        StackId stackNode = StackId::none;
        PoolId pool{};
        SegmentKind kind = SegmentKind::Unknown;
        bool hasTotalSize = false;
        bool expandable = false;
    };
    struct BlockDraft {
        std::uint64_t address = 0;
        std::int64_t size = 0;
        std::int64_t requested = 0;
        Value history = Value::emptyList();
        StackId stackNode = StackId::none;
        StackId forwardNode = StackId::none;
        StringId userMetadata = StringId::none;
        StringId stateName = StringId::none;
        BlockState state = BlockState::Unknown;
        bool hasAddress = false;
        bool hasSize = false;
        bool hasRequested = false;
    };

    /// In the payload of a Stack or EmptyList.
    static constexpr std::int64_t finished = std::int64_t{1} << 40U;
    static bool isFinished(Value list)
    {
        return (list.tag() == Tag::Stack || list.tag() == Tag::EmptyList) && (list.payload() & finished) != 0;
    }
    StackId nodeOf(StackId stack);

    // assembler.cpp: values and containers
    Value resolve(Value value) const { return value.tag() == Tag::Node ? m_nodes[value.id()] : value; }
    Value& slot(Value& value) { return value.tag() == Tag::Node ? m_nodes[value.id()] : value; }
    Key keyOf(Value key) const;
    const Word* wordOf(Value value) const;
    StringId internShort(std::uint64_t bytes, std::size_t length)
    {
        const ShortText& known = m_shortTexts[placeOf(bytes, length)];
        return known.bytes == bytes && known.length == length ? known.id : addShort(bytes, length);
    }
    static std::size_t placeOf(std::uint64_t bytes, std::size_t length)
    {
        return ((bytes + length) * 0x9E3779B97F4A7C15ULL) >> 58U;
    }
    StringId addShort(std::uint64_t bytes, std::size_t length);
    void learnShape(std::span<const Value> flat);
    std::uint64_t keysOf(std::span<const Value> flat) const;
    Value newNode(Value content)
    {
        m_nodes.push_back(content);
        return {Tag::Node, static_cast<std::int64_t>(m_nodes.size() - 1)};
    }
    Value newDict(std::span<const Value> flat, std::uint64_t keys);
    Value newList(std::span<const Value> items);
    Value newBody(std::span<const Value> flat, std::uint64_t keys);
    Value newItems(std::span<const Value> items);
    void extend(Value& list, std::span<const Value> items);
    void addRows(std::vector<Range>& ranges, std::span<const Value> events);
    bool allEvents(std::span<const Value> items) const;
    bool collectFrames(std::span<const Value> items);
    Value loosen(Value list);
    void startChunk(std::uint32_t row);
    void foldRows(std::span<const Range> listed);
    std::span<const Value> itemsOf(Value list) const;
    void keepBudget(Value& container, std::size_t bytes);
    StringId internMade(std::string_view text);
    StackId internStack(std::span<const FrameId> frames);
    static bool isKept(const DictBody& body);
    std::vector<Value> argumentsOf(Value list) const;

    // assembler_rows.cpp: dicts of a known kind
    Value makeRow(DictKind kind, std::span<const Value> flat);
    void updateRow(Value& row, std::span<const Value> flat);
    void setEventField(EventRow& row, Key key, Value keyValue, Value value);
    void setFrameField(Frame& frame, FxInfo& fx, Key key, Value keyValue, Value value);
    void setSegmentField(SegmentDraft& segment, Key key, Value keyValue, Value value);
    void setBlockField(BlockDraft& block, Key key, Value keyValue, Value value);
    void setAnnotationField(Annotation& annotation, Key key, Value value);
    FrameId internFrame(std::span<const Value> flat, Frame frame, const FxInfo* fx);
    EventRow loadRow(std::uint32_t row) const;
    void storeRow(std::uint32_t row, const EventRow& event);
    const Chunk& chunkOf(std::uint32_t row) const;
    std::optional<std::int64_t> integerOf(Value value) const
    {
        return value.tag() == Tag::Int ? value.payload() : otherInteger(value);
    }
    std::optional<std::int64_t> otherInteger(Value value) const;
    /// As integerOf, for the fields of events: an optional costs a stall each.
    bool toInteger(Value value, std::int64_t& number) const
    {
        if (value.tag() == Tag::Int) {
            number = value.payload();
            return true;
        }
        const auto other = otherInteger(value);
        number = other.value_or(0);
        return other.has_value();
    }
    StringId textOrNone(Value value);
    StringId metadataText(Value value);
    bool setPlainOther(EventRow& row, Key key, Value value);
    void setAction(EventRow& row, Value value);
    PoolId poolOf(Value value);
    StackId stackNode(Value value, DictKind kind, Value key);
    void oddKey(DictKind kind, Value key);
    void oddPlace(const std::string& what);
    void oddType(DictKind kind, Value key, Value value);
    std::string plainText(Value value, int depth = 0) const;
    bool isStranger(Value row, std::span<const Value> more) const;
    std::vector<Value> pairsOf(Value row) const;
    std::string itemsText(std::span<const Value> items, bool dict, int depth) const;

    // assembler_finish.cpp, assembler_notes.cpp
    /// The values under the keys of the top level.
    struct Top {
        std::optional<Value> segments;
        std::optional<Value> traces;
        std::optional<Value> hostSegments;
        std::optional<Value> hostTraces;
        Value settings;
        Value annotations;
        Value ringCapacity;
        Value ringOverflowed;
        std::size_t traceLists = 0; ///< devices whose trace was reached
        Key last = Key::Other; ///< of the last pair in the file
        bool cut = false;
    };
    struct TraceList {
        int ordinal = 0;
        std::vector<Range> ranges;
    };
    std::optional<Error> readTop(Value top, Top& result);
    Error notASnapshot(const std::string& found) const;
    std::optional<Error> finishTraces(Top& top);
    void addTrace(TraceList& trace, bool alone);
    bool isCut(int ordinal) const;
    std::optional<Error> finishRanges();
    EventBuffer takeRows(const TraceList& trace, bool alone, std::shared_ptr<RangeFold>& fold);
    std::vector<Range> rangesOf(Value list);
    void finishColumns(EventColumns& columns);
    void noteEvents(int ordinal, const EventBuffer& rows);
    void addMarks(int ordinal, const EventBuffer& rows);
    void finishSegments(Value list, std::optional<int> ordinal);
    void finishSegment(const SegmentDraft& draft, DeviceTrace& device);
    void finishBlock(const BlockDraft& draft, std::uint64_t& running, int ordinal, DeviceTrace& device);
    std::optional<BlockDraft> blockOf(Value value);
    std::optional<SegmentDraft> segmentOf(Value value);
    void finishAnnotations(Value list);
    void finishSettings(const std::string& prefix, Value dict, int depth);
    void finishRings(const Top& top);
    void noteCut(const Top& top);
    void finishNotes();
    StackId finalStack(StackId node);
    StackId stackOfItems(Value list);
    std::optional<FrameId> frameOfItem(Value item);

    SnapshotBuilder& m_builder;
    ReadOptions m_options;

    struct ShortText {
        std::uint64_t bytes = 0;
        std::uint32_t length = 0xffffffffU;
        StringId id = StringId::none;
    };
    std::array<ShortText, 64> m_shortTexts;
    EventShape m_lastEvent;
    std::size_t m_toldTrace = 0;
    std::size_t m_toldEvents = 0;
    std::vector<Word> m_words; ///< by StringId, for the texts that are known words
    std::vector<Value> m_nodes;
    std::vector<std::int64_t> m_boxed;
    std::vector<std::uint64_t> m_unsigned;
    std::vector<double> m_reals;
    std::vector<Huge> m_huge;
    std::vector<std::pair<std::int64_t, std::int64_t>> m_pairs;
    std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> m_pairIds;
    std::vector<PoolId> m_pairPools;

    std::vector<DictBody> m_dicts;
    std::vector<std::uint32_t> m_freeDicts;
    std::vector<std::vector<Value>> m_lists;
    std::vector<std::uint32_t> m_freeLists;
    std::vector<std::vector<Range>> m_eventLists;
    std::size_t m_looseBytes = 0;

    std::vector<Chunk> m_chunks;
    std::vector<std::pair<int, std::shared_ptr<RangeFold>>> m_folds; ///< by device
    bool m_rangeBroken = false; ///< the file speaks of events again that were dropped
    std::vector<SegmentDraft> m_segments;
    std::vector<BlockDraft> m_blocks;
    std::vector<Annotation> m_annotations;

    std::vector<FrameId> m_scratch;
    std::vector<StackId> m_stackNodes; ///< the node that stands for a stack nobody else refers to
    StackId m_emptyNode = StackId::none;
    StringId m_emptyText = StringId::none;
    StringId m_notCompiled = StringId::none; ///< what PyTorch writes outside of compiled regions

    std::map<std::pair<DictKind, std::string>, std::uint64_t> m_oddTypes;
    std::unordered_map<std::uint64_t, std::uint64_t> m_oddKeys; ///< kind and StringId → how often
    std::map<std::string, std::uint64_t, std::less<>> m_foreign;
    std::uint64_t m_frameChanges = 0;
    std::uint64_t m_expectFrom = 0;
    std::uint64_t m_bytesSeen = 0;
    bool m_expected = false;
    std::uint64_t m_cutTexts = 0;
    std::size_t m_longTextBytes = 0;
    std::uint64_t m_cutStacks = 0;
    std::uint64_t m_lostFrames = 0;

    // Known once the traces are done.
    bool m_hasSegments = false;
    bool m_hasHostSegments = false;
    std::vector<int> m_cutDevices; ///< whose traces break off before the state of the segments
};

} // namespace tidemark
