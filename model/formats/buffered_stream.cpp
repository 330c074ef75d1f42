// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/buffered_stream.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace tidemark {

namespace {

/// Small enough to stay in a core's second-level cache.
constexpr std::size_t firstCapacity = 256U << 10;

} // namespace

std::span<const unsigned char> BufferedStream::peek(std::size_t wanted)
{
    while (m_end - m_begin < wanted && !m_ended) {
        makeRoom();
        const std::size_t got = fill({m_buffer.get() + m_end, m_capacity - m_end});
        m_end += got;
        m_ended = got == 0;
    }
    return {m_buffer.get() + m_begin, m_end - m_begin};
}

void BufferedStream::consume(std::size_t count)
{
    assert(count <= m_end - m_begin);
    m_begin += count;
    m_offset += count;
}

void BufferedStream::makeRoom()
{
    const std::size_t kept = m_end - m_begin;
    if (kept == m_capacity) {
        const std::size_t capacity = m_capacity == 0 ? firstCapacity : m_capacity * 2;
        auto bigger = std::make_unique_for_overwrite<unsigned char[]>(capacity);
        if (kept > 0)
            std::memcpy(bigger.get(), m_buffer.get() + m_begin, kept);
        m_buffer = std::move(bigger);
        m_capacity = capacity;
    } else if (m_begin > 0) {
        std::memmove(m_buffer.get(), m_buffer.get() + m_begin, kept);
    }
    m_begin = 0;
    m_end = kept;
}

} // namespace tidemark
