// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace tidemark {

/// Text of resources/playbook.json, part of the program.
std::string_view embeddedPlaybook();
/// Text of resources/labels.json.
std::string_view embeddedLabelRules();

} // namespace tidemark
