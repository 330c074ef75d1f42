// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/pickle_machine.hpp"
#include "model/formats/pickle_opcodes.hpp"

namespace tidemark {

using namespace pickle;

/// Opcodes that would import, build or call something. They only leave an inert object with a name.
PickleMachine::Outcome PickleMachine::foreignOpcode(unsigned char code)
{
    switch (code) {
    case GLOBAL:
    case INST: {
        bool cut = false;
        const auto first = line(cut);
        if (!first)
            return Outcome::Failed;
        const std::string module(*first);
        --m_at; // line() begins behind an opcode; here it begins behind the first newline
        const auto second = line(cut);
        if (!second)
            return Outcome::Failed;
        const Value name = m_assembler.name(module, *second);
        if (code == GLOBAL) {
            push(name);
            return Outcome::Next;
        }
        const auto items = itemsAboveMark();
        if (!items)
            return Outcome::Failed;
        push(m_assembler.inertCall(name, m_assembler.finishTuple(*items)));
        return Outcome::Next;
    }
    case STACK_GLOBAL: {
        if (!need(2))
            return Outcome::Failed;
        const std::string module = m_assembler.nameText(m_top[-2]);
        const std::string symbol = m_assembler.nameText(m_top[-1]);
        m_top -= 2;
        push(m_assembler.name(module, symbol));
        ++m_at;
        return Outcome::Next;
    }
    case REDUCE:
    case NEWOBJ:
        return need(2) ? call(m_top[-2], m_top[-1], 2) : Outcome::Failed;
    case NEWOBJ_EX:
        return need(3) ? call(m_top[-3], m_top[-2], 3) : Outcome::Failed;
    case OBJ: {
        const auto items = itemsAboveMark();
        if (!items)
            return Outcome::Failed;
        if (items->empty())
            return fail(ErrorCode::Malformed, opcodeAt() + " finds no class after its MARK.");
        const Value callee = items->front();
        push(m_assembler.inertCall(callee, m_assembler.finishTuple(items->subspan(1))));
        ++m_at;
        return Outcome::Next;
    }
    case BUILD: // the state of an object that was never made
        if (!need(2))
            return Outcome::Failed;
        --m_top;
        ++m_at;
        return Outcome::Next;
    case PERSID: {
        bool cut = false;
        if (!line(cut))
            return Outcome::Failed;
        push(m_assembler.inertCall(m_assembler.name("persistent", "id"), Value::emptyTuple()));
        return Outcome::Next;
    }
    case BINPERSID:
        return foreign("id", 1);
    case EXT1:
    case EXT2:
    case EXT4:
        return foreign("extension", 0);
    case NEXT_BUFFER:
        return foreign("buffer", 0);
    case READONLY_BUFFER:
        if (!need(1))
            return Outcome::Failed;
        ++m_at;
        return Outcome::Next;
    default:
        return Outcome::NotMine;
    }
}

PickleMachine::Outcome PickleMachine::call(Value callee, Value arguments, std::size_t popped)
{
    const Value made = m_assembler.inertCall(callee, arguments);
    m_top -= popped;
    push(made);
    ++m_at;
    return Outcome::Next;
}

PickleMachine::Outcome PickleMachine::foreign(std::string_view what, std::size_t popped)
{
    if (!need(popped))
        return Outcome::Failed;
    m_top -= popped;
    push(m_assembler.inertCall(m_assembler.name("persistent", what), Value::emptyTuple()));
    m_at += 1 + opcodes[m_code].bytes;
    return Outcome::Next;
}

Value PickleMachine::closeOpen()
{
    while (!m_marks.empty()) {
        const std::size_t mark = m_marks.back();
        m_marks.pop_back();
        closeMark(mark);
    }
    foldPending(0);
    return depth() > 0 ? m_stack[0] : Value::none();
}

/// Does what the missing SETITEMS or APPENDS of one MARK would have done, as far as its items are whole.
void PickleMachine::closeMark(std::size_t mark)
{
    if (mark == 0 || mark > depth() || (!m_marks.empty() && m_marks.back() == mark)) {
        // Items of a tuple, or of nothing known.
        m_top = m_stack.get() + std::min(mark, depth());
        return;
    }
    Value& target = m_stack[mark - 1];
    const Tag tag = m_assembler.tagOf(target);
    if (tag == Tag::EmptyDict || tag == Tag::Dict) {
        std::size_t at = mark;
        while (at + 1 < depth() && m_stack[at].tag() == Tag::Text
            && (at + 2 >= depth() || m_stack[at + 2].tag() == Tag::Text))
            at += 2;
        if (at + 1 < depth() && m_stack[at].tag() == Tag::Text) {
            foldPending(at + 1);
            at += 2;
        }
        const std::span<const Value> pairs(m_stack.get() + mark, std::min(at, depth()) - mark);
        const DictKind kind = m_assembler.kindOfPairs(pairs);
        const bool value = mark == 1 || m_stack[mark - 2].tag() == Tag::Text;
        if (kind == DictKind::Top || (kind == DictKind::Generic && value)) {
            m_assembler.setItems(target, pairs.first(pairs.size() / 2 * 2));
            m_top = m_stack.get() + mark;
        } else {
            m_top = m_stack.get() + mark - 1; // half an entry is none
        }
        return;
    }
    // A dict that was just opened has nothing in it yet.
    if (depth() > mark && m_assembler.tagOf(m_top[-1]) == Tag::EmptyDict)
        --m_top;
    const std::span<const Value> items(m_stack.get() + mark, depth() - mark);
    if (!items.empty())
        m_assembler.append(target, items);
    m_top = m_stack.get() + mark;
}

/// Folds values that wait for an APPEND or SETITEM of their own into the one at `from`, topmost first.
void PickleMachine::foldPending(std::size_t from)
{
    const auto mayLack = [this](Value v) {
        const Tag tag = m_assembler.tagOf(v);
        return tag == Tag::EmptyDict || tag == Tag::Dict || (tag >= Tag::Event && tag != Tag::EventList);
    };
    // Whether what is on top lacks a part. Protocol 0 fills dicts pair by pair, so that the topmost one may.
    bool incomplete = depth() > from && mayLack(m_top[-1]);
    while (depth() > from + 1) {
        const Value child = m_top[-1];
        Value& parent = m_top[-2];
        const Tag tag = m_assembler.tagOf(parent);
        const bool list
            = tag == Tag::EmptyList || tag == Tag::List || tag == Tag::EventList || tag == Tag::Stack;
        if (list) {
            if (!incomplete)
                m_assembler.appendOne(parent, child);
            incomplete = false;
        } else if (tag == Tag::Text && depth() > from + 2) {
            // A value under its key: of the outermost dict, or of a dict that is itself a value, as the
            // settings.
            const std::size_t owner = depth() - 3;
            const Tag kind = m_assembler.tagOf(m_stack[owner]);
            const bool dict = kind == Tag::Dict || kind == Tag::EmptyDict;
            const bool value = owner == 0 || m_stack[owner - 1].tag() == Tag::Text;
            if (dict && value && !incomplete)
                m_assembler.setItems(m_stack[owner], {m_top - 2, 2});
            incomplete = !(dict && value);
            --m_top;
        } else {
            incomplete = true;
        }
        --m_top;
    }
}

} // namespace tidemark
