// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"
#include "model/formats/assembler.hpp"
#include "model/formats/byte_stream.hpp"
#include "model/formats/stack_cache.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tidemark {

/// Runs the opcodes of a pickle, protocols 0–5, on an Assembler. Nothing is imported, called or executed:
/// names of classes and functions are only names here. No recursion, no allocation for bytes that are not
/// there. Errors name the opcode and the offset of its first byte in the unpacked bytes.
class PickleMachine {
public:
    PickleMachine(ByteStream& bytes, Assembler& assembler, const Job& job);

    /// Runs up to and including STOP; then the stream stands behind it. Polls job every window.
    std::optional<Error> run();
    /// What STOP returned.
    Value result() const { return m_result; }
    /// After an error: closes the containers that are still open, dropping an entry that was not whole, and
    /// gives the outermost one.
    Value closeOpen();
    /// Of the PROTO opcode; 0 without one.
    int protocol() const { return m_protocol; }

private:
    enum class Outcome { Next, Failed, Stopped, NotMine };

    // The window on the bytes.
    bool more();
    bool refill(std::size_t wanted);
    std::uint64_t offsetOf(const unsigned char* at) const
    {
        return m_baseOffset + static_cast<std::uint64_t>(at - m_base);
    }
    std::uint64_t remaining() const { return static_cast<std::uint64_t>(m_end - m_at); }
    std::optional<std::string_view> counted(std::uint64_t length, bool& cut);
    std::optional<std::string_view> line(bool& cut);
    std::uint64_t countArgument() const;

    // Events with the keys of the one before (pickle_events.cpp).
    bool events(const unsigned char*& at, Value*& top);
    bool event(const unsigned char*& at, Value& made);
    bool eventKey(const unsigned char*& at, std::size_t field);
    bool eventField(const unsigned char*& at, std::size_t field, EventRow& row);
    bool wholeNumber(const unsigned char*& at, std::int64_t& number);
    bool textField(const unsigned char*& at, std::size_t field, EventRow& row);
    bool poolField(const unsigned char*& at, EventRow& row);
    bool stackField(const unsigned char*& at, Key key, EventRow& row);
    std::size_t memoized(const unsigned char* at) const;
    std::size_t reference(const unsigned char* at, Value& value) const;
    void remember(Value value)
    {
        m_memo.push_back(value);
        ++m_memoCount;
    }

    // Frame lists known by their bytes.
    std::optional<StackCache::Hit> knownStack(const unsigned char* at);
    void rememberStack(const unsigned char* from, const unsigned char* to, Value list);

    // Opcodes by group.
    Outcome cold();
    Outcome numberOpcode(unsigned char code);
    Outcome textOpcode(unsigned char code);
    Outcome containerOpcode(unsigned char code);
    Outcome stackOpcode(unsigned char code);
    Outcome memoOpcode(unsigned char code);
    Outcome foreignOpcode(unsigned char code);

    Outcome pushLong(std::uint64_t length);
    Outcome pushDecimal(std::string_view digits);
    Outcome addItems(unsigned char code);
    Outcome addOne(unsigned char code);
    Outcome makeTuple(std::size_t count);
    Outcome get(std::uint64_t slot);
    Outcome put(std::uint64_t slot);
    Outcome call(Value callee, Value arguments, std::size_t popped);
    Outcome foreign(std::string_view what, std::size_t popped);
    void store(std::uint64_t slot, Value value);

    // The stack.
    void push(Value value);
    void grow();
    std::size_t depth() const { return static_cast<std::size_t>(m_top - m_stack.get()); }
    std::size_t available() const { return depth() - (m_marks.empty() ? 0 : m_marks.back()); }
    bool need(std::size_t count);
    std::optional<std::span<const Value>> itemsAboveMark();

    Outcome fail(ErrorCode code, std::string message);
    Outcome truncated(std::string where);
    std::string opcodeAt() const;
    void closeMark(std::size_t mark);
    void foldPending(std::size_t from);

    ByteStream& m_bytes;
    Assembler& m_assembler;
    const Job& m_job;

    std::uint64_t m_baseOffset = 0;
    const unsigned char* m_base = nullptr;
    const unsigned char* m_at = nullptr;
    const unsigned char* m_end = nullptr;

    /// Marks a memo slot that was never filled.
    static constexpr Value unfilled{Tag::Opaque, 1};

    std::unique_ptr<Value[]> m_stack;
    Value* m_top = nullptr;
    Value* m_limit = nullptr; ///< pushing at or above needs grow() first
    std::size_t m_capacity = 0;
    std::vector<std::size_t> m_marks;

    std::vector<Value> m_memo;
    std::unordered_map<std::uint64_t, Value> m_sparseMemo;
    std::uint64_t m_memoCount = 0;

    /// What is known of a field of the last event.
    struct FieldSeen {
        /// Its key as the opcode's bytes: those under `mask`.
        std::uint64_t bytes = 1;
        std::uint64_t mask = 0; ///< 0: not seen yet, and equal to nothing
        std::size_t length = 0;
        Value text = unfilled; ///< what a text field held last; m_texts has what it means
    };
    std::array<FieldSeen, Assembler::EventShape::maxFields> m_seen;
    EventRow m_texts;
    std::uint64_t m_seenShape = 0;
    void forgetFields()
    {
        m_seen = {};
        m_texts = {};
    }

    StackCache m_stackCache;
    std::uint64_t m_frameChanges = 0;

    std::string m_scratch;
    std::uint64_t m_opcodeOffset = 0;
    unsigned char m_code = 0;
    int m_protocol = 0;
    Value m_result;
    std::optional<Error> m_error;
};

} // namespace tidemark
