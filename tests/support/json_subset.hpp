// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace tidemark::test {

/// Where `actual` lacks or contradicts something of `expected`, as "/path: want … got …"; empty when every
/// key and value of `expected` is there. Further keys are allowed, list lengths must agree.
std::string missingFrom(
    const nlohmann::json& actual, const nlohmann::json& expected, const std::string& path = "");

} // namespace tidemark::test
