// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/json_subset.hpp"

namespace tidemark::test {

std::string missingFrom(const nlohmann::json& actual, const nlohmann::json& expected, const std::string& path)
{
    if (expected.is_object() && actual.is_object()) {
        for (const auto& [key, value] : expected.items()) {
            if (!actual.contains(key))
                return path + "/" + key + ": missing";
            if (std::string found = missingFrom(actual[key], value, path + "/" + key); !found.empty())
                return found;
        }
        return {};
    }
    if (expected.is_array() && actual.is_array() && expected.size() == actual.size()) {
        for (std::size_t i = 0; i < expected.size(); ++i)
            if (std::string found = missingFrom(actual[i], expected[i], path + "/" + std::to_string(i));
                !found.empty())
                return found;
        return {};
    }
    return actual == expected ? std::string() : path + ": want " + expected.dump() + ", got " + actual.dump();
}

} // namespace tidemark::test
