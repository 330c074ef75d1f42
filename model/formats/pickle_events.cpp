// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/limits.hpp"
#include "model/formats/pickle_machine.hpp"
#include "model/formats/pickle_opcodes.hpp"

namespace tidemark {

using namespace pickle;

namespace {

/// Fields are looked at only while a key, a short value and what follows it surely lie in the window.
constexpr std::ptrdiff_t fieldBytes = 4 * longestFixed;

/// Bytes of the argument of BININT1, BININT2 and BININT; 0 for all other opcodes.
constexpr std::array<std::uint8_t, 256> numberBytes = [] {
    std::array<std::uint8_t, 256> bytes{};
    bytes[BININT1] = 1;
    bytes[BININT2] = 2;
    bytes[BININT] = 4;
    return bytes;
}();

} // namespace

/// Reads whole events, EMPTY_DICT to SETITEMS, with the keys of the last one, for as long as they stand one
/// behind the other: ten opcodes out of eleven of a snapshot belong to such dicts. Wherever something else
/// turns up, `at` is that dict's beginning and nothing of it has happened: its opcodes are run one by one.
/// Whether there was one.
bool PickleMachine::events(const unsigned char*& at, Value*& top)
{
    const Assembler::EventShape& shape = m_assembler.lastEvent();
    if (shape.count == 0 || m_memoCount != m_memo.size() || m_marks.size() >= limits::maxOpenMarks)
        return false;
    if (m_seenShape != shape.version) {
        m_seenShape = shape.version;
        forgetFields();
    }
    bool any = false;
    while (top < m_limit && *at == EMPTY_DICT) {
        const std::size_t memo = m_memo.size();
        if (!event(at, *top)) {
            m_memo.resize(memo);
            m_memoCount = memo;
            break;
        }
        ++top;
        any = true;
    }
    return any;
}

bool PickleMachine::event(const unsigned char*& at, Value& made)
{
    const unsigned char* p = at + 1;
    if (m_end - p < fieldBytes)
        return false;
    const std::size_t slot = m_memo.size();
    const std::size_t named = memoized(p);
    if (named > 0)
        remember(unfilled);
    p += named;
    if (*p++ != MARK)
        return false;
    const std::size_t fields = m_assembler.lastEvent().count;
    EventRow row = m_texts;
    for (std::size_t field = 0; field < fields; ++field)
        if (m_end - p < fieldBytes || !eventKey(p, field) || !eventField(p, field, row))
            return false;
    if (*p != SETITEMS)
        return false;
    const auto event = m_assembler.makeEvent(row);
    if (!event)
        return false;
    if (named > 0)
        m_memo[slot] = *event;
    made = *event;
    at = p + 1;
    return true;
}

/// Moves behind the key when it is the one that is expected.
bool PickleMachine::eventKey(const unsigned char*& at, std::size_t field)
{
    FieldSeen& key = m_seen[field];
    const auto bytes = load<std::uint64_t>(at);
    if ((bytes & key.mask) != key.bytes) [[unlikely]] {
        Value value;
        const std::size_t length = reference(at, value);
        if (length == 0 || value != m_assembler.lastEvent().texts[field])
            return false;
        key.length = length;
        key.mask = ~std::uint64_t{0} >> (64 - 8 * length);
        key.bytes = bytes & key.mask;
    }
    at += key.length;
    return true;
}

bool PickleMachine::eventField(const unsigned char*& at, std::size_t field, EventRow& row)
{
    std::int64_t number = 0;
    switch (const Key key = m_assembler.lastEvent().keys[field]) {
    case Key::Addr:
    case Key::Address:
        if (!wholeNumber(at, number))
            return false;
        row.address = static_cast<std::uint64_t>(number);
        return true;
    case Key::Size:
        if (!wholeNumber(at, row.size))
            return false;
        row.hasSize = true;
        return true;
    case Key::Stream:
        return wholeNumber(at, row.stream);
    case Key::TimeUs:
        return wholeNumber(at, row.timeUs);
    case Key::Frames:
    case Key::ForwardFrames:
        return stackField(at, key, row);
    case Key::PoolId:
        return poolField(at, row);
    default:
        return textField(at, field, row);
    }
}

/// A number that needs no box, of any opcode that PyTorch writes numbers with.
bool PickleMachine::wholeNumber(const unsigned char*& at, std::int64_t& number)
{
    if (*at == LONG1) {
        const unsigned bytes = at[1];
        if (bytes == 0 || bytes > 8)
            return false;
        number = loadShort(at + 2, bytes);
        at += 2 + bytes;
        return Value::fits(number);
    }
    // Sizes are of all three widths in no order: no branch may depend on which it is.
    const unsigned bytes = numberBytes[*at];
    if (bytes == 0)
        return false;
    const unsigned unused = 64 - (8 * bytes);
    const std::uint64_t raised = load<std::uint64_t>(at + 1) << unused;
    const std::int64_t whole = static_cast<std::int64_t>(raised) >> unused;
    number = bytes == 4 ? whole : static_cast<std::int64_t>(raised >> unused);
    at += 1 + bytes;
    return true;
}

/// A text: most are those of the event before, whose meaning the row begins with.
bool PickleMachine::textField(const unsigned char*& at, std::size_t field, EventRow& row)
{
    Value value;
    std::size_t length = reference(at, value);
    if (length == 0 && *at == SHORT_BINUNICODE) {
        const std::size_t bytes = at[1];
        length = 2 + bytes;
        if (static_cast<std::size_t>(m_end - at) < length + fieldBytes)
            return false;
        value = bytes <= 8 ? m_assembler.shortText(at + 2, bytes)
                           : m_assembler.text({reinterpret_cast<const char*>(at) + 2, bytes});
        if (const std::size_t named = memoized(at + length); named > 0) {
            remember(value);
            length += named;
        }
    } else if (length == 0 && *at == NONE) {
        value = Value::none();
        length = 1;
    }
    at += length;
    FieldSeen& seen = m_seen[field];
    if (length == 0 || value == unfilled)
        return false;
    if (value == seen.text)
        return true;
    const Key key = m_assembler.lastEvent().keys[field];
    if (!m_assembler.setPlainField(row, key, value))
        return false;
    // Numbers of a field that is a text elsewhere are the row's alone.
    if (value.tag() == Tag::Text || value.tag() == Tag::None) {
        m_assembler.setPlainField(m_texts, key, value);
        seen.text = value;
    } else {
        seen.text = unfilled;
    }
    return true;
}

/// A pair of numbers, as a reference or written out.
bool PickleMachine::poolField(const unsigned char*& at, EventRow& row)
{
    Value value;
    std::size_t length = reference(at, value);
    if (length == 0) {
        std::int64_t first = 0;
        std::int64_t second = 0;
        if (!wholeNumber(at, first) || !wholeNumber(at, second) || *at != TUPLE2)
            return false;
        const Value both[2]{{Tag::Int, first}, {Tag::Int, second}};
        value = m_assembler.finishTuple(both);
        length = 1;
        if (const std::size_t named = memoized(at + length); named > 0) {
            remember(value);
            length += named;
        }
    }
    at += length;
    return m_assembler.setPlainField(row, Key::PoolId, value);
}

/// A list of frames: a reference, an empty one, or one that is known by its bytes.
bool PickleMachine::stackField(const unsigned char*& at, Key key, EventRow& row)
{
    Value value;
    if (const std::size_t length = reference(at, value); length > 0) {
        at += length;
        return m_assembler.setPlainField(row, key, value);
    }
    if (*at != EMPTY_LIST)
        return false;
    const unsigned char* p = at + 1;
    const std::size_t named = memoized(p);
    p += named;
    value = m_assembler.finishedStack(std::nullopt);
    if (*p == MARK) {
        const auto known = knownStack(p + 1);
        if (!known)
            return false;
        p += 1 + known->length;
        value = m_assembler.finishedStack(known->stack);
    }
    if (named > 0)
        remember(value);
    at = p;
    return m_assembler.setPlainField(row, key, value);
}

/// Bytes of an opcode that puts the value before it into the next memo slot; 0 for all others.
std::size_t PickleMachine::memoized(const unsigned char* at) const
{
    if (*at == MEMOIZE)
        return 1;
    if (*at == BINPUT)
        return at[1] == m_memo.size() ? 2 : 0;
    if (*at == LONG_BINPUT)
        return load<std::uint32_t>(at + 1) == m_memo.size() ? 5 : 0;
    return 0;
}

/// Bytes of an opcode that takes a value from the memo; 0 for all others.
std::size_t PickleMachine::reference(const unsigned char* at, Value& value) const
{
    if (*at != LONG_BINGET && *at != BINGET)
        return 0;
    const bool wide = *at == LONG_BINGET;
    const std::size_t slot = load<std::uint32_t>(at + 1) & (wide ? 0xffffffffU : 0xffU);
    if (slot >= m_memo.size() || m_memo[slot] == unfilled)
        return 0;
    value = m_memo[slot];
    return wide ? 5 : 2;
}

} // namespace tidemark
