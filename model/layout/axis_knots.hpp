// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/ids.hpp"
#include "model/lens/phases.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tidemark {

/// An x axis that bends the row of states: linear in them between knots. State s covers [s, s + 1) as on the
/// event axis, and the axis begins at 0. Immutable, shared.
struct AxisKnots {
    struct Knot {
        double state = 0;
        double x = 0;
    };
    /// At least two; neither figure ever falls; the first x is 0. Where x goes on and the state stays, the
    /// trace stands still.
    std::vector<Knot> knots;
    /// Named places; without any, steps are named.
    struct Tick {
        double x = 0;
        std::string name;
    };
    std::vector<Tick> ticks;

    double extent() const { return knots.back().x; }
    /// Cost: O(log knots). Outside the knots their first and last pieces go on.
    double xOf(double state) const;
    double stateOf(double x) const;
};

/// Every step is 1 wide; what lies before, between and after them is as wide as its share of an average
/// step's events, at most 1. Null without steps.
std::shared_ptr<const AxisKnots> stepAxis(const Phases& phases, StateIndex states);
/// Where step `i` begins on that axis, and where it ends.
double stepBegin(const AxisKnots& axis, const Phases& phases, std::size_t step);
double stepEnd(const AxisKnots& axis, const Phases& phases, std::size_t step);

} // namespace tidemark
