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
/// The version that these settings need, where it is not known whether the run has it: "PyTorch 2.10"; empty
/// when any will do, or when the recorded run used the same keys.
std::string settingNeeds(
    const RunConfig& config, const AllocatorSettings& settings, const AllocatorSettings& recorded);

} // namespace tidemark
