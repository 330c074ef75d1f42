// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/formats/byte_stream.hpp"

namespace tidemark {

/// A ByteStream over whatever can fill a buffer: the buffer starts at 256 KiB and doubles only once it is
/// full of bytes that are really there.
class BufferedStream : public ByteStream {
public:
    std::span<const unsigned char> peek(std::size_t wanted) final;
    void consume(std::size_t count) final;
    std::uint64_t offset() const final { return m_offset; }
    std::uint64_t size() const override { return 0; }
    std::optional<Error> error() const final { return m_ended ? m_error : std::nullopt; }

protected:
    /// Writes some bytes to `into` and returns how many; 0 at the end, or after fail().
    virtual std::size_t fill(std::span<unsigned char> into) = 0;
    /// Bytes given by fill so far.
    std::uint64_t produced() const { return m_offset + (m_end - m_begin); }
    /// To be called from fill: why the input cannot go on.
    void fail(Error error) { m_error = std::move(error); }

private:
    void makeRoom();

    std::unique_ptr<unsigned char[]> m_buffer;
    std::size_t m_capacity = 0;
    std::size_t m_begin = 0;
    std::size_t m_end = 0;
    std::uint64_t m_offset = 0;
    bool m_ended = false;
    std::optional<Error> m_error;
};

} // namespace tidemark
