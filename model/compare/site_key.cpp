// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/site_key.hpp"

#include <algorithm>
#include <charconv>

namespace tidemark::compare {

namespace {

constexpr std::string_view frameSeparator = " ← ";

bool isSlash(char c)
{
    return c == '/' || c == '\\';
}

} // namespace

SiteKey siteKey(std::string_view name)
{
    SiteKey key;
    for (bool innermost = true; !name.empty(); innermost = false) {
        const std::size_t end = std::min(name.find(frameSeparator), name.size());
        std::string_view frame = name.substr(0, end);
        name.remove_prefix(std::min(end + frameSeparator.size(), name.size()));
        const std::size_t at = frame.rfind('@');
        const std::size_t colon = frame.rfind(':');
        if (at != std::string_view::npos && colon != std::string_view::npos && colon > at) {
            std::uint32_t line = 0;
            const char* last = frame.data() + frame.size();
            if (std::from_chars(frame.data() + colon + 1, last, line).ptr == last
                && colon + 1 < frame.size()) {
                key.lines.push_back(line);
                frame = frame.substr(0, colon);
            }
        }
        if (innermost && at != std::string_view::npos)
            key.function = frame.substr(0, at);
        key.place.append(innermost ? "" : frameSeparator).append(frame);
    }
    return key;
}

std::size_t commonTail(std::string_view a, std::string_view b)
{
    std::size_t components = 0;
    std::size_t i = a.size();
    std::size_t j = b.size();
    while (i > 0 && j > 0) {
        const bool slashA = isSlash(a[i - 1]);
        if (slashA != isSlash(b[j - 1]) || (!slashA && a[i - 1] != b[j - 1]))
            return components;
        --i;
        --j;
        if (slashA || (i == 0 && j == 0))
            ++components;
    }
    // One path is the end of the other, or both are the same.
    if ((i == 0) != (j == 0) && isSlash(i == 0 ? b[j - 1] : a[i - 1]))
        ++components;
    return components;
}

std::uint64_t lineDistance(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b)
{
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        sum += a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
    return sum;
}

} // namespace tidemark::compare
