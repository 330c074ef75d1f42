// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/diagnosis.hpp"

#include <string>

namespace tidemark {

/// "Nothing found by 3 rules; 28 could not decide for lack of a history of events (25), call stacks (3)."
std::string nothingFoundLine(const Diagnosis& diagnosis);

/// One line that says it all: the gravest finding, or that there is none; where most rules could not decide,
/// that they could not and what they lack.
std::string verdictLine(const Diagnosis& diagnosis);

} // namespace tidemark
