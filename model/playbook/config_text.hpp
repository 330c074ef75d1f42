// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/playbook/run_config.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark {

/// What a settings text is written in.
enum class ConfigForm { Empty, Binary, TooLarge, Environment, Arguments, Json, Yaml };

/// The largest text looked at: a log in which the arguments are printed.
inline constexpr std::size_t maxLogBytes = 64U << 20;

/// Told by content; the name decides only whether an empty file is an empty environment.
ConfigForm configForm(std::string_view text, std::string_view fileName);

/// Name and value of every KEY=VALUE line; "export" and "declare -x" in front and quotes around are taken
/// off.
std::vector<std::pair<std::string, std::string>> environmentLines(std::string_view text);

/// Arguments as Megatron-LM prints them, "name ......... value", by dotted key.
std::vector<std::pair<std::string, ConfigValue>> printedArguments(std::string_view text);

/// "a, b", "[a, b]" and "['a', 'b']" as their words.
std::vector<std::string> listOfWords(std::string_view text);

} // namespace tidemark
