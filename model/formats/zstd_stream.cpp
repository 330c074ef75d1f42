// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/formats/buffered_stream.hpp"
#include "model/formats/input.hpp"

#include <zstd.h>
#include <zstd_errors.h>

namespace tidemark {

namespace {

class ZstdStream final : public BufferedStream {
public:
    explicit ZstdStream(std::unique_ptr<ByteStream> packed)
        : m_packed(std::move(packed))
        , m_context(::ZSTD_createDCtx())
    { }
    ZstdStream(const ZstdStream&) = delete;
    ZstdStream& operator=(const ZstdStream&) = delete;
    ~ZstdStream() override { ::ZSTD_freeDCtx(m_context); }

    std::uint64_t packedOffset() const override { return m_packed->offset(); }
    std::uint64_t packedSize() const override { return m_packed->size(); }

protected:
    std::size_t fill(std::span<unsigned char> into) override
    {
        if (!m_context) {
            fail({ErrorCode::Io, "zstd: there is not enough memory to unpack the file.", std::nullopt});
            return 0;
        }
        ZSTD_outBuffer out{into.data(), into.size(), 0};
        while (out.pos == 0 && !m_over)
            step(out);
        return out.pos;
    }

private:
    void step(ZSTD_outBuffer& out)
    {
        const auto packed = m_packed->peek(1);
        if (packed.empty() && m_pending == 0) {
            m_over = true;
            return;
        }
        const std::size_t before = out.pos;
        ZSTD_inBuffer in{packed.data(), packed.size(), 0};
        const std::size_t status = ::ZSTD_decompressStream(m_context, &out, &in);
        m_packed->consume(in.pos);
        if (!::ZSTD_isError(status)) {
            m_pending = status;
            m_anyFrame = m_anyFrame || status == 0;
            if (!packed.empty() || out.pos > before)
                return;
            m_over = true; // nothing left inside of the decoder either
            if (const auto error = m_packed->error())
                fail(*error);
            else
                damaged(ErrorCode::Truncated, "the file is truncated");
            return;
        }
        m_over = true;
        const ZSTD_ErrorCode code = ::ZSTD_getErrorCode(status);
        // After a whole frame, bytes that begin no other one are padding.
        if (code == ZSTD_error_prefix_unknown && m_anyFrame && m_pending == 0)
            return;
        if (code == ZSTD_error_checksum_wrong)
            damaged(ErrorCode::Damaged, "the checksum does not match, so the file is damaged");
        else if (code == ZSTD_error_frameParameter_windowTooLarge)
            damaged(ErrorCode::TooLarge, "the file needs a window of more than 128 MiB to unpack");
        else
            damaged(ErrorCode::Damaged, "the compressed data is damaged");
    }

    void damaged(ErrorCode code, const char* what)
    {
        fail({code,
            std::string("zstd: ") + what + " (at byte "
                + formatCount(static_cast<std::int64_t>(m_packed->offset())) + " of the compressed file)",
            produced()});
    }

    std::unique_ptr<ByteStream> m_packed;
    ZSTD_DCtx* m_context;
    std::size_t m_pending = 1; ///< what the decoder still expects; 0 between frames
    bool m_anyFrame = false;
    bool m_over = false;
};

} // namespace

std::unique_ptr<ByteStream> makeZstdStream(std::unique_ptr<ByteStream> packed)
{
    return std::make_unique<ZstdStream>(std::move(packed));
}

} // namespace tidemark
