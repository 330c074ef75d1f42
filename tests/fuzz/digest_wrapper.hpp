// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace tidemark::fuzz {

/// A digest file whose outside is right and whose tree is these bytes, so that a fuzzer gets past the
/// packing.
std::string wrappedDigest(std::string_view cbor);
/// The bytes inside of a digest file; empty when it is none.
std::string unwrappedDigest(std::string_view digest);

} // namespace tidemark::fuzz
