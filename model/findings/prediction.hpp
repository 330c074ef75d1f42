// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/diagnosis.hpp"
#include "model/findings/edits.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tidemark {

/// What some fixes together would do to one device's timeline.
struct Prediction {
    EditedCurve curve;
    std::string owner; ///< what would make the new peak
    std::vector<std::string> fixes; ///< their texts
};

/// A fix that can be tried: its place in a diagnosis.
struct FixPlace {
    std::size_t finding = 0;
    std::size_t fix = 0;
    bool operator==(const FixPlace&) const = default;
};

/// Applies the edits of the fixes together; those without edits are left out. Null when stopped or when none
/// has any. Cost as applyEdits. Any thread.
std::shared_ptr<const Prediction> predict(
    const Diagnosis& diagnosis, std::size_t deviceIndex, std::span<const FixPlace> fixes, const Job& job);

} // namespace tidemark
