// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// Where the value of a Megatron-LM argument belongs among dotted keys: one key for most, two for a switch
/// that Megatron Bridge keeps in two sections. Dashes count as underscores; arguments not known by name
/// belong to the model.
std::vector<std::string> dottedKeys(std::string_view argument);

/// First parts of dotted keys ("model", "train", …): a file that has none of them is a flat list of
/// arguments.
bool isConfigSection(std::string_view name);

} // namespace tidemark
