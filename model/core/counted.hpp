// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace tidemark {

/// "1 block", "24 blocks", "1 block is", "24 blocks are": the number with the words that agree with it.
std::string counted(std::uint64_t count, const char* one, const char* many);

} // namespace tidemark
