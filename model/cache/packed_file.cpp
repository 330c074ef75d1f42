// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/cache/packed_file.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tidemark {

namespace {

constexpr std::string_view magic = "TMCACHE1";
/// Values that are packed at once: they stay in the second-level cache between two passes.
constexpr std::size_t chunkValues = 32768;
constexpr std::size_t hashBytes = 16;
/// Level of zstd; higher ones pack little better and take long.
constexpr int level = 1;

ContentHash hex(XXH128_hash_t hash)
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, hash);
    constexpr std::string_view digits = "0123456789abcdef";
    ContentHash out;
    for (const unsigned char byte : canonical.digest) {
        out.push_back(digits[byte >> 4U]);
        out.push_back(digits[byte & 15U]);
    }
    return out;
}

constexpr std::uint64_t zigzag(std::uint64_t difference)
{
    return (difference << 1U) ^ (0 - (difference >> 63U));
}
constexpr std::uint64_t unzigzag(std::uint64_t coded)
{
    return (coded >> 1U) ^ (0 - (coded & 1U));
}

/// How the values of a column became narrow numbers: (value − base) / 2^shift, of differences or of
/// themselves.
struct Coding {
    std::uint64_t count = 0;
    std::uint64_t base = 0;
    std::uint8_t differences = 0;
    std::uint8_t shift = 0;
    std::uint8_t width = 0; ///< bytes: 0, 1, 2, 4, 8
    std::uint8_t reserved = 0;
    std::uint32_t chunks = 0;
};
static_assert(sizeof(Coding) == 24);

std::uint8_t widthOf(std::uint64_t largest)
{
    return largest == 0 ? 0 : largest < 256 ? 1 : largest < 65536 ? 2 : largest >> 32U == 0 ? 4 : 8;
}

struct Extent {
    std::uint64_t least = ~std::uint64_t{0};
    std::uint64_t most = 0;
    std::uint64_t bits = 0; ///< in which the values differ from the first

    std::uint8_t shift() const
    {
        const std::uint64_t all = bits;
        return all == 0 ? 0 : static_cast<std::uint8_t>(std::countr_zero(all));
    }
    std::uint8_t width() const { return most < least ? 0 : widthOf((most - least) >> shift()); }
};

template <typename Narrow>
void narrow(std::span<const std::uint64_t> words, const Coding& c, std::vector<unsigned char>& out)
{
    out.resize(words.size() * sizeof(Narrow));
    auto* to = reinterpret_cast<Narrow*>(out.data());
    for (std::size_t i = 0; i < words.size(); ++i)
        to[i] = static_cast<Narrow>((words[i] - c.base) >> c.shift);
}

template <typename Narrow>
void widen(const std::vector<unsigned char>& in, const Coding& c, std::span<std::uint64_t> words)
{
    const auto* from = reinterpret_cast<const Narrow*>(in.data());
    for (std::size_t i = 0; i < words.size(); ++i)
        words[i] = (std::uint64_t{from[i]} << c.shift) + c.base;
}

} // namespace

ContentHash hashOfFile(const std::filesystem::path& file, const std::function<bool()>& stopped)
{
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return {};
    ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
    constexpr std::size_t piece = 1U << 20;
    const auto buffer = std::make_unique_for_overwrite<unsigned char[]>(piece);
    XXH3_state_t* state = XXH3_createState();
    XXH3_128bits_reset(state);
    ssize_t got = 0;
    bool whole = true;
    while ((got = ::read(descriptor, buffer.get(), piece)) > 0) {
        XXH3_128bits_update(state, buffer.get(), static_cast<std::size_t>(got));
        if (stopped && stopped()) {
            whole = false;
            break;
        }
    }
    const ContentHash hash = whole && got == 0 ? hex(XXH3_128bits_digest(state)) : ContentHash();
    XXH3_freeState(state);
    ::close(descriptor);
    return hash;
}

struct PackedWriter::State {
    XXH3_state_t* hash = XXH3_createState();
    ZSTD_CCtx* packer = ZSTD_createCCtx();
    std::vector<std::uint64_t> words = std::vector<std::uint64_t>(chunkValues);
    std::vector<unsigned char> thin;
    std::vector<unsigned char> packed;
    ~State()
    {
        XXH3_freeState(hash);
        ZSTD_freeCCtx(packer);
    }
};

PackedWriter::PackedWriter(std::filesystem::path target, std::string_view identity)
    : m_target(std::move(target))
    , m_state(std::make_unique<State>())
{
    std::string name = m_target.string() + ".XXXXXX";
    const int descriptor = ::mkstemp(name.data()); // readable by its owner alone
    m_temporary = name;
    m_file = descriptor < 0 ? nullptr : ::fdopen(descriptor, "wb");
    m_good = m_file != nullptr;
    XXH3_128bits_reset(m_state->hash);
    put(magic.data(), magic.size());
    const std::uint64_t length = identity.size();
    put(&length, sizeof length);
    put(identity.data(), identity.size());
}

PackedWriter::~PackedWriter()
{
    if (m_file == nullptr)
        return;
    std::fclose(m_file);
    ::unlink(m_temporary.c_str());
}

void PackedWriter::put(const void* bytes, std::size_t count)
{
    if (!m_good || count == 0)
        return;
    XXH3_128bits_update(m_state->hash, bytes, count);
    m_good = std::fwrite(bytes, 1, count, m_file) == count;
}

void PackedWriter::text(const std::string& text)
{
    value(text.size());
    m_texts += text;
}

void PackedWriter::write(const Words& words)
{
    Extent plain;
    Extent steps;
    std::uint64_t first = 0;
    std::uint64_t firstStep = 0;
    std::uint64_t before = 0;
    std::vector<std::uint64_t>& chunk = m_state->words;
    for (std::size_t from = 0; from < words.count; from += chunkValues) {
        const std::size_t count = std::min(chunkValues, words.count - from);
        words.widen(words.data, from, count, chunk.data());
        if (from == 0)
            first = firstStep = chunk[0];
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t step = zigzag(chunk[i] - before);
            before = chunk[i];
            plain.least = std::min(plain.least, chunk[i]);
            plain.most = std::max(plain.most, chunk[i]);
            plain.bits |= chunk[i] ^ first;
            if (from + i == 0)
                continue;
            firstStep = from + i == 1 ? step : firstStep;
            steps.least = std::min(steps.least, step);
            steps.most = std::max(steps.most, step);
            steps.bits |= step ^ firstStep;
        }
    }
    // The first value has no difference: it goes as one from a start that is kept.
    Coding c;
    c.count = words.count;
    c.differences = words.count > 1 && steps.width() < plain.width() ? 1 : 0;
    const Extent& extent = c.differences != 0 ? steps : plain;
    c.base = words.count > 0 ? extent.least : 0;
    c.shift = extent.shift();
    // Values that share their low bits differ from the least by whole units only.
    c.width = words.count > 0 ? extent.width() : 0;
    const std::size_t skipped = c.differences;
    c.chunks = c.width == 0
        ? 0
        : static_cast<std::uint32_t>((words.count - skipped + chunkValues - 1) / chunkValues);
    put(&c, sizeof c);
    if (c.differences != 0)
        put(&first, sizeof first);
    before = first;
    for (std::size_t from = skipped; c.width > 0 && from < words.count; from += chunkValues) {
        const std::size_t count = std::min(chunkValues, words.count - from);
        words.widen(words.data, from, count, chunk.data());
        if (c.differences != 0)
            for (std::size_t i = 0; i < count; ++i) {
                const std::uint64_t here = chunk[i];
                chunk[i] = zigzag(here - before);
                before = here;
            }
        const std::span<const std::uint64_t> part(chunk.data(), count);
        switch (c.width) {
        case 1:
            narrow<std::uint8_t>(part, c, m_state->thin);
            break;
        case 2:
            narrow<std::uint16_t>(part, c, m_state->thin);
            break;
        case 4:
            narrow<std::uint32_t>(part, c, m_state->thin);
            break;
        default:
            narrow<std::uint64_t>(part, c, m_state->thin);
            break;
        }
        std::vector<unsigned char>& packed = m_state->packed;
        packed.resize(ZSTD_compressBound(m_state->thin.size()));
        const std::size_t size = ZSTD_compressCCtx(
            m_state->packer, packed.data(), packed.size(), m_state->thin.data(), m_state->thin.size(), level);
        if (ZSTD_isError(size) != 0) {
            m_good = false;
            return;
        }
        const auto length = static_cast<std::uint32_t>(size);
        put(&length, sizeof length);
        put(packed.data(), size);
    }
}

bool PackedWriter::close()
{
    // What stands at the end: the single values, the texts, and where they begin.
    const auto end = m_good ? static_cast<std::uint64_t>(std::ftell(m_file)) : 0;
    const std::vector<std::uint64_t> values = std::move(m_values);
    column(values);
    const std::vector<char> letters(m_texts.begin(), m_texts.end());
    const std::vector<std::uint8_t> texts(letters.begin(), letters.end());
    column(texts);
    put(&end, sizeof end);
    XXH128_canonical_t hash;
    XXH128_canonicalFromHash(&hash, XXH3_128bits_digest(m_state->hash));
    if (m_good)
        m_good = std::fwrite(hash.digest, 1, hashBytes, m_file) == hashBytes;
    const bool flushed = m_file != nullptr && std::fflush(m_file) == 0;
    const bool closed = m_file != nullptr && std::fclose(m_file) == 0;
    m_file = nullptr;
    m_good = m_good && flushed && closed && ::rename(m_temporary.c_str(), m_target.c_str()) == 0;
    if (!m_good)
        ::unlink(m_temporary.c_str());
    return m_good;
}

struct PackedReader::State {
    void* map = MAP_FAILED;
    std::size_t size = 0;
    ZSTD_DCtx* unpacker = ZSTD_createDCtx();
    std::vector<std::uint64_t> words = std::vector<std::uint64_t>(chunkValues);
    std::vector<unsigned char> thin = std::vector<unsigned char>(chunkValues * sizeof(std::uint64_t));
    Coding coding;
    ~State()
    {
        ZSTD_freeDCtx(unpacker);
        if (map != MAP_FAILED)
            ::munmap(map, size);
    }
};

PackedReader::PackedReader(
    const std::filesystem::path& file, std::string_view identity, std::uint64_t mostBytes)
    : m_state(std::make_unique<State>())
    , m_budget(mostBytes)
{
    // Read, not mapped: a file that is cut meanwhile would end the program.
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0)
        return;
    struct stat status { };
    const bool plain = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)
        && static_cast<std::uint64_t>(status.st_size) <= mostBytes + (1U << 20);
    const std::size_t size = plain ? static_cast<std::size_t>(status.st_size) : 0;
    const std::size_t head = magic.size() + sizeof(std::uint64_t) + identity.size();
    if (size < head + sizeof(std::uint64_t) + hashBytes) {
        ::close(descriptor);
        return;
    }
    m_state->size = size;
    m_state->map = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::size_t done = 0;
    while (m_state->map != MAP_FAILED && done < size) {
        const ssize_t got = ::read(descriptor, static_cast<unsigned char*>(m_state->map) + done, size - done);
        if (got <= 0)
            break;
        done += static_cast<std::size_t>(got);
    }
    ::close(descriptor);
    if (done < size)
        return;
    const auto* bytes = static_cast<const unsigned char*>(m_state->map);
    XXH128_canonical_t stated;
    std::memcpy(stated.digest, bytes + size - hashBytes, hashBytes);
    if (XXH128_isEqual(XXH3_128bits(bytes, size - hashBytes), XXH128_hashFromCanonical(&stated)) == 0)
        return;
    std::uint64_t length = 0;
    std::memcpy(&length, bytes + magic.size(), sizeof length);
    if (std::memcmp(bytes, magic.data(), magic.size()) != 0 || length != identity.size()
        || std::memcmp(bytes + magic.size() + sizeof length, identity.data(), identity.size()) != 0)
        return;
    std::uint64_t values = 0;
    const std::size_t foot = size - hashBytes - sizeof values;
    std::memcpy(&values, bytes + foot, sizeof values);
    if (values < head || values > foot)
        return;
    m_good = true;
    m_bytes = {bytes + values, foot - values};
    column(m_values);
    std::vector<std::uint8_t> texts;
    column(texts);
    m_texts.assign(texts.begin(), texts.end());
    m_good = m_good && m_bytes.empty();
    m_bytes = {bytes + head, values - head};
}

PackedReader::~PackedReader() = default;

bool PackedReader::take(void* to, std::size_t count)
{
    if (!m_good || m_bytes.size() < count) {
        m_good = false;
        return false;
    }
    std::memcpy(to, m_bytes.data(), count);
    m_bytes = m_bytes.subspan(count);
    return true;
}

std::uint64_t PackedReader::begin(std::size_t width)
{
    Coding& c = m_state->coding;
    if (!take(&c, sizeof c))
        return 0;
    const bool known = c.differences <= 1 && c.shift < 64
        && (c.width == 0 || c.width == 1 || c.width == 2 || c.width == 4 || c.width == 8)
        && (c.differences == 0 || c.count > 0);
    if (!known || c.count > m_budget / width) {
        m_good = false;
        return 0;
    }
    m_budget -= c.count * width;
    return c.count;
}

void PackedReader::read(std::uint64_t count, const Sink& sink)
{
    const Coding c = m_state->coding;
    if (!m_good || count == 0)
        return;
    std::uint64_t before = 0;
    std::size_t from = 0;
    if (c.differences != 0) {
        if (!take(&before, sizeof before))
            return;
        sink(0, {&before, 1});
        from = 1;
    }
    for (; from < count; from += chunkValues) {
        const std::size_t part = std::min<std::size_t>(chunkValues, count - from);
        const std::span<std::uint64_t> words(m_state->words.data(), part);
        if (c.width == 0) {
            std::ranges::fill(words, c.base);
        } else {
            std::uint32_t length = 0;
            if (!take(&length, sizeof length) || m_bytes.size() < length) {
                m_good = false;
                return;
            }
            const std::size_t size = ZSTD_decompressDCtx(
                m_state->unpacker, m_state->thin.data(), part * c.width, m_bytes.data(), length);
            if (ZSTD_isError(size) != 0 || size != part * c.width) {
                m_good = false;
                return;
            }
            m_bytes = m_bytes.subspan(length);
            switch (c.width) {
            case 1:
                widen<std::uint8_t>(m_state->thin, c, words);
                break;
            case 2:
                widen<std::uint16_t>(m_state->thin, c, words);
                break;
            case 4:
                widen<std::uint32_t>(m_state->thin, c, words);
                break;
            default:
                widen<std::uint64_t>(m_state->thin, c, words);
                break;
            }
        }
        if (c.differences != 0)
            for (std::uint64_t& word : words)
                word = before += unzigzag(word);
        sink(from, words);
    }
}

std::uint64_t PackedReader::next()
{
    if (!m_good || m_nextValue >= m_values.size()) {
        m_good = false;
        return 0;
    }
    return m_values[m_nextValue++];
}

void PackedReader::text(std::string& text)
{
    const std::uint64_t length = next();
    if (!m_good || length > m_texts.size() - m_nextText) {
        m_good = false;
        text.clear();
        return;
    }
    text.assign(m_texts, m_nextText, length);
    m_nextText += length;
}

bool PackedReader::atEnd() const
{
    return m_good && m_bytes.empty() && m_nextValue == m_values.size() && m_nextText == m_texts.size();
}

} // namespace tidemark
