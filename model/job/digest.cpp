// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/job/digest.hpp"

#include "model/core/text.hpp"
#include "model/core/units.hpp"
#include "model/job/cbor_check.hpp"
#include "model/job/digest_fields.hpp"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>

namespace tidemark {

namespace {

constexpr std::uint64_t smallEnough = 256U << 10;
constexpr std::size_t maxDepth = 16;
constexpr std::size_t maxItems = 4U << 20;
constexpr std::size_t maxKey = 256;
constexpr int compressionLevel = 9;

template <typename Number>
void putNumber(std::string& out, Number value)
{
    for (std::size_t i = 0; i < sizeof(Number); ++i)
        out.push_back(static_cast<char>(value >> (8 * i) & 0xffU));
}

template <typename Number>
std::optional<Number> takeNumber(std::string_view& bytes)
{
    if (bytes.size() < sizeof(Number))
        return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i)
        value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    bytes.remove_prefix(sizeof(Number));
    return static_cast<Number>(value);
}

/// What stands in front of the packed tree.
struct Head {
    std::uint32_t version = 0;
    std::string key;
    std::uint64_t unpacked = 0;
};

/// Takes the head off; a text for what is wrong with it, or none.
const char* takeHead(std::string_view& bytes, Head& head)
{
    if (!bytes.starts_with(digestMagic))
        return "is no digest: it does not begin as one";
    bytes.remove_prefix(digestMagic.size());
    const auto version = takeNumber<std::uint32_t>(bytes);
    if (!version)
        return "is cut in its first bytes";
    head.version = *version;
    if (*version != digestVersion)
        return nullptr;
    const auto length = takeNumber<std::uint16_t>(bytes);
    if (!length || *length > maxKey || bytes.size() < *length)
        return "is cut in its first bytes";
    head.key = bytes.substr(0, *length);
    bytes.remove_prefix(*length);
    const auto unpacked = takeNumber<std::uint64_t>(bytes);
    if (!unpacked)
        return "is cut in its first bytes";
    head.unpacked = *unpacked;
    return nullptr;
}

std::string packedTree(const RankSummary& summary, const DigestDetail& detail)
{
    const std::vector<std::uint8_t> cbor = nlohmann::json::to_cbor(digestTree(summary, detail));
    std::string out(digestMagic);
    putNumber(out, digestVersion);
    const std::string key = summary.contentKey.substr(0, maxKey);
    putNumber(out, static_cast<std::uint16_t>(key.size()));
    out += key;
    putNumber(out, static_cast<std::uint64_t>(cbor.size()));
    const std::size_t head = out.size();
    out.resize(head + ZSTD_compressBound(cbor.size()));
    const std::size_t packed
        = ZSTD_compress(out.data() + head, out.size() - head, cbor.data(), cbor.size(), compressionLevel);
    out.resize(head + (ZSTD_isError(packed) != 0 ? 0 : packed));
    return out;
}

Error refused(const std::filesystem::path& file, const std::string& what)
{
    return {ErrorCode::Malformed,
        displayText(file.filename().string()) + " " + what + ". Make it again with tidemark digest.",
        std::nullopt};
}

} // namespace

std::string digestBytes(const RankSummary& summary)
{
    const std::uint64_t most = std::max(smallEnough, summary.fileBytes / 100);
    std::string bytes;
    for (const DigestDetail& detail : {DigestDetail{}, DigestDetail{2}, DigestDetail{2, false},
             DigestDetail{1, false, 16}, DigestDetail{1, false, 2}}) {
        bytes = packedTree(summary, detail);
        if (bytes.size() <= most)
            break;
    }
    return bytes;
}

Result<RankSummary> parseDigest(std::string_view bytes, const std::filesystem::path& file)
{
    Head head;
    if (const char* wrong = takeHead(bytes, head))
        return refused(file, wrong);
    if (head.version != digestVersion)
        return refused(file,
            "has layout " + formatUnsigned(head.version) + ", this program reads layout "
                + formatUnsigned(digestVersion));
    if (head.unpacked > maxDigestUnpacked)
        return refused(
            file, "claims " + formatUnsigned(head.unpacked) + " unpacked bytes, too many for a digest");
    const unsigned long long stated = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
    if (stated != head.unpacked)
        return refused(file, "is damaged: its packed part does not fit its first bytes");
    // Left uninitialised: pages that nothing is unpacked into stay untouched, so a claim alone takes no
    // memory.
    const auto room = std::make_unique_for_overwrite<char[]>(head.unpacked);
    const std::size_t got = ZSTD_decompress(room.get(), head.unpacked, bytes.data(), bytes.size());
    const std::string_view cbor(room.get(), ZSTD_isError(got) != 0 ? 0 : got);
    if (cbor.size() != head.unpacked)
        return refused(file, "is damaged or cut: its packed part cannot be unpacked");
    if (!isPlainCbor(cbor, maxDepth, maxItems))
        return refused(file, "is damaged: what is packed in it is no digest");
    const nlohmann::json tree = nlohmann::json::from_cbor(cbor, true, false);
    if (tree.is_discarded())
        return refused(file, "is damaged: what is packed in it is no digest");
    RankSummary summary;
    if (const auto fault = fillFromTree(summary, tree))
        return refused(file, "is damaged: its \"" + fault->where + "\" is missing or not as it should be");
    if (summary.contentKey != head.key)
        return refused(file, "is damaged: its two keys differ");
    summary.file = file;
    summary.fromDigest = true;
    return summary;
}

Result<RankSummary> readDigest(const std::filesystem::path& file, const Job& job)
{
    if (job.stopped())
        return Error{ErrorCode::Cancelled, "Stopped.", std::nullopt};
    std::ifstream in(file, std::ios::binary);
    in.seekg(0, std::ios::end);
    const std::streamoff end = in.tellg();
    if (!in || end < 0)
        return Error{ErrorCode::Io, displayText(file.string()) + " cannot be read.", std::nullopt};
    if (static_cast<std::uint64_t>(end) > maxDigestFile)
        return refused(file, "is too large for a digest");
    if (end == 0)
        return Error{ErrorCode::Empty,
            displayText(file.filename().string()) + " is empty. Make it again with tidemark digest.", 0};
    std::string bytes(static_cast<std::size_t>(end), '\0');
    in.seekg(0);
    in.read(bytes.data(), end);
    if (in.gcount() != end)
        return Error{ErrorCode::Io, displayText(file.string()) + " cannot be read to its end.", std::nullopt};
    return parseDigest(bytes, file);
}

std::optional<std::string> digestKey(const std::filesystem::path& file)
{
    std::ifstream in(file, std::ios::binary);
    std::string bytes(digestMagic.size() + maxKey + 16, '\0');
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
    std::string_view rest = bytes;
    Head head;
    if (takeHead(rest, head) != nullptr || head.version != digestVersion)
        return std::nullopt;
    return head.key;
}

} // namespace tidemark
