// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/allocator_conf.hpp"

#include <algorithm>

namespace tidemark {

std::vector<std::pair<std::string, std::string>> allocatorOptions(std::string_view conf)
{
    std::vector<std::pair<std::string, std::string>> options;
    std::string item;
    int depth = 0;
    const auto close = [&] {
        if (!item.empty()) {
            const auto colon = item.find(':');
            options.emplace_back(
                item.substr(0, colon), colon == std::string::npos ? std::string() : item.substr(colon + 1));
        }
        item.clear();
    };
    for (const char c : conf) {
        if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
            continue;
        if (c == ',' && depth == 0) {
            close();
            continue;
        }
        if (c == '[')
            ++depth;
        else if (c == ']' && depth > 0)
            --depth;
        item += c;
    }
    close();
    return options;
}

std::optional<std::string> allocatorOption(std::string_view conf, std::string_view name)
{
    const auto options = allocatorOptions(conf);
    const auto it = std::find_if(
        options.rbegin(), options.rend(), [name](const auto& option) { return option.first == name; });
    return it == options.rend() ? std::nullopt : std::optional(it->second);
}

bool turnsOnExpandableSegments(std::string_view conf)
{
    return allocatorOption(conf, "expandable_segments") == "True";
}

} // namespace tidemark
