// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/expectation.hpp"
#include "model/findings/finding.hpp"
#include "model/findings/oom.hpp"
#include "model/lens/labels.hpp"
#include "model/lens/phases.hpp"
#include "model/playbook/config_checks.hpp"
#include "model/playbook/run_config.hpp"
#include "model/run/rank.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// What is known beside the file.
struct DiagnosisOptions {
    RunConfig config;
    std::optional<std::uint64_t> deviceTotal;
    std::optional<int> rank;
    std::shared_ptr<const LabelRules> rules; ///< null: the standard ones
};

/// Labels, phases and out-of-memory events of one device.
struct DeviceDiagnosis {
    std::shared_ptr<const Phases> phases;
    std::shared_ptr<const Labels> labels;
    std::vector<OomAutopsy> ooms;
};

/// Everything found in one file. Immutable, shared between threads.
struct Diagnosis {
    std::shared_ptr<const Rank> rank;
    std::vector<DeviceDiagnosis> devices; ///< as rank->devices
    std::vector<Finding> findings; ///< by severity, then bytes
    std::vector<Undecided> undecided;
    std::vector<std::string> clear; ///< ids of rules that ran and found nothing
    std::vector<ConfigCheck> checks;
    RunConfig config; ///< with what the snapshot says
    /// Of the GPU whose peak is highest; absent when settings do not say enough.
    std::optional<Expectation> expectation;

    /// {"findings", "data_quality", "config"} as help/command-line.md says, on one line. `file` is put in
    /// front when it is not empty.
    std::string json(std::string_view file = {}) const;
};

/// The same object for configuration checks without a snapshot.
std::string configJson(const std::vector<ConfigCheck>& checks);

/// Out-of-memory events that are taken apart, the first ones and the last; programs may catch thousands.
inline constexpr std::size_t maxAutopsies = 64;

/// Runs all rules on all devices. Cost: ≤ 1.5 s for 10⁶ events; where a finding asks what expandable segments
/// or another order would have done, addWhatIfs comes on top. Reports Stage::Findings. Null when stopped.
std::shared_ptr<const Diagnosis> diagnose(
    std::shared_ptr<const Rank> rank, const DiagnosisOptions& options, const Job& job);

/// Rank number in a snapshot's file name ("snapshot_oom_rank-3.pickle", "rank0_memory_snapshot.pickle").
std::optional<int> rankFromName(std::string_view fileName);

} // namespace tidemark
