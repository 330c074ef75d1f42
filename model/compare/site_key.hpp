// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::compare {

/// A group's name taken apart: "before recording → f@m.py:7" has place "before recording → f@m.py", function
/// "before recording → f", line 7. A stack keeps the lines of all its frames.
struct SiteKey {
    std::string place; ///< the name without lines
    std::string function; ///< the part before the file of the innermost frame; empty when there is no file
    std::vector<std::uint32_t> lines;
};
SiteKey siteKey(std::string_view name);

/// How many last components two paths share.
std::size_t commonTail(std::string_view a, std::string_view b);

/// Σ of the distances of the lines, as far as both have one.
std::uint64_t lineDistance(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b);

} // namespace tidemark::compare
