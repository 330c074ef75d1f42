// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace tidemark {

/// As people order names: "rank2" before "rank10". A strict order of all texts.
bool naturallyLess(std::string_view a, std::string_view b);

} // namespace tidemark
