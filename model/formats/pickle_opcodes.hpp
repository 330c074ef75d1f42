// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tidemark::pickle {

static_assert(std::endian::native == std::endian::little);

/// An opcode with a fixed argument always fits into this many bytes.
inline constexpr std::ptrdiff_t longestFixed = 16;

template <typename T>
T load(const unsigned char* at)
{
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

/// A little-endian two's-complement number of 1–8 bytes with at least 8 readable bytes behind `at`.
inline std::int64_t loadShort(const unsigned char* at, unsigned bytes)
{
    const unsigned unused = 64 - (8 * bytes);
    return static_cast<std::int64_t>(load<std::uint64_t>(at) << unused) >> unused;
}

/// How the argument of an opcode is laid out.
enum class Argument : std::uint8_t {
    Fixed, ///< `bytes` of them
    Line, ///< up to a newline
    TwoLines,
    Counted, ///< `bytes` of a little-endian length, then so many bytes
};

struct Opcode {
    const char* name = nullptr; ///< null: no opcode
    std::uint8_t bytes = 0;
    Argument argument = Argument::Fixed;
};

/// Every opcode of protocols 0–5 (CPython Lib/pickletools.py, 3.14).
extern const std::array<Opcode, 256> opcodes;

enum Code : std::uint8_t {
    MARK = '(',
    STOP = '.',
    POP = '0',
    POP_MARK = '1',
    DUP = '2',
    FLOAT = 'F',
    INT = 'I',
    BININT = 'J',
    BININT1 = 'K',
    LONG = 'L',
    BININT2 = 'M',
    NONE = 'N',
    PERSID = 'P',
    BINPERSID = 'Q',
    REDUCE = 'R',
    STRING = 'S',
    BINSTRING = 'T',
    SHORT_BINSTRING = 'U',
    UNICODE = 'V',
    BINUNICODE = 'X',
    APPEND = 'a',
    BUILD = 'b',
    GLOBAL = 'c',
    DICT = 'd',
    EMPTY_DICT = '}',
    APPENDS = 'e',
    GET = 'g',
    BINGET = 'h',
    INST = 'i',
    LONG_BINGET = 'j',
    LIST = 'l',
    EMPTY_LIST = ']',
    OBJ = 'o',
    PUT = 'p',
    BINPUT = 'q',
    LONG_BINPUT = 'r',
    SETITEM = 's',
    TUPLE = 't',
    EMPTY_TUPLE = ')',
    SETITEMS = 'u',
    BINFLOAT = 'G',
    PROTO = 0x80,
    NEWOBJ = 0x81,
    EXT1 = 0x82,
    EXT2 = 0x83,
    EXT4 = 0x84,
    TUPLE1 = 0x85,
    TUPLE2 = 0x86,
    TUPLE3 = 0x87,
    NEWTRUE = 0x88,
    NEWFALSE = 0x89,
    LONG1 = 0x8a,
    LONG4 = 0x8b,
    BINBYTES = 'B',
    SHORT_BINBYTES = 'C',
    SHORT_BINUNICODE = 0x8c,
    BINUNICODE8 = 0x8d,
    BINBYTES8 = 0x8e,
    EMPTY_SET = 0x8f,
    ADDITEMS = 0x90,
    FROZENSET = 0x91,
    NEWOBJ_EX = 0x92,
    STACK_GLOBAL = 0x93,
    MEMOIZE = 0x94,
    FRAME = 0x95,
    BYTEARRAY8 = 0x96,
    NEXT_BUFFER = 0x97,
    READONLY_BUFFER = 0x98,
};

} // namespace tidemark::pickle
