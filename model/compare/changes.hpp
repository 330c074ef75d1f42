// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/matching.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::compare {

/// A finding of one or both sides, of the compared devices. Findings are the same by rule and site (line
/// drift tolerated), those without a site by rule and order.
struct FindingChange {
    std::string rule;
    std::string title; ///< B's, else A's
    Severity severity{};
    std::optional<std::size_t> inA; ///< position in the side's Diagnosis::findings
    std::optional<std::size_t> inB;
    std::uint64_t bytesA = 0;
    std::uint64_t bytesB = 0;
    std::uint64_t countA = 0;
    std::uint64_t countB = 0;
    std::int64_t delta() const
    {
        return static_cast<std::int64_t>(bytesB) - static_cast<std::int64_t>(bytesA);
    }
};

/// New ones first, then gone ones, then those of both; each by |delta|. Empty without diagnoses.
std::vector<FindingChange> findingChanges(const Side& a, const Side& b, const Matching& sites);

/// One setting. A side without a value does not say anything of it.
struct SettingChange {
    std::string key; ///< "allocator.expandable_segments"
    std::optional<std::string> a;
    std::optional<std::string> b;
    bool differs() const { return a != b; }
};

/// Settings of both: allocator settings of the files, run configurations, environment, versions.
struct SettingChanges {
    std::vector<SettingChange> differing; ///< allocator settings first, then by key
    std::vector<SettingChange> equal;
    std::vector<std::string> notes; ///< "A has no run configuration: …"
};
SettingChanges settingChanges(const Side& a, const Side& b);

} // namespace tidemark::compare
