// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/text.hpp"
#include "model/report/session_file.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>

namespace tidemark::report {

namespace {

constexpr std::uint64_t endBytes = 1U << 20;
constexpr std::uint64_t blockBytes = 64U << 10;
constexpr std::uint64_t blocks = 64;

/// Two 64-bit lanes of multiply and rotate, eight bytes at a time, little end first on every machine.
class Lanes {
public:
    void add(std::string_view bytes)
    {
        std::size_t at = 0;
        for (; at + 8 <= bytes.size(); at += 8)
            word(load(bytes.substr(at, 8)));
        if (at < bytes.size())
            word(load(bytes.substr(at)) ^ (std::uint64_t{bytes.size() - at} << 56U));
    }

    std::string hex() const
    {
        constexpr std::string_view digits = "0123456789abcdef";
        std::string out;
        for (const std::uint64_t lane : {finished(m_a), finished(m_b)})
            for (int shift = 60; shift >= 0; shift -= 4)
                out.push_back(digits[(lane >> shift) & 0xFU]);
        return out;
    }

private:
    static std::uint64_t load(std::string_view bytes)
    {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < bytes.size(); ++i)
            value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
        return value;
    }
    void word(std::uint64_t value)
    {
        m_a = std::rotl((m_a ^ value) * 0x9E3779B97F4A7C15ULL, 29);
        m_b = std::rotl(m_b + value * 0xC2B2AE3D27D4EB4FULL, 31) * 0x165667B19E3779F9ULL;
    }
    static std::uint64_t finished(std::uint64_t lane)
    {
        lane = (lane ^ (lane >> 33U)) * 0xFF51AFD7ED558CCDULL;
        lane = (lane ^ (lane >> 33U)) * 0xC4CEB9FE1A85EC53ULL;
        return lane ^ (lane >> 33U);
    }

    std::uint64_t m_a = 0x243F6A8885A308D3ULL;
    std::uint64_t m_b = 0x13198A2E03707344ULL;
};

} // namespace

Result<std::string> contentHash(const std::filesystem::path& file)
{
    const auto refused = [&](const char* why) {
        return Error{ErrorCode::Io, displayText(file.string()) + why, std::nullopt};
    };
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error))
        return refused(" is no file that can be read.");
    std::ifstream in(file, std::ios::binary);
    in.seekg(0, std::ios::end);
    const std::streamoff end = in.tellg();
    if (!in || end < 0)
        return refused(" cannot be read.");
    const auto size = static_cast<std::uint64_t>(end);
    Lanes lanes;
    std::string buffer;
    const auto add = [&](std::uint64_t from, std::uint64_t bytes) {
        buffer.resize(bytes);
        in.seekg(static_cast<std::streamoff>(from));
        in.read(buffer.data(), static_cast<std::streamsize>(bytes));
        lanes.add(std::string_view(buffer).substr(0, static_cast<std::size_t>(in.gcount())));
        return in.gcount() == static_cast<std::streamsize>(bytes);
    };
    bool whole = true;
    if (size <= 2 * endBytes + blocks * blockBytes) {
        for (std::uint64_t from = 0; whole && from < size; from += endBytes)
            whole = add(from, std::min(endBytes, size - from));
    } else {
        whole = add(0, endBytes) && add(size - endBytes, endBytes);
        const std::uint64_t middle = size - 2 * endBytes - blockBytes;
        for (std::uint64_t i = 0; whole && i < blocks; ++i)
            whole = add(endBytes + middle / (blocks - 1) * i, blockBytes);
    }
    if (!whole)
        return refused(" cannot be read to its end.");
    return "fast1-" + std::to_string(size) + '-' + lanes.hex();
}

} // namespace tidemark::report
