// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/digest_wrapper.hpp"

#include "model/job/digest.hpp"
#include "model/job/file_class.hpp"
#include "tests/support/packing.hpp"
#include "tests/support/pickle_forge.hpp"

#include <zstd.h>

namespace tidemark::fuzz {

std::string wrappedDigest(std::string_view cbor)
{
    return std::string(digestMagic) + test::littleEndian(digestVersion, 4) + test::littleEndian(0, 2)
        + test::littleEndian(cbor.size(), 8) + test::zstdCompressed(cbor);
}

std::string unwrappedDigest(std::string_view digest)
{
    // Magic, version, length of the key, key, unpacked size.
    std::size_t at = digestMagic.size() + 4;
    if (digest.size() < at + 2)
        return {};
    const auto byte
        = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(digest[i])); };
    at += 2 + byte(at) + (byte(at + 1) << 8U) + 8;
    if (digest.size() < at)
        return {};
    digest.remove_prefix(at);
    const auto length = ZSTD_getFrameContentSize(digest.data(), digest.size());
    if (length > maxDigestUnpacked)
        return {};
    std::string out(length, '\0');
    const std::size_t got = ZSTD_decompress(out.data(), out.size(), digest.data(), digest.size());
    return ZSTD_isError(got) != 0 ? std::string() : out;
}

} // namespace tidemark::fuzz
