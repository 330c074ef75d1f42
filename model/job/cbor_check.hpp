// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string_view>

namespace tidemark {

/// Whether bytes are one whole CBOR item of what digests use: integers, floats, strings of definite length,
/// arrays, maps, and true, false, null. Bounds nesting and the number of items before anything is built.
/// Cost: one pass, no memory but for the nesting.
bool isPlainCbor(std::string_view bytes, std::size_t maxDepth, std::size_t maxItems);

} // namespace tidemark
