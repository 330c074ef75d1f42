// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/diagnosis.hpp"
#include "tests/support/finding_checks.hpp"

#include <vector>

namespace tidemark::test {

/// What must hold in every diagnosis, whatever the file: labels and roles cover the peak exactly; a finding
/// covers what it counts, and its bytes are those of what it covers where help/findings.md says so; fixes,
/// alone and all together, come out as recomputed state by state from the edited lifetimes.
std::vector<Difference> propertyDifferences(const Diagnosis& diagnosis);

} // namespace tidemark::test
