// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/formats/byte_stream.hpp"

#include <string>
#include <utility>

namespace tidemark {

/// Bytes that are in memory already.
class MemoryStream final : public ByteStream {
public:
    explicit MemoryStream(std::string bytes)
        : m_bytes(std::move(bytes))
    { }

    std::span<const unsigned char> peek(std::size_t) override
    {
        return {reinterpret_cast<const unsigned char*>(m_bytes.data()) + m_at, m_bytes.size() - m_at};
    }
    void consume(std::size_t count) override { m_at += count; }
    std::uint64_t offset() const override { return m_at; }
    std::uint64_t size() const override { return m_bytes.size(); }

private:
    std::string m_bytes;
    std::size_t m_at = 0;
};

} // namespace tidemark
