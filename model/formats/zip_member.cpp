// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/text.hpp"
#include "model/formats/buffered_stream.hpp"
#include "model/formats/input.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <vector>
#include <zlib.h>

namespace tidemark {

namespace {

/// Where a member's bytes lie. Field offsets and signatures: PKWARE APPNOTE 6.3, sections 4.3 and 4.5.3.
struct Member {
    std::string name;
    unsigned method = 0;
    std::uint32_t checksum = 0;
    std::uint64_t packed = 0;
    std::uint64_t unpacked = 0;
    std::uint64_t header = 0;
    bool encrypted = false;
};

constexpr std::uint32_t localSignature = 0x04034b50;
constexpr std::uint32_t centralSignature = 0x02014b50;
constexpr std::uint32_t endSignature = 0x06054b50;
constexpr std::uint32_t end64Signature = 0x06064b50;
constexpr std::uint32_t locator64Signature = 0x07064b50;
constexpr std::uint32_t unknown32 = 0xffffffff;

template <typename T>
T little(std::span<const unsigned char> bytes, std::size_t at)
{
    static_assert(std::endian::native == std::endian::little);
    T value = 0;
    if (at + sizeof(T) <= bytes.size())
        std::memcpy(&value, bytes.data() + at, sizeof(T));
    return value;
}

/// Up to `length` bytes at `offset`; fewer where the file ends.
std::vector<unsigned char> piece(const std::filesystem::path& path, std::uint64_t offset, std::size_t length)
{
    std::vector<unsigned char> bytes;
    if (auto stream = openFile(path, offset, length)) {
        const auto view = (*stream)->peek(length);
        bytes.assign(view.begin(), view.begin() + static_cast<std::ptrdiff_t>(std::min(view.size(), length)));
    }
    return bytes;
}

/// The 64-bit values that a header's extra field holds in place of 32-bit ones, in this order.
void readZip64(std::span<const unsigned char> extra, std::initializer_list<std::uint64_t*> fields)
{
    while (extra.size() >= 4) {
        const auto id = little<std::uint16_t>(extra, 0);
        const std::size_t size = std::min<std::size_t>(little<std::uint16_t>(extra, 2), extra.size() - 4);
        const auto body = extra.subspan(4, size);
        if (id == 1) {
            std::size_t at = 0;
            for (std::uint64_t* field : fields)
                if (*field == unknown32 && at + 8 <= body.size()) {
                    *field = little<std::uint64_t>(body, at);
                    at += 8;
                }
        }
        extra = extra.subspan(4 + size);
    }
}

Error zipError(ErrorCode code, const std::string& what)
{
    return {code, "zip: " + what, std::nullopt};
}

/// All members, from the directory at the archive's end.
Result<std::vector<Member>> readDirectory(const std::filesystem::path& path, std::uint64_t fileBytes)
{
    const std::size_t tailLength
        = static_cast<std::size_t>(std::min<std::uint64_t>(fileBytes, 65535 + 22 + 20));
    const std::uint64_t tailAt = fileBytes - tailLength;
    const auto tail = piece(path, tailAt, tailLength);
    std::size_t end = tail.size() < 22 ? 0 : tail.size() - 22;
    while (end > 0 && little<std::uint32_t>(tail, end) != endSignature)
        --end;
    if (tail.size() < 22 || little<std::uint32_t>(tail, end) != endSignature)
        return zipError(ErrorCode::Truncated,
            "the file is truncated: the archive's directory, which stands at its end, is missing");

    std::uint64_t count = little<std::uint16_t>(tail, end + 10);
    std::uint64_t size = little<std::uint32_t>(tail, end + 12);
    std::uint64_t at = little<std::uint32_t>(tail, end + 16);
    if (end >= 20 && little<std::uint32_t>(tail, end - 20) == locator64Signature) {
        const auto end64 = piece(path, little<std::uint64_t>(tail, end - 20 + 8), 56);
        if (little<std::uint32_t>(end64, 0) == end64Signature) {
            count = little<std::uint64_t>(end64, 32);
            size = little<std::uint64_t>(end64, 40);
            at = little<std::uint64_t>(end64, 48);
        }
    }

    constexpr std::size_t maxDirectory = 64U << 20;
    if (at > fileBytes || size > fileBytes - at || size > maxDirectory)
        return zipError(ErrorCode::Damaged, "the archive's directory is damaged");
    const auto directory = piece(path, at, static_cast<std::size_t>(size));
    std::vector<Member> members;
    std::span<const unsigned char> rest(directory);
    for (std::uint64_t i = 0; i < count && rest.size() >= 46; ++i) {
        if (little<std::uint32_t>(rest, 0) != centralSignature)
            return zipError(ErrorCode::Damaged, "the archive's directory is damaged");
        const std::size_t nameLength = little<std::uint16_t>(rest, 28);
        const std::size_t extraLength = little<std::uint16_t>(rest, 30);
        const std::size_t entry = 46 + nameLength + extraLength + little<std::uint16_t>(rest, 32);
        if (entry > rest.size())
            return zipError(ErrorCode::Damaged, "the archive's directory is damaged");
        Member m;
        m.encrypted = (little<std::uint16_t>(rest, 8) & 1U) != 0;
        m.method = little<std::uint16_t>(rest, 10);
        m.checksum = little<std::uint32_t>(rest, 16);
        m.packed = little<std::uint32_t>(rest, 20);
        m.unpacked = little<std::uint32_t>(rest, 24);
        m.header = little<std::uint32_t>(rest, 42);
        m.name.assign(reinterpret_cast<const char*>(rest.data()) + 46, nameLength);
        readZip64(rest.subspan(46 + nameLength, extraLength), {&m.unpacked, &m.packed, &m.header});
        members.push_back(std::move(m));
        rest = rest.subspan(entry);
    }
    return members;
}

/// The first member by its own header, for an archive that was cut off before its directory.
std::vector<Member> firstMember(const std::filesystem::path& path, std::uint64_t fileBytes)
{
    const auto header = piece(path, 0, 30 + 65535);
    if (little<std::uint32_t>(header, 0) != localSignature || header.size() < 31)
        return {};
    Member m;
    m.encrypted = (little<std::uint16_t>(header, 6) & 1U) != 0;
    m.method = little<std::uint16_t>(header, 8);
    const std::size_t nameLength = little<std::uint16_t>(header, 26);
    const std::size_t skip = 30 + nameLength + little<std::uint16_t>(header, 28);
    if (skip > header.size())
        return {};
    m.name.assign(reinterpret_cast<const char*>(header.data()) + 30, nameLength);
    m.packed = fileBytes - skip;
    m.unpacked = unknown32;
    return {m};
}

const Member* choose(const std::vector<Member>& members)
{
    for (const Member& m : members)
        if (m.name == "data.pkl" || m.name.ends_with("/data.pkl"))
            return &m;
    const Member* only = nullptr;
    for (const Member& m : members) {
        if (m.name.ends_with('/'))
            continue;
        if (only)
            return nullptr;
        only = &m;
    }
    return only;
}

class ZipStream final : public BufferedStream {
public:
    ZipStream(std::unique_ptr<ByteStream> packed, Member member)
        : m_packed(std::move(packed))
        , m_member(std::move(member))
    {
        m_ready = m_member.method == 0 || ::inflateInit2(&m_zlib, -MAX_WBITS) == Z_OK;
    }
    ZipStream(const ZipStream&) = delete;
    ZipStream& operator=(const ZipStream&) = delete;
    ~ZipStream() override
    {
        if (m_ready && m_member.method != 0)
            ::inflateEnd(&m_zlib);
    }

    std::uint64_t packedOffset() const override { return m_packed->offset(); }
    std::uint64_t packedSize() const override { return m_packed->size(); }

protected:
    std::size_t fill(std::span<unsigned char> into) override
    {
        std::size_t got = 0;
        while (got == 0 && !m_over)
            got = m_member.method == 0 ? copy(into) : unpack(into);
        m_checksum = static_cast<std::uint32_t>(::crc32_z(m_checksum, into.data(), got));
        m_total += got;
        if (got == 0 && m_complete && m_member.checksum != 0 && m_checksum != m_member.checksum)
            fail(zipError(ErrorCode::Damaged,
                "the checksum of " + displayText(m_member.name, 80)
                    + " does not match, so the file is damaged"));
        return got;
    }

private:
    std::size_t copy(std::span<unsigned char> into)
    {
        const auto packed = m_packed->peek(1);
        if (packed.empty()) {
            m_over = true;
            m_complete = m_total == m_member.unpacked;
            if (!m_complete)
                fail(zipError(ErrorCode::Truncated, "the file is truncated"));
            return 0;
        }
        const std::size_t count = std::min(into.size(), packed.size());
        std::memcpy(into.data(), packed.data(), count);
        m_packed->consume(count);
        return count;
    }

    std::size_t unpack(std::span<unsigned char> into)
    {
        const auto packed = m_packed->peek(1);
        const uInt offered = static_cast<uInt>(std::min<std::size_t>(packed.size(), 1U << 30));
        const uInt room = static_cast<uInt>(std::min<std::size_t>(into.size(), 1U << 30));
        m_zlib.next_in = const_cast<Bytef*>(packed.data()); // NOLINT: zlib reads only
        m_zlib.avail_in = offered;
        m_zlib.next_out = into.data();
        m_zlib.avail_out = room;
        const int status = m_ready ? ::inflate(&m_zlib, Z_NO_FLUSH) : Z_MEM_ERROR;
        m_packed->consume(offered - m_zlib.avail_in);
        const std::size_t got = room - m_zlib.avail_out;
        if (status == Z_STREAM_END) {
            m_over = m_complete = true;
        } else if (status != Z_OK && status != Z_BUF_ERROR) {
            m_over = true;
            fail(zipError(ErrorCode::Damaged, "the compressed data is damaged"));
        } else if (packed.empty() && got == 0) {
            m_over = true;
            fail(zipError(ErrorCode::Truncated, "the file is truncated"));
        }
        return got;
    }

    std::unique_ptr<ByteStream> m_packed;
    Member m_member;
    z_stream m_zlib{};
    std::uint32_t m_checksum = 0;
    std::uint64_t m_total = 0;
    bool m_ready = false;
    bool m_over = false;
    bool m_complete = false;
};

} // namespace

Result<std::unique_ptr<ByteStream>> openZipMember(const std::filesystem::path& path, bool partial)
{
    auto file = openFile(path);
    if (!file)
        return file.error();
    const std::uint64_t fileBytes = (*file)->size();
    auto directory = readDirectory(path, fileBytes);
    if (!directory && !partial) {
        Error error = directory.error();
        error.partial = !firstMember(path, fileBytes).empty();
        return error;
    }
    const std::vector<Member> members = directory ? std::move(*directory) : firstMember(path, fileBytes);
    const Member* member = choose(members);
    if (!member)
        return zipError(ErrorCode::NotASnapshot,
            "this archive holds no member data.pkl, which torch.save writes; unpack it and open the snapshot "
            "in it");
    if (member->encrypted)
        return zipError(ErrorCode::Unsupported, "the archive is encrypted");
    if (member->method != 0 && member->method != 8)
        return zipError(ErrorCode::Unsupported,
            "the archive uses compression method " + std::to_string(member->method)
                + "; only stored and deflated members can be read");

    const auto header = piece(path, member->header, 30);
    if (little<std::uint32_t>(header, 0) != localSignature)
        return zipError(ErrorCode::Damaged, "the archive's directory points to a place without a member");
    const std::uint64_t data
        = member->header + 30 + little<std::uint16_t>(header, 26) + little<std::uint16_t>(header, 28);
    auto packed = openFile(path, data, member->packed);
    if (!packed)
        return packed.error();
    return std::unique_ptr<ByteStream>(std::make_unique<ZipStream>(std::move(*packed), *member));
}

} // namespace tidemark
