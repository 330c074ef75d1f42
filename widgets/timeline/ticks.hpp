// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/layout/axis_knots.hpp"

#include <QString>

#include <cstdint>
#include <vector>

namespace tidemark {

struct AxisTick {
    double value = 0; ///< in the axis' coordinate
    QString text;
};

/// Ticks of bytes from `bottom` to `top`: steps are powers of two, numbers share one unit, which only the
/// topmost tick names ("24 GiB", "20", "16" …). `most` ticks at most.
std::vector<AxisTick> byteTicks(double bottom, double top, int most);

/// Ticks at event numbers (1, 2 or 5 × 10ⁿ apart) of an axis whose state s covers [s, s + 1): the tick of
/// event e stands in the middle of the state after it. `firstNumber` is the number of the first event.
std::vector<AxisTick> eventTicks(
    double left, double right, std::uint32_t states, std::int64_t firstNumber, int most);

/// Ticks where steps begin, and at parts of a step where one fills the window: "3", "3.25". Numbers are those
/// of the steps' names where they end in one.
std::vector<AxisTick> stepTicks(
    const AxisKnots& axis, const Phases& phases, double left, double right, int most);

/// The axis' own named places, as many as have room.
std::vector<AxisTick> namedTicks(const AxisKnots& axis, double left, double right, int most);

/// Ticks of microseconds since the first event: "+20 ms"; minutes and hours get steps of their own.
std::vector<AxisTick> timeTicks(double left, double right, int most);

} // namespace tidemark
