// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

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

/// Ticks of microseconds since the first event: "+20 ms"; minutes and hours get steps of their own.
std::vector<AxisTick> timeTicks(double left, double right, int most);

} // namespace tidemark
