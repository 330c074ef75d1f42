// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark::test {

/// Writes the opcodes of pickle protocol 4 for plain data, as CPython's pickler does for a memory snapshot:
/// framed, every string, list, dict and tuple memoized. The caller keeps the order right (open, fill, close)
/// and keeps the handles of what it wants to refer to again. No errors; memory is the output's size.
class PickleWriter {
public:
    /// Number of a memoized object.
    using Handle = std::uint32_t;

    PickleWriter();

    void integer(std::int64_t value);
    /// Any unsigned 64-bit value; those from 2^63 on take nine bytes, as from Python.
    void unsignedInteger(std::uint64_t value);
    void real(double value);
    void boolean(bool value);
    void none();
    Handle string(std::string_view text);
    /// A second mention of something written before.
    void again(Handle handle);

    /// An empty list or dict on the stack; then beginItems, the items (key, value, …), endItems. Python
    /// writes at most 1000 items between the two.
    Handle emptyList();
    Handle emptyDict();
    void beginItems();
    void endListItems();
    /// The one value written before goes into the list below it; Python's way for a single item.
    void appendItem();
    void endDictItems();
    /// Closes the two values written before.
    Handle pair();

    /// Ends the pickle and hands it over. The writer is empty afterwards.
    std::string finish();

private:
    void opcode(char code);
    void littleEndian(std::uint64_t value, int bytes);
    Handle memoize();
    void closeFrame();

    std::string m_done;
    std::string m_frame;
    Handle m_memoized = 0;
};

} // namespace tidemark::test
