// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/parse.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace tidemark {

namespace {

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

/// A comma with a digit before it and three, and no more, behind it.
bool isThousands(std::string_view text, std::size_t comma)
{
    std::size_t digits = 0;
    while (comma + 1 + digits < text.size() && isDigit(text[comma + 1 + digits]))
        ++digits;
    return comma > 0 && isDigit(text[comma - 1]) && digits == 3;
}

/// Lower case, without ASCII and no-break spaces and thousands commas. Other commas stay, and nothing takes
/// them: "80,5" may be meant as 80.5, and is not 805.
std::string squeezed(std::string_view text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == ' ' || c == '\t' || c == '_' || (c == ',' && isThousands(text, i)))
            continue;
        if (c == '\xC2' && i + 1 < text.size() && text[i + 1] == '\xA0') {
            ++i;
            continue;
        }
        out.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    }
    return out;
}

/// The number `text` starts with; what follows it is left in `rest`.
std::optional<double> leadingNumber(std::string_view text, std::string_view& rest)
{
    // Digits and one point only: from_chars alone would also take "inf", "nan" and exponents.
    std::size_t length = 0;
    while (length < text.size() && ((text[length] >= '0' && text[length] <= '9') || text[length] == '.'))
        ++length;
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + length, value);
    if (error != std::errc() || end != text.data() + length)
        return std::nullopt;
    rest = text.substr(length);
    return value;
}

template <typename Value, std::size_t N>
std::optional<Value> unitOf(
    const std::array<std::pair<std::string_view, Value>, N>& table, std::string_view unit)
{
    for (const auto& [name, value] : table)
        if (name == unit)
            return value;
    return std::nullopt;
}

} // namespace

std::optional<std::uint64_t> parseCount(std::string_view text)
{
    const std::string digits = squeezed(text);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
        return std::nullopt;
    return value;
}

std::optional<std::uint64_t> parseBytes(std::string_view text)
{
    using Unit = std::pair<std::string_view, std::uint64_t>;
    static constexpr std::array units{Unit{"", 1}, Unit{"b", 1}, Unit{"k", 1ULL << 10},
        Unit{"kb", 1ULL << 10}, Unit{"kib", 1ULL << 10}, Unit{"m", 1ULL << 20}, Unit{"mb", 1ULL << 20},
        Unit{"mib", 1ULL << 20}, Unit{"g", 1ULL << 30}, Unit{"gb", 1ULL << 30}, Unit{"gib", 1ULL << 30},
        Unit{"t", 1ULL << 40}, Unit{"tb", 1ULL << 40}, Unit{"tib", 1ULL << 40}};
    if (const auto exact = parseCount(text))
        return exact;
    const std::string clean = squeezed(text);
    std::string_view rest;
    const auto number = leadingNumber(clean, rest);
    const auto unit = number ? unitOf(units, rest) : std::nullopt;
    if (!unit)
        return std::nullopt;
    const double bytes = std::round(*number * static_cast<double>(*unit));
    if (!(bytes < 9.2e18))
        return std::nullopt;
    return static_cast<std::uint64_t>(bytes);
}

std::optional<std::uint64_t> parseAddress(std::string_view text)
{
    const std::string clean = squeezed(text);
    if (clean.size() < 3 || clean.compare(0, 2, "0x") != 0)
        return std::nullopt;
    std::uint64_t value = 0;
    const char* last = clean.data() + clean.size();
    const auto [end, error] = std::from_chars(clean.data() + 2, last, value, 16);
    if (error != std::errc() || end != last)
        return std::nullopt;
    return value;
}

std::optional<std::int64_t> parseDuration(std::string_view text)
{
    using Unit = std::pair<std::string_view, double>;
    static constexpr std::array units{Unit{"us", 1}, Unit{"µs", 1}, Unit{"ms", 1e3}, Unit{"s", 1e6},
        Unit{"sec", 1e6}, Unit{"min", 6e7}, Unit{"h", 3.6e9}};
    std::string clean = squeezed(text);
    bool negative = false;
    if (!clean.empty() && (clean.front() == '+' || clean.front() == '-')) {
        negative = clean.front() == '-';
        clean.erase(0, 1);
    }
    std::string_view rest;
    const auto number = leadingNumber(clean, rest);
    const auto unit = number ? unitOf(units, rest) : std::nullopt;
    if (!unit)
        return std::nullopt;
    const double us = std::round(*number * *unit);
    if (!(us < 9.2e18))
        return std::nullopt;
    return negative ? -static_cast<std::int64_t>(us) : static_cast<std::int64_t>(us);
}

} // namespace tidemark
