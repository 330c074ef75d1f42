// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/result.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace tidemark {

/// Answers whether a text matches; made by the caller for regular expressions, because the engine has none
/// of its own that are safe on hostile patterns and 75 kB symbols.
using TextPredicate = std::function<bool(std::string_view)>;
using RegexFactory = std::function<Result<TextPredicate>(const std::string& pattern)>;

} // namespace tidemark
