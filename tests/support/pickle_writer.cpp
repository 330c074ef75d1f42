// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/pickle_writer.hpp"

#include <bit>

namespace tidemark::test {

namespace {

// CPython starts a new frame once the current one has grown past this.
constexpr std::size_t frameTarget = 64 * 1024;

} // namespace

PickleWriter::PickleWriter()
{
    m_done.append("\x80\x04", 2);
}

void PickleWriter::opcode(char code)
{
    if (m_frame.size() >= frameTarget)
        closeFrame();
    m_frame.push_back(code);
}

void PickleWriter::littleEndian(std::uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; ++i)
        m_frame.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

void PickleWriter::closeFrame()
{
    const std::uint64_t length = m_frame.size();
    m_done.push_back('\x95');
    for (int i = 0; i < 8; ++i)
        m_done.push_back(static_cast<char>(length >> (8 * i) & 0xff));
    m_done += m_frame;
    m_frame.clear();
}

PickleWriter::Handle PickleWriter::memoize()
{
    opcode('\x94');
    return m_memoized++;
}

void PickleWriter::integer(std::int64_t value)
{
    if (value >= 0 && value <= 0xff) {
        opcode('K');
        littleEndian(static_cast<std::uint64_t>(value), 1);
    } else if (value >= 0 && value <= 0xffff) {
        opcode('M');
        littleEndian(static_cast<std::uint64_t>(value), 2);
    } else if (value >= INT32_MIN && value <= INT32_MAX) {
        opcode('J');
        littleEndian(static_cast<std::uint64_t>(value), 4);
    } else {
        // The shortest two's complement that keeps the sign.
        int bytes = 5;
        while (bytes < 8 && (value >> (8 * bytes - 1)) != (value < 0 ? -1 : 0))
            ++bytes;
        opcode('\x8a');
        littleEndian(static_cast<std::uint64_t>(bytes), 1);
        littleEndian(static_cast<std::uint64_t>(value), bytes);
    }
}

void PickleWriter::unsignedInteger(std::uint64_t value)
{
    if (value <= INT64_MAX)
        return integer(static_cast<std::int64_t>(value));
    opcode('\x8a');
    littleEndian(9, 1);
    littleEndian(value, 8);
    littleEndian(0, 1);
}

void PickleWriter::real(double value)
{
    opcode('G');
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int i = 7; i >= 0; --i)
        m_frame.push_back(static_cast<char>(bits >> (8 * i) & 0xff));
}

void PickleWriter::boolean(bool value)
{
    opcode(value ? '\x88' : '\x89');
}

void PickleWriter::none()
{
    opcode('N');
}

PickleWriter::Handle PickleWriter::string(std::string_view text)
{
    if (text.size() <= 0xff) {
        opcode('\x8c');
        littleEndian(text.size(), 1);
    } else {
        opcode('X');
        littleEndian(text.size(), 4);
    }
    m_frame += text;
    return memoize();
}

void PickleWriter::again(Handle handle)
{
    if (handle <= 0xff) {
        opcode('h');
        littleEndian(handle, 1);
    } else {
        opcode('j');
        littleEndian(handle, 4);
    }
}

PickleWriter::Handle PickleWriter::emptyList()
{
    opcode(']');
    return memoize();
}

PickleWriter::Handle PickleWriter::emptyDict()
{
    opcode('}');
    return memoize();
}

void PickleWriter::beginItems()
{
    opcode('(');
}

void PickleWriter::endListItems()
{
    opcode('e');
}

void PickleWriter::appendItem()
{
    opcode('a');
}

void PickleWriter::endDictItems()
{
    opcode('u');
}

PickleWriter::Handle PickleWriter::pair()
{
    opcode('\x86');
    return memoize();
}

std::string PickleWriter::finish()
{
    opcode('.');
    closeFrame();
    m_memoized = 0;
    std::string result = std::move(m_done);
    m_done.assign("\x80\x04", 2);
    return result;
}

} // namespace tidemark::test
