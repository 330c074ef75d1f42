// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/playbook/run_config.hpp"
#include "model/simulate/allocator_settings.hpp"

#include <string>

namespace tidemark {

/// Why expandable segments may not be switched on here; empty when nothing is known against it.
std::string expandableBarred(const RunConfig& config);
/// Why a run may not use these allocator settings; empty when nothing is known against them.
std::string settingBarred(const RunConfig& config, const AllocatorSettings& settings);

} // namespace tidemark
