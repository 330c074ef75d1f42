// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/pickle_opcodes.hpp"

namespace tidemark::pickle {

namespace {

constexpr std::array<Opcode, 256> makeTable()
{
    std::array<Opcode, 256> t{};
    const auto fixed = [&t](Code code, const char* name, std::uint8_t bytes = 0) {
        t[code] = {name, bytes, Argument::Fixed};
    };
    const auto counted = [&t](Code code, const char* name, std::uint8_t bytes) {
        t[code] = {name, bytes, Argument::Counted};
    };
    const auto line = [&t](Code code, const char* name) { t[code] = {name, 0, Argument::Line}; };
    const auto twoLines = [&t](Code code, const char* name) { t[code] = {name, 0, Argument::TwoLines}; };

    fixed(MARK, "MARK");
    fixed(STOP, "STOP");
    fixed(POP, "POP");
    fixed(POP_MARK, "POP_MARK");
    fixed(DUP, "DUP");
    line(FLOAT, "FLOAT");
    line(INT, "INT");
    fixed(BININT, "BININT", 4);
    fixed(BININT1, "BININT1", 1);
    line(LONG, "LONG");
    fixed(BININT2, "BININT2", 2);
    fixed(NONE, "NONE");
    line(PERSID, "PERSID");
    fixed(BINPERSID, "BINPERSID");
    fixed(REDUCE, "REDUCE");
    line(STRING, "STRING");
    counted(BINSTRING, "BINSTRING", 4);
    counted(SHORT_BINSTRING, "SHORT_BINSTRING", 1);
    line(UNICODE, "UNICODE");
    counted(BINUNICODE, "BINUNICODE", 4);
    fixed(APPEND, "APPEND");
    fixed(BUILD, "BUILD");
    twoLines(GLOBAL, "GLOBAL");
    fixed(DICT, "DICT");
    fixed(EMPTY_DICT, "EMPTY_DICT");
    fixed(APPENDS, "APPENDS");
    line(GET, "GET");
    fixed(BINGET, "BINGET", 1);
    twoLines(INST, "INST");
    fixed(LONG_BINGET, "LONG_BINGET", 4);
    fixed(LIST, "LIST");
    fixed(EMPTY_LIST, "EMPTY_LIST");
    fixed(OBJ, "OBJ");
    line(PUT, "PUT");
    fixed(BINPUT, "BINPUT", 1);
    fixed(LONG_BINPUT, "LONG_BINPUT", 4);
    fixed(SETITEM, "SETITEM");
    fixed(TUPLE, "TUPLE");
    fixed(EMPTY_TUPLE, "EMPTY_TUPLE");
    fixed(SETITEMS, "SETITEMS");
    fixed(BINFLOAT, "BINFLOAT", 8);
    fixed(PROTO, "PROTO", 1);
    fixed(NEWOBJ, "NEWOBJ");
    fixed(EXT1, "EXT1", 1);
    fixed(EXT2, "EXT2", 2);
    fixed(EXT4, "EXT4", 4);
    fixed(TUPLE1, "TUPLE1");
    fixed(TUPLE2, "TUPLE2");
    fixed(TUPLE3, "TUPLE3");
    fixed(NEWTRUE, "NEWTRUE");
    fixed(NEWFALSE, "NEWFALSE");
    counted(LONG1, "LONG1", 1);
    counted(LONG4, "LONG4", 4);
    counted(BINBYTES, "BINBYTES", 4);
    counted(SHORT_BINBYTES, "SHORT_BINBYTES", 1);
    counted(SHORT_BINUNICODE, "SHORT_BINUNICODE", 1);
    counted(BINUNICODE8, "BINUNICODE8", 8);
    counted(BINBYTES8, "BINBYTES8", 8);
    fixed(EMPTY_SET, "EMPTY_SET");
    fixed(ADDITEMS, "ADDITEMS");
    fixed(FROZENSET, "FROZENSET");
    fixed(NEWOBJ_EX, "NEWOBJ_EX");
    fixed(STACK_GLOBAL, "STACK_GLOBAL");
    fixed(MEMOIZE, "MEMOIZE");
    fixed(FRAME, "FRAME", 8);
    counted(BYTEARRAY8, "BYTEARRAY8", 8);
    fixed(NEXT_BUFFER, "NEXT_BUFFER");
    fixed(READONLY_BUFFER, "READONLY_BUFFER");
    return t;
}

} // namespace

const std::array<Opcode, 256> opcodes = makeTable();

} // namespace tidemark::pickle
