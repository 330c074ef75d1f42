// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/quality.hpp"
#include "model/findings/finding.hpp"

#include <nlohmann/json.hpp>

namespace tidemark {

/// The objects of `diagnose --json` (help/command-line.md). Texts are made safe to show.
nlohmann::ordered_json findingJson(const Finding& finding);
nlohmann::ordered_json noteJson(const QualityNote& note);
nlohmann::ordered_json undecidedJson(const std::vector<Undecided>& undecided);
/// On one line; bad UTF-8 is replaced.
std::string dumpedJson(const nlohmann::ordered_json& json);

} // namespace tidemark
