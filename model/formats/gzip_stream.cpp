// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/formats/buffered_stream.hpp"
#include "model/formats/input.hpp"

#include <algorithm>
#include <string_view>
#include <zlib.h>

namespace tidemark {

namespace {

class GzipStream final : public BufferedStream {
public:
    explicit GzipStream(std::unique_ptr<ByteStream> packed)
        : m_packed(std::move(packed))
    {
        constexpr int gzipFormat = 16;
        m_ready = ::inflateInit2(&m_zlib, MAX_WBITS + gzipFormat) == Z_OK;
    }
    GzipStream(const GzipStream&) = delete;
    GzipStream& operator=(const GzipStream&) = delete;
    ~GzipStream() override
    {
        if (m_ready)
            ::inflateEnd(&m_zlib);
    }

    std::uint64_t packedOffset() const override { return m_packed->offset(); }
    std::uint64_t packedSize() const override { return m_packed->size(); }

protected:
    std::size_t fill(std::span<unsigned char> into) override
    {
        if (!m_ready) {
            fail({ErrorCode::Io, "gzip: there is not enough memory to unpack the file.", std::nullopt});
            return 0;
        }
        m_zlib.next_out = into.data();
        m_zlib.avail_out = static_cast<uInt>(std::min<std::size_t>(into.size(), 1U << 30));
        const uInt room = m_zlib.avail_out;
        while (m_zlib.avail_out == room && !m_over)
            step();
        return room - m_zlib.avail_out;
    }

private:
    void step()
    {
        const auto packed = m_packed->peek(1);
        if (m_betweenMembers && (packed.empty() || !nextMember())) {
            m_over = true;
            return;
        }
        const uInt room = m_zlib.avail_out;
        const uInt offered = static_cast<uInt>(std::min<std::size_t>(packed.size(), 1U << 30));
        m_zlib.next_in = const_cast<Bytef*>(packed.data()); // NOLINT: zlib reads only
        m_zlib.avail_in = offered;
        const int status = ::inflate(&m_zlib, Z_NO_FLUSH);
        m_packed->consume(offered - m_zlib.avail_in);
        if (status == Z_STREAM_END) {
            m_betweenMembers = true;
        } else if (packed.empty() && m_zlib.avail_out == room) { // nothing left inside of zlib either
            m_over = true;
            if (const auto error = m_packed->error())
                fail(*error);
            else
                damaged(ErrorCode::Truncated, "the file is truncated");
        } else if (status != Z_OK && status != Z_BUF_ERROR) {
            m_over = true;
            const bool checksum
                = m_zlib.msg && std::string_view(m_zlib.msg).find("data check") != std::string_view::npos;
            damaged(ErrorCode::Damaged,
                checksum ? "the checksum does not match, so the file is damaged"
                         : "the compressed data is damaged");
        }
    }

    /// After a member's end: another one, or padding that is no part of the data.
    bool nextMember()
    {
        const auto head = m_packed->peek(2);
        m_over = head.size() < 2 || head[0] != 0x1f || head[1] != 0x8b || ::inflateReset(&m_zlib) != Z_OK;
        m_betweenMembers = m_over;
        return !m_over;
    }

    void damaged(ErrorCode code, const char* what)
    {
        fail({code,
            std::string("gzip: ") + what + " (at byte "
                + formatCount(static_cast<std::int64_t>(m_packed->offset())) + " of the compressed file)",
            produced()});
    }

    std::unique_ptr<ByteStream> m_packed;
    z_stream m_zlib{};
    bool m_ready = false;
    bool m_betweenMembers = false;
    bool m_over = false;
};

} // namespace

std::unique_ptr<ByteStream> makeGzipStream(std::unique_ptr<ByteStream> packed)
{
    return std::make_unique<GzipStream>(std::move(packed));
}

} // namespace tidemark
