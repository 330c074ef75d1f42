// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/pickle_machine.hpp"
#include "model/formats/pickle_opcodes.hpp"

namespace tidemark {

using namespace pickle;

/// Reads the items of a dict behind its MARK as those of an event with the keys of the last one: ten opcodes
/// out of eleven of a snapshot stand in such dicts. Wherever something else turns up it stops, with the stack
/// as the opcodes so far have made it, and the opcodes that follow are run one by one.
void PickleMachine::eventDict(const unsigned char*& at, Value*& top)
{
    // Fields are looked at only while a key and a fixed argument surely lie in the window.
    constexpr std::ptrdiff_t fieldBytes = 2 * longestFixed;
    constexpr std::ptrdiff_t valuesOnStack = 2 * Assembler::EventShape::maxFields + 4;
    if (m_limit - top < valuesOnStack)
        return;
    const Assembler::EventShape& shape = m_assembler.lastEvent();
    Value* const items = top;
    EventRow row;
    const unsigned char* p = at;
    Value* to = top;
    std::size_t field = 0;
    for (; field < shape.count && m_end - p >= fieldBytes; ++field) {
        if (*p != LONG_BINGET && *p != BINGET)
            break;
        const bool wide = *p == LONG_BINGET;
        const std::size_t slot = load<std::uint32_t>(p + 1) & (wide ? 0xffffffffU : 0xffU);
        if (slot >= m_memo.size() || m_memo[slot] != shape.texts[field])
            break;
        *to++ = m_memo[slot];
        p += wide ? 5 : 2;
        if (!eventValue(p, to) || !m_assembler.setPlainField(row, shape.keys[field], to[-1]))
            break;
    }
    at = p;
    top = to;
    if (field < shape.count || p >= m_end || *p != SETITEMS || !m_assembler.makeEvent(items[-1], row))
        return;
    at = p + 1;
    top = items;
    m_marks.pop_back();
}

/// Runs the opcodes of one value. False when they are none of the usual ones; then none was run, or only
/// such that leave a whole value on the stack.
bool PickleMachine::eventValue(const unsigned char*& at, Value*& top)
{
    const unsigned char* const p = at;
    switch (*p) {
    case BINGET:
    case LONG_BINGET: {
        const bool wide = *p == LONG_BINGET;
        const std::size_t slot = load<std::uint32_t>(p + 1) & (wide ? 0xffffffffU : 0xffU);
        if (slot >= m_memo.size() || m_memo[slot] == unfilled)
            return false;
        *top++ = m_memo[slot];
        at += wide ? 5 : 2;
        return true;
    }
    case LONG1:
        if (p[1] == 0 || p[1] > 8)
            return false;
        *top++ = m_assembler.integer(loadShort(p + 2, p[1]));
        at += 2 + p[1];
        return true;
    case BININT1:
        *top++ = {Tag::Int, p[1]};
        at += 2;
        return true;
    case BININT2:
        *top++ = {Tag::Int, load<std::uint16_t>(p + 1)};
        at += 3;
        return true;
    case BININT:
        *top++ = {Tag::Int, load<std::int32_t>(p + 1)};
        at += 5;
        return true;
    case SHORT_BINUNICODE:
        if (p[1] > 8 || p[2 + p[1]] != MEMOIZE || m_memoCount != m_memo.size())
            return false;
        *top++ = m_assembler.shortText(p + 2, p[1]);
        m_memo.push_back(top[-1]);
        ++m_memoCount;
        at += 3 + p[1];
        return true;
    case EMPTY_LIST: {
        if (p[1] != MEMOIZE || p[2] != MARK || m_memoCount != m_memo.size())
            return false;
        Value list = m_assembler.share(Value::emptyList());
        m_memo.push_back(list);
        ++m_memoCount;
        *top++ = list;
        at += 2;
        const std::size_t known = knownStack(p + 3, list);
        at += known > 0 ? 1 + known : 0;
        return known > 0;
    }
    default:
        return false;
    }
}

} // namespace tidemark
