// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/oom.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace tidemark::report {

/// Why memory ran out, as it follows "… ran out of memory". `scope`: why nothing was flushed, where that is
/// known.
std::string failureText(Verdict verdict, std::optional<std::int64_t> slack, bool thinMargin,
    std::optional<OomScope> scope = std::nullopt);

} // namespace tidemark::report
