// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark {

/// The parts of PYTORCH_CUDA_ALLOC_CONF, "a:True,b:[256:1,512:2]", in order. Commas inside brackets do not
/// separate; blanks do not count.
std::vector<std::pair<std::string, std::string>> allocatorOptions(std::string_view conf);
/// The last value given to an option; absent when the text does not mention it.
std::optional<std::string> allocatorOption(std::string_view conf, std::string_view name);
/// Whether the text turns expandable segments on (PyTorch takes the words True and False only).
bool turnsOnExpandableSegments(std::string_view conf);

} // namespace tidemark
