// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace tidemark {

namespace {

constexpr const char* minus = "\u2212";
constexpr const char* space = "\u00a0";

std::uint64_t magnitude(std::int64_t value)
{
    return value < 0 ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
}

std::string grouped(std::uint64_t value)
{
    std::string digits = std::to_string(value);
    for (std::size_t at = digits.size(); at > 3; at -= 3)
        digits.insert(at - 3, 1, ',');
    return digits;
}

/// value / unit with `decimals` digits, rounded half up in integers so that equal bytes always read equal.
std::string scaled(std::uint64_t value, std::uint64_t unit, int decimals)
{
    const std::uint64_t scale = decimals == 2 ? 100 : decimals == 1 ? 10 : 1;
    const std::uint64_t whole = value / unit;
    const std::uint64_t rest = value % unit;
    // Up to 2^60 × 100 overflows 64 bits: halve both until it fits.
    std::uint64_t r = rest;
    std::uint64_t u = unit;
    while (r > (1ULL << 56)) {
        r >>= 1;
        u >>= 1;
    }
    std::uint64_t part = (r * scale + u / 2) / u;
    std::uint64_t integer = whole;
    if (part >= scale) {
        integer += 1;
        part -= scale;
    }
    std::string text = grouped(integer);
    if (decimals > 0) {
        std::string fraction = std::to_string(part);
        fraction.insert(0, static_cast<std::size_t>(decimals) - fraction.size(), '0');
        text += "." + fraction;
    }
    return text;
}

std::string unsignedBytes(std::uint64_t bytes)
{
    constexpr std::uint64_t kib = 1024;
    constexpr std::uint64_t mib = kib * 1024;
    constexpr std::uint64_t gib = mib * 1024;
    constexpr std::uint64_t tib = gib * 1024;
    constexpr std::uint64_t pib = tib * 1024;
    // A value that would round up to 1024 of its unit is shown in the next one.
    if (bytes < kib)
        return grouped(bytes) + space + "B";
    if (bytes + kib / 2 < mib)
        return scaled(bytes, kib, 0) + space + "KiB";
    if (bytes + mib / 20 < 100 * mib)
        return scaled(bytes, mib, 1) + space + "MiB";
    if (bytes + mib / 2 < gib)
        return scaled(bytes, mib, 0) + space + "MiB";
    if (bytes + gib / 200 < tib)
        return scaled(bytes, gib, 2) + space + "GiB";
    if (bytes + tib / 200 < pib)
        return scaled(bytes, tib, 2) + space + "TiB";
    return scaled(bytes, pib, 2) + space + "PiB";
}

std::string fixed(double value, int decimals)
{
    std::array<char, 64> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, value);
    return buffer.data();
}

std::string unsignedDuration(std::uint64_t us)
{
    if (us < 1000)
        return std::to_string(us) + space + "µs";
    const double value = static_cast<double>(us);
    if (us < 999950)
        return fixed(value / 1e3, 1) + space + "ms";
    if (us < 59995000)
        return fixed(value / 1e6, 2) + space + "s";
    std::uint64_t seconds = (us + 500000) / 1000000;
    std::array<char, 64> buffer{};
    if (seconds < 3600) {
        std::snprintf(buffer.data(), buffer.size(), "%u%smin %02u%ss", static_cast<unsigned>(seconds / 60),
            space, static_cast<unsigned>(seconds % 60), space);
        return buffer.data();
    }
    const std::uint64_t minutes = (seconds + 30) / 60;
    return grouped(minutes / 60) + space + "h " + (minutes % 60 < 10 ? "0" : "")
        + std::to_string(minutes % 60) + space + "min";
}

} // namespace

std::string formatBytes(std::int64_t bytes)
{
    return (bytes < 0 ? minus : "") + unsignedBytes(magnitude(bytes));
}

std::string formatBytesDelta(std::int64_t bytes)
{
    return (bytes > 0 ? "+" : "") + formatBytes(bytes);
}

std::string formatExactBytes(std::int64_t bytes)
{
    return formatCount(bytes) + space + "B";
}

std::string formatCount(std::int64_t count)
{
    return (count < 0 ? minus : "") + grouped(magnitude(count));
}

std::string formatUnsigned(std::uint64_t count)
{
    return grouped(count);
}

std::string formatPercent(double fraction)
{
    if (!std::isfinite(fraction))
        return "\u2013";
    const std::string digits = fixed(std::abs(fraction) * 100, 1);
    return (fraction < 0 && digits != "0.0" ? minus : "") + digits + space + "%";
}

std::string formatDuration(std::int64_t us)
{
    return (us < 0 ? minus : "") + unsignedDuration(magnitude(us));
}

std::string formatOffset(std::int64_t us)
{
    return (us < 0 ? minus : "+") + unsignedDuration(magnitude(us));
}

std::string formatUtc(std::int64_t unixUs)
{
    constexpr std::int64_t usPerDay = 86400LL * 1000000LL;
    std::int64_t days = unixUs / usPerDay;
    std::int64_t rest = unixUs % usPerDay;
    if (rest < 0) {
        rest += usPerDay;
        days -= 1;
    }
    // Proleptic Gregorian date from a day number, counted in 400-year eras that begin on 1 March.
    const std::int64_t shifted = days + 719468;
    const std::int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    const std::int64_t dayOfEra = shifted - era * 146097;
    const std::int64_t yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146096) / 365;
    const std::int64_t dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
    const std::int64_t marchMonth = (5 * dayOfYear + 2) / 153;
    const std::int64_t day = dayOfYear - (153 * marchMonth + 2) / 5 + 1;
    const std::int64_t month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
    const std::int64_t year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
    const std::int64_t second = rest / 1000000;
    std::array<char, 96> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%04lld-%02lld-%02lld %02lld:%02lld:%02lld.%06lld%sUTC",
        static_cast<long long>(year), static_cast<long long>(month), static_cast<long long>(day),
        static_cast<long long>(second / 3600), static_cast<long long>(second / 60 % 60),
        static_cast<long long>(second % 60), static_cast<long long>(rest % 1000000), space);
    return buffer.data();
}

std::string formatAddress(std::uint64_t address)
{
    std::array<char, 32> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "0x%llx", static_cast<unsigned long long>(address));
    return buffer.data();
}

} // namespace tidemark
