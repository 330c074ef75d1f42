// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace tidemark {

/// Addition that wraps instead of being undefined: a file may claim any two sizes of up to 2^63 − 1 bytes,
/// each of which is noted as absurd where it is read.
constexpr std::int64_t wrappingAdd(std::int64_t a, std::int64_t b) noexcept
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
constexpr std::int64_t wrappingSubtract(std::int64_t a, std::int64_t b) noexcept
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

/// A running total of sizes from a file.
class ByteSum {
public:
    constexpr ByteSum(std::int64_t value = 0) noexcept // NOLINT: a number
        : m_value(value)
    { }
    constexpr operator std::int64_t() const noexcept { return m_value; } // NOLINT
    constexpr ByteSum& operator+=(std::int64_t bytes) noexcept
    {
        m_value = wrappingAdd(m_value, bytes);
        return *this;
    }
    constexpr ByteSum& operator-=(std::int64_t bytes) noexcept
    {
        m_value = wrappingSubtract(m_value, bytes);
        return *this;
    }

private:
    std::int64_t m_value;
};

} // namespace tidemark
