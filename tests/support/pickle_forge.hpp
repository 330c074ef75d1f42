// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Pickles as CPython's pickler (protocols 0–5) and PyTorch's C++ pickler (protocol 2) write them, from a
/// tree of values; and the raw opcodes for what no pickler writes. PickleWriter is for large files, this is
/// for odd ones.
namespace tidemark::test {

struct PyObject;
/// A Python value. The same pointer used twice is the same object, and becomes a memo reference.
using Py = std::shared_ptr<PyObject>;

struct PyObject {
    enum class Kind { None, Bool, Int, Real, Text, Bytes, List, Tuple, Dict, Raw };
    Kind kind = Kind::None;
    std::int64_t number = 0;
    /// The number is not negative and its 64 bits are unsigned.
    bool isUnsigned = false;
    double real = 0;
    std::string text; ///< also the opcodes of Raw
    std::vector<Py> items; ///< of a dict: key, value, key, value
};

Py pyNone();
Py pyBool(bool value);
Py pyInt(std::int64_t value);
Py pyUnsigned(std::uint64_t value);
Py pyReal(double value);
Py pyText(std::string_view value);
Py pyBytes(std::string_view value);
Py pyList(std::vector<Py> items = {});
Py pyTuple(std::vector<Py> items);
Py pyDict(std::vector<std::pair<std::string, Py>> pairs = {});
/// Opcodes that leave one value on the stack.
Py pyRaw(std::string opcodes);

/// A copy of a dict with some pairs set or added.
Py with(const Py& dict, std::vector<std::pair<std::string, Py>> pairs);
Py without(const Py& dict, std::string_view key);
/// The value under a key; null without it.
Py valueOf(const Py& dict, std::string_view key);

struct PickleStyle {
    int protocol = 4;
    /// As PyTorch's C++ pickler: protocol 2, integers beyond 32 bits always eight bytes, one APPENDS for a
    /// whole list, memo slots only for strings and for what is shared, filled behind the content.
    bool cpp = false;
    /// Slot of the i-th memo entry, for protocols below 4.
    std::function<std::uint64_t(std::uint64_t)> slot = nullptr;
    /// What a FRAME of so many bytes claims to hold.
    std::function<std::uint64_t(std::uint64_t)> frameLength = nullptr;
    std::size_t frameBytes = 65536;
};

std::string pickled(const Py& value, const PickleStyle& style = {});

// Single opcodes.
std::string opInt(std::int64_t value);
std::string opLong1(std::int64_t value, unsigned bytes);
std::string opText(std::string_view text);
std::string littleEndian(std::uint64_t value, unsigned bytes);

// Values as they stand in a snapshot.
Py pyFrame(std::string_view name, std::string_view file, std::int64_t line);
/// time_us is left out when it is 0, frames when they are null.
Py pyEvent(std::string_view action, std::uint64_t address, std::int64_t size, std::int64_t timeUs = 0,
    Py frames = nullptr, std::int64_t stream = 0);
Py pyBlock(std::uint64_t address, std::int64_t size, std::string_view state, std::int64_t requested,
    Py frames = nullptr);
Py pySegment(int device, std::uint64_t address, std::int64_t size, std::vector<Py> blocks);
Py pySnapshot(std::vector<Py> segments, std::vector<Py> traces);

/// A small whole snapshot: two stacks over three shared frames, six events with and without frames from
/// sampleStart on, an unmatched free of a high address, one live block at sampleBase, settings and a step.
Py pySample();
inline constexpr std::uint64_t sampleBase = 0x7f4000000000;
inline constexpr std::int64_t sampleStart = 1790000000000000;

} // namespace tidemark::test
