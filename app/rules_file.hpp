// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/label_rules.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace tidemark {

/// Regular expressions for the engine: Perl's syntax, whatever the case. A match that takes too many steps is
/// none, and an expression with many of these matches nothing any more. Any thread.
Result<TextPredicate> makeRegex(const std::string& pattern);

/// Sentences about expressions of rule files that took too long on a frame since the last call. Any thread.
std::vector<std::string> takeSlowExpressions();

/// The built-in label rules with those of a JSON or YAML file in front (help/labels.md). Errors name the file
/// and the rule.
Result<std::shared_ptr<const LabelRules>> readLabelRules(const std::filesystem::path& path);

} // namespace tidemark
