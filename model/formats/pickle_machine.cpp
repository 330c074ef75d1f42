// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/pickle_machine.hpp"

#include "model/core/limits.hpp"
#include "model/core/units.hpp"
#include "model/formats/pickle_opcodes.hpp"

#include <algorithm>
#include <cstring>

namespace tidemark {

namespace {

using namespace pickle;

/// Bytes looked at between two polls of the job.
constexpr std::size_t window = 1U << 20;

} // namespace

PickleMachine::PickleMachine(ByteStream& bytes, Assembler& assembler, const Job& job)
    : m_bytes(bytes)
    , m_assembler(assembler)
    , m_job(job)
{
    grow();
}

std::optional<Error> PickleMachine::run()
{
    // The opcodes nearly every byte of a snapshot belongs to, with the two hot pointers in registers.
    const unsigned char* p = m_at;
    Value* top = m_top;
    const unsigned char* listStart = nullptr; // of the items of a list that was empty so far
    for (;;) {
        if (m_end - p < longestFixed || top >= m_limit) [[unlikely]] {
            m_at = p;
            m_top = top;
            if (!more())
                return m_error;
            p = m_at;
            top = m_top;
            listStart = nullptr; // the window moved
        }
        switch (*p) {
        case LONG_BINGET:
        case BINGET: {
            // Lists of frames are runs of these two in random order: no branch may depend on which it is.
            if (m_end - p < longestFixed) [[unlikely]]
                break;
            const Value* const memo = m_memo.data();
            const std::size_t slots = m_memo.size();
            const unsigned char* const last = m_end - longestFixed;
            bool filled = true;
            const unsigned char* const start = p;
            do {
                const bool wide = *p == LONG_BINGET;
                const std::size_t slot = load<std::uint32_t>(p + 1) & (wide ? 0xffffffffU : 0xffU);
                filled = slot < slots && memo[slot] != unfilled;
                if (!filled) [[unlikely]]
                    break;
                *top++ = memo[slot];
                p += wide ? 5 : 2;
            } while ((*p == LONG_BINGET || *p == BINGET) && p <= last && top < m_limit);
            if (!filled) [[unlikely]]
                break;
            if (*p == APPENDS && start == listStart && p <= last) {
                m_at = p;
                m_top = top;
                m_code = APPENDS;
                m_opcodeOffset = offsetOf(p);
                if (addItems(APPENDS) == Outcome::Failed)
                    return m_error;
                p = m_at;
                top = m_top;
                rememberStack(start, p, top[-1]);
            }
            continue;
        }
        case MEMOIZE:
            if (m_memoCount != m_memo.size() || top == m_stack.get()) [[unlikely]]
                break;
            top[-1] = m_assembler.share(top[-1]);
            m_memo.push_back(top[-1]);
            ++m_memoCount;
            ++p;
            continue;
        case LONG1:
            if (p[1] == 0 || p[1] > 8 || m_end - p < longestFixed) [[unlikely]]
                break;
            *top++ = m_assembler.integer(loadShort(p + 2, p[1]));
            p += 2 + p[1];
            continue;
        case BININT1:
            *top++ = {Tag::Int, p[1]};
            p += 2;
            continue;
        case BININT2:
            *top++ = {Tag::Int, load<std::uint16_t>(p + 1)};
            p += 3;
            continue;
        case BININT:
            *top++ = {Tag::Int, load<std::int32_t>(p + 1)};
            p += 5;
            continue;
        case MARK:
            if (m_marks.size() >= limits::maxOpenMarks || top == m_stack.get() || m_end - p < longestFixed)
                [[unlikely]]
                break;
            listStart = nullptr;
            if ((p[1] == BINGET || p[1] == LONG_BINGET) && m_assembler.tagOf(top[-1]) == Tag::EmptyList) {
                if (const auto known = knownStack(p + 1)) {
                    m_assembler.makeStack(top[-1], known->stack);
                    p += 1 + known->length;
                    continue;
                }
                listStart = p + 1;
            }
            m_marks.push_back(static_cast<std::size_t>(top - m_stack.get()));
            ++p;
            continue;
        case EMPTY_DICT:
            if (events(p, top))
                continue;
            [[fallthrough]];
        case EMPTY_LIST: {
            const Value empty = *p == EMPTY_DICT ? Value::emptyDict() : Value::emptyList();
            ++p;
            // As Python writes it; memoized at once, without a look at what it is.
            if (p < m_end && *p == MEMOIZE && m_memoCount == m_memo.size()) {
                const Value shared = m_assembler.share(empty);
                m_memo.push_back(shared);
                ++m_memoCount;
                *top++ = shared;
                ++p;
            } else {
                *top++ = empty;
            }
            continue;
        }
        case SHORT_BINUNICODE: {
            const std::size_t length = p[1];
            if (static_cast<std::size_t>(m_end - p) < 2 + length) [[unlikely]]
                break;
            *top++ = m_assembler.text({reinterpret_cast<const char*>(p) + 2, length});
            p += 2 + length;
            if (p < m_end && *p == MEMOIZE && m_memoCount == m_memo.size()) {
                m_memo.push_back(top[-1]);
                ++m_memoCount;
                ++p;
            }
            continue;
        }
        default:
            break;
        }

        m_at = p;
        m_top = top;
        switch (cold()) {
        case Outcome::Failed:
            return m_error;
        case Outcome::Stopped:
            return std::nullopt;
        case Outcome::Next:
        case Outcome::NotMine:
            break;
        }
        p = m_at;
        top = m_top;
    }
}

/// The stack met before whose bytes stand at `at`.
std::optional<StackCache::Hit> PickleMachine::knownStack(const unsigned char* at)
{
    if (m_frameChanges != m_assembler.frameChanges()) {
        m_frameChanges = m_assembler.frameChanges();
        m_stackCache.clear();
    }
    return m_stackCache.find(at, m_end);
}

void PickleMachine::rememberStack(const unsigned char* from, const unsigned char* to, Value list)
{
    if (const auto stack = m_assembler.stackOf(list))
        m_stackCache.insert(from, static_cast<std::size_t>(to - from), *stack);
}

PickleMachine::Outcome PickleMachine::cold()
{
    m_code = *m_at;
    m_opcodeOffset = offsetOf(m_at);
    if (m_code == SETITEMS || m_code == APPENDS)
        return addItems(m_code);
    for (const auto group :
        {&PickleMachine::containerOpcode, &PickleMachine::memoOpcode, &PickleMachine::textOpcode,
            &PickleMachine::numberOpcode, &PickleMachine::stackOpcode, &PickleMachine::foreignOpcode}) {
        const Outcome outcome = (this->*group)(m_code);
        if (outcome != Outcome::NotMine)
            return outcome;
    }
    constexpr const char* digits = "0123456789abcdef";
    return fail(ErrorCode::Malformed,
        std::string("Unknown opcode 0x") + digits[m_code >> 4U] + digits[m_code & 15U] + " at byte "
            + formatUnsigned(m_opcodeOffset) + ": this is no pickle, or a damaged one.");
}

/// Makes sure that the next opcode with its fixed argument lies in the window and that there is room on the
/// stack.
bool PickleMachine::more()
{
    if (m_top >= m_limit)
        grow();
    if (m_error)
        return false;
    if (m_end - m_at < longestFixed && !refill(longestFixed))
        return false;
    m_opcodeOffset = offsetOf(m_at);
    if (m_at == m_end) {
        m_code = 0;
        truncated(
            "it ends at byte " + formatUnsigned(m_opcodeOffset) + ", where a further opcode should stand");
        return false;
    }
    m_code = *m_at;
    const Opcode& opcode = opcodes[m_code];
    if (remaining() < 1U + opcode.bytes) {
        truncated("it ends inside " + opcodeAt());
        return false;
    }
    return true;
}

/// Slides the window forward to m_at. False when the job was stopped.
bool PickleMachine::refill(std::size_t wanted)
{
    if (m_base)
        m_bytes.consume(static_cast<std::size_t>(m_at - m_base));
    if (m_job.stopped()) {
        m_baseOffset = m_bytes.offset();
        m_base = m_at = m_end = nullptr;
        fail(ErrorCode::Cancelled, "Reading was stopped.");
        return false;
    }
    if (m_assembler.tooMany(m_bytes.offset(), m_memoCount)) {
        m_opcodeOffset = m_baseOffset = m_bytes.offset();
        m_base = m_at = m_end = nullptr;
        fail(ErrorCode::TooLarge,
            "Up to byte " + formatUnsigned(m_opcodeOffset)
                + " the pickle makes far more objects than any snapshot of that length.");
        return false;
    }
    m_job.report(Stage::Read, m_bytes.packedOffset(), m_bytes.packedSize());
    m_assembler.tellArrived(m_job);
    const auto view = m_bytes.peek(wanted);
    if (const double more = m_assembler.expect(m_bytes.packedOffset(), m_bytes.packedSize()); more > 0)
        m_memo.reserve(m_memo.size()
            + static_cast<std::size_t>(std::min(1e8, static_cast<double>(m_memo.size()) * more)));
    m_baseOffset = m_bytes.offset();
    m_base = m_at = view.data();
    m_end = m_base + std::min(view.size(), std::max(wanted, window));
    return true;
}

void PickleMachine::grow()
{
    const std::size_t used = m_stack ? depth() : 0;
    if (used > limits::maxOpenValues + (m_bytes.offset() / 16)) {
        m_opcodeOffset = offsetOf(m_at);
        fail(ErrorCode::TooLarge,
            "At byte " + formatUnsigned(m_opcodeOffset) + " the pickle holds " + formatUnsigned(used)
                + " values open at once, far more than any snapshot.");
        return;
    }
    constexpr std::size_t reserve = 4;
    const std::size_t capacity = std::max<std::size_t>(1024, m_capacity * 2);
    auto bigger = std::make_unique_for_overwrite<Value[]>(capacity);
    std::copy_n(m_stack.get(), used, bigger.get());
    m_stack = std::move(bigger);
    m_capacity = capacity;
    m_top = m_stack.get() + used;
    m_limit = m_stack.get() + capacity - reserve;
}

void PickleMachine::push(Value value)
{
    *m_top++ = value; // more() keeps room for one opcode's worth
}

bool PickleMachine::need(std::size_t count)
{
    if (available() >= count)
        return true;
    const std::size_t have = available();
    fail(ErrorCode::Malformed,
        opcodeAt() + " needs " + std::to_string(count) + (count == 1 ? " value" : " values")
            + " on the stack, but finds " + (have == 0 ? "none." : std::to_string(have) + '.'));
    return false;
}

/// The values above the innermost MARK, which is taken away; they stay valid until the next push.
std::optional<std::span<const Value>> PickleMachine::itemsAboveMark()
{
    if (m_marks.empty()) {
        fail(ErrorCode::Malformed, opcodeAt() + " has no MARK before it.");
        return std::nullopt;
    }
    const std::size_t mark = m_marks.back();
    m_marks.pop_back();
    const std::span<const Value> items(m_stack.get() + mark, depth() - mark);
    m_top = m_stack.get() + mark;
    return items;
}

PickleMachine::Outcome PickleMachine::containerOpcode(unsigned char code)
{
    switch (code) {
    case SETITEMS:
    case APPENDS:
    case ADDITEMS:
        return addItems(code);
    case SETITEM:
    case APPEND:
        return addOne(code);
    case EMPTY_SET:
        ++m_at;
        push(Value::emptyList());
        return Outcome::Next;
    case EMPTY_TUPLE:
        ++m_at;
        push(Value::emptyTuple());
        return Outcome::Next;
    case TUPLE1:
        return makeTuple(1);
    case TUPLE2:
        return makeTuple(2);
    case TUPLE3:
        return makeTuple(3);
    case TUPLE:
    case LIST:
    case FROZENSET:
    case DICT: {
        const auto items = itemsAboveMark();
        if (!items)
            return Outcome::Failed;
        if (code == DICT && items->size() % 2 != 0)
            return fail(ErrorCode::Malformed,
                opcodeAt() + " needs pairs of key and value, but finds an odd number of items.");
        ++m_at;
        push(code == DICT       ? m_assembler.finishDict(*items)
                : code == TUPLE ? m_assembler.finishTuple(*items)
                                : m_assembler.finishList(*items));
        return Outcome::Next;
    }
    default:
        return Outcome::NotMine;
    }
}

PickleMachine::Outcome PickleMachine::addItems(unsigned char code)
{
    const auto items = itemsAboveMark();
    if (!items)
        return Outcome::Failed;
    const bool dict = code == SETITEMS;
    if (dict && items->size() % 2 != 0)
        return fail(ErrorCode::Malformed,
            opcodeAt() + " needs pairs of key and value, but finds an odd number of items ("
                + formatUnsigned(items->size()) + ").");
    if (!need(1))
        return Outcome::Failed;
    if (!(dict ? m_assembler.setItems(m_top[-1], *items) : m_assembler.append(m_top[-1], *items)))
        return fail(ErrorCode::Malformed,
            opcodeAt() + " adds items to " + m_assembler.describe(m_top[-1])
                + (dict ? ", which is no dict." : ", which is no list."));
    ++m_at;
    return Outcome::Next;
}

PickleMachine::Outcome PickleMachine::addOne(unsigned char code)
{
    const std::size_t count = code == SETITEM ? 2 : 1;
    if (!need(count + 1))
        return Outcome::Failed;
    Value& target = m_top[-1 - static_cast<std::ptrdiff_t>(count)];
    const bool added = code == SETITEM ? m_assembler.setItems(target, {m_top - 2, 2})
                                       : m_assembler.appendOne(target, m_top[-1]);
    if (!added)
        return fail(ErrorCode::Malformed,
            opcodeAt() + " adds to " + m_assembler.describe(target)
                + (code == SETITEM ? ", which is no dict." : ", which is no list."));
    m_top -= count;
    ++m_at;
    return Outcome::Next;
}

PickleMachine::Outcome PickleMachine::makeTuple(std::size_t count)
{
    if (!need(count))
        return Outcome::Failed;
    m_top -= count;
    const Value tuple = m_assembler.finishTuple({m_top, count});
    push(tuple);
    ++m_at;
    return Outcome::Next;
}

PickleMachine::Outcome PickleMachine::stackOpcode(unsigned char code)
{
    switch (code) {
    case MARK:
        if (m_marks.size() < limits::maxOpenMarks) {
            m_marks.push_back(depth());
            ++m_at;
            return Outcome::Next;
        }
        return fail(ErrorCode::TooLarge,
            opcodeAt() + " would be the " + formatUnsigned(m_marks.size() + 1)
                + "th open MARK: the file is nested far deeper than any snapshot.");
    case STOP:
        if (!need(1))
            return Outcome::Failed;
        m_result = m_top[-1];
        ++m_at;
        m_bytes.consume(static_cast<std::size_t>(m_at - m_base));
        m_baseOffset = m_bytes.offset();
        m_base = m_at = m_end = nullptr;
        return Outcome::Stopped;
    case POP:
        if (!m_marks.empty() && m_marks.back() == depth())
            m_marks.pop_back();
        else if (!need(1))
            return Outcome::Failed;
        else
            --m_top;
        ++m_at;
        return Outcome::Next;
    case POP_MARK:
        if (!itemsAboveMark())
            return Outcome::Failed;
        ++m_at;
        return Outcome::Next;
    case DUP:
        if (!need(1))
            return Outcome::Failed;
        m_top[-1] = m_assembler.share(m_top[-1]);
        push(m_top[-1]);
        ++m_at;
        return Outcome::Next;
    case PROTO:
        m_protocol = m_at[1];
        if (m_protocol > 5)
            return fail(ErrorCode::Unsupported,
                "The file says it is of pickle protocol " + std::to_string(m_protocol) + " (byte "
                    + formatUnsigned(m_opcodeOffset) + "); protocols 0 to 5 can be read.");
        m_at += 2;
        return Outcome::Next;
    case FRAME: // only a hint for reading ahead, and not always true
        m_at += 9;
        return Outcome::Next;
    default:
        return Outcome::NotMine;
    }
}

PickleMachine::Outcome PickleMachine::memoOpcode(unsigned char code)
{
    switch (code) {
    case BINPUT: {
        const std::uint64_t slot = m_at[1];
        return put(slot);
    }
    case LONG_BINPUT:
        return put(load<std::uint32_t>(m_at + 1));
    case MEMOIZE:
        return put(m_memoCount);
    case BINGET:
        return get(m_at[1]);
    case LONG_BINGET:
        return get(load<std::uint32_t>(m_at + 1));
    case PUT:
    case GET: {
        bool cut = false;
        const auto digits = line(cut);
        if (!digits)
            return Outcome::Failed;
        std::uint64_t slot = 0;
        for (const char c : *digits) {
            if (c < '0' || c > '9' || slot > (1ULL << 59U))
                return fail(ErrorCode::Malformed, opcodeAt() + " names a memo slot that is no number.");
            slot = (slot * 10) + static_cast<std::uint64_t>(c - '0');
        }
        return code == PUT ? put(slot) : get(slot);
    }
    default:
        return Outcome::NotMine;
    }
}

PickleMachine::Outcome PickleMachine::put(std::uint64_t slot)
{
    if (!need(1))
        return Outcome::Failed;
    m_top[-1] = m_assembler.share(m_top[-1]);
    store(slot, m_top[-1]);
    const Opcode& opcode = opcodes[m_code];
    if (opcode.argument == Argument::Fixed)
        m_at += 1 + opcode.bytes;
    return Outcome::Next;
}

void PickleMachine::store(std::uint64_t slot, Value value)
{
    if (slot < m_memo.size()) {
        if (m_memo[slot] == unfilled) {
            ++m_memoCount;
        } else {
            // Bytes that refer to it may mean something else now.
            m_stackCache.clear();
            forgetFields();
        }
        m_memo[slot] = value;
    } else if (slot == m_memo.size() || slot < limits::flatMemoSlots) {
        m_memo.resize(slot + 1, unfilled);
        m_memo[slot] = value;
        ++m_memoCount;
    } else {
        m_memoCount += m_sparseMemo.insert_or_assign(slot, value).second ? 1 : 0;
    }
}

PickleMachine::Outcome PickleMachine::get(std::uint64_t slot)
{
    Value value = slot < m_memo.size() ? m_memo[slot] : unfilled;
    if (value == unfilled)
        if (const auto found = m_sparseMemo.find(slot); found != m_sparseMemo.end())
            value = found->second;
    if (value == unfilled)
        return fail(ErrorCode::Malformed,
            opcodeAt() + " refers to memo slot " + formatUnsigned(slot) + ", which was never filled.");
    push(value);
    const Opcode& opcode = opcodes[m_code];
    if (opcode.argument == Argument::Fixed)
        m_at += 1 + opcode.bytes;
    return Outcome::Next;
}

PickleMachine::Outcome PickleMachine::fail(ErrorCode code, std::string message)
{
    if (!m_error)
        m_error = Error{code, std::move(message), m_opcodeOffset};
    return Outcome::Failed;
}

PickleMachine::Outcome PickleMachine::truncated(std::string where)
{
    if (const auto damage = m_bytes.error()) {
        m_error = *damage;
        return Outcome::Failed;
    }
    return fail(ErrorCode::Truncated, "The file is truncated: " + where);
}

std::string PickleMachine::opcodeAt() const
{
    const char* name = opcodes[m_code].name;
    return std::string(name ? name : "an opcode") + " at byte " + formatUnsigned(m_opcodeOffset);
}

} // namespace tidemark
