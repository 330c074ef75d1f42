// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/packing.hpp"

#include "tests/support/pickle_forge.hpp"

#include <cstdint>
#include <stdexcept>
#include <zlib.h>
#include <zstd.h>

namespace tidemark::test {

namespace {

/// `bits` as for deflateInit2: above 15 gzip, below 0 raw.
std::string deflated(std::string_view bytes, int bits)
{
    z_stream zlib{};
    if (::deflateInit2(&zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::runtime_error("deflateInit2");
    std::string out(::deflateBound(&zlib, static_cast<uLong>(bytes.size())) + 64, '\0');
    zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    zlib.avail_in = static_cast<uInt>(bytes.size());
    zlib.next_out = reinterpret_cast<Bytef*>(out.data());
    zlib.avail_out = static_cast<uInt>(out.size());
    if (::deflate(&zlib, Z_FINISH) != Z_STREAM_END)
        throw std::runtime_error("deflate");
    out.resize(out.size() - zlib.avail_out);
    ::deflateEnd(&zlib);
    return out;
}

} // namespace

std::string gzipped(std::string_view bytes)
{
    return deflated(bytes, 15 + 16);
}

std::string zstdCompressed(std::string_view bytes)
{
    ZSTD_CCtx* context = ::ZSTD_createCCtx();
    ::ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    std::string out(::ZSTD_compressBound(bytes.size()), '\0');
    const std::size_t size = ::ZSTD_compress2(context, out.data(), out.size(), bytes.data(), bytes.size());
    ::ZSTD_freeCCtx(context);
    if (::ZSTD_isError(size))
        throw std::runtime_error("zstd");
    out.resize(size);
    return out;
}

std::string zipped(const std::vector<ZipEntry>& entries, const ZipStyle& style)
{
    const auto field
        = [&](std::uint64_t value) { return littleEndian(style.zip64 ? 0xffffffffU : value, 4); };
    std::string out;
    std::string directory;
    for (const ZipEntry& e : entries) {
        const std::string data = e.deflate ? deflated(e.bytes, -15) : e.bytes;
        const std::uint64_t at = out.size();
        const auto checksum = ::crc32_z(0, reinterpret_cast<const Bytef*>(e.bytes.data()), e.bytes.size());
        const std::string sizes = littleEndian(checksum, 4) + field(data.size()) + field(e.bytes.size());
        const std::string common = littleEndian(0, 2) + littleEndian(e.deflate ? 8 : 0, 2)
            + littleEndian(0, 4) + sizes + littleEndian(e.name.size(), 2);
        const std::string both = littleEndian(e.bytes.size(), 8) + littleEndian(data.size(), 8);
        const std::string localExtra = style.zip64 ? littleEndian(1, 2) + littleEndian(16, 2) + both : "";
        const std::string extra
            = style.zip64 ? littleEndian(1, 2) + littleEndian(24, 2) + both + littleEndian(at, 8) : "";
        out += "PK\x03\x04" + littleEndian(45, 2) + common + littleEndian(localExtra.size(), 2) + e.name
            + localExtra + data;
        directory += "PK\x01\x02" + littleEndian(45, 2) + littleEndian(45, 2) + common
            + littleEndian(extra.size(), 2) + littleEndian(0, 2) + littleEndian(0, 2) + littleEndian(0, 2)
            + littleEndian(0, 4) + field(at) + e.name + extra;
    }
    const std::uint64_t directoryAt = out.size();
    out += directory;
    if (style.zip64) {
        const std::uint64_t end64 = out.size();
        out += "PK\x06\x06" + littleEndian(44, 8) + littleEndian(45, 2) + littleEndian(45, 2)
            + littleEndian(0, 4) + littleEndian(0, 4) + littleEndian(entries.size(), 8)
            + littleEndian(entries.size(), 8) + littleEndian(directory.size(), 8)
            + littleEndian(directoryAt, 8);
        out += "PK\x06\x07" + littleEndian(0, 4) + littleEndian(end64, 8) + littleEndian(1, 4);
    }
    out += "PK\x05\x06" + littleEndian(0, 4) + littleEndian(style.zip64 ? 0xffffU : entries.size(), 2)
        + littleEndian(style.zip64 ? 0xffffU : entries.size(), 2) + field(directory.size())
        + field(directoryAt) + littleEndian(style.comment.size(), 2) + style.comment;
    return out;
}

} // namespace tidemark::test
