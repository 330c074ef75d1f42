// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/ids.hpp"

#include <cstdint>

namespace tidemark {

/// What a Value is. The second half are containers in the shape the assembler keeps them in.
enum class Tag : std::uint8_t {
    None,
    Bool,
    Int, ///< nearer to 0 than 2^54, inline
    Boxed, ///< any other int64
    Unsigned, ///< 2^63 … 2^64 − 1
    Huge, ///< beyond 64 bits
    Real,
    Text, ///< str or bytes
    Opaque, ///< something that can matter to nobody, dropped
    Foreign, ///< an object of a class or a call the file names; never made. Payload: StringId of the name
    Name, ///< a class or function by its name (GLOBAL). Payload: StringId
    Node, ///< a container that may be referenced from several places
    EmptyDict,
    EmptyList,
    EmptyTuple,
    Pair, ///< tuple of two integers
    Dict,
    List,
    Event,
    EventList,
    Frame,
    Stack,
    Segment,
    Block,
    Annotation,
};

/// One value of a file being read: 8 bytes, trivially copied. Scalars are inline or boxed in the Assembler
/// that made them; containers are numbers of its tables. Meaningless without that Assembler.
class Value {
public:
    constexpr Value() = default;
    constexpr Value(Tag tag, std::int64_t payload) noexcept
        : m_bits((static_cast<std::uint64_t>(payload) << 8U) | static_cast<std::uint64_t>(tag))
    { }

    constexpr Tag tag() const noexcept { return static_cast<Tag>(m_bits & 0xffU); }
    constexpr std::int64_t payload() const noexcept { return static_cast<std::int64_t>(m_bits) >> 8; }
    constexpr std::uint32_t id() const noexcept { return static_cast<std::uint32_t>(m_bits >> 8U); }
    constexpr StringId text() const noexcept { return StringId{id()}; }

    constexpr bool operator==(const Value&) const noexcept = default;

    /// Whether a number is kept inline, as Tag::Int.
    static constexpr bool fits(std::int64_t number) noexcept
    {
        constexpr std::int64_t limit = std::int64_t{1} << 54U;
        return number > -limit && number < limit;
    }
    static constexpr Value none() noexcept { return {Tag::None, 0}; }
    static constexpr Value boolean(bool b) noexcept { return {Tag::Bool, b ? 1 : 0}; }
    static constexpr Value emptyDict() noexcept { return {Tag::EmptyDict, 0}; }
    static constexpr Value emptyList() noexcept { return {Tag::EmptyList, 0}; }
    static constexpr Value emptyTuple() noexcept { return {Tag::EmptyTuple, 0}; }
    static constexpr Value opaque() noexcept { return {Tag::Opaque, 0}; }

private:
    std::uint64_t m_bits = 0;
};

static_assert(sizeof(Value) == 8);

} // namespace tidemark
