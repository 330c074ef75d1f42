// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/label_rules.hpp"

#include <filesystem>

namespace tidemark {

/// Regular expressions for the engine: Perl's syntax, whatever the case. Any thread.
Result<TextPredicate> makeRegex(const std::string& pattern);

/// The built-in label rules with those of a JSON or YAML file in front (help/labels.md). Errors name the file
/// and the rule.
Result<std::shared_ptr<const LabelRules>> readLabelRules(const std::filesystem::path& path);

} // namespace tidemark
