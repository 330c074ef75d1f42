// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/timeline/ticks.hpp"

#include "widgets/style/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

namespace tidemark {

namespace {

const QString nbsp = QStringLiteral("\u00a0");

// 1, 2 or 5 × 10ⁿ, at least `least`.
double niceStep(double least)
{
    const double power = std::pow(10, std::floor(std::log10(std::max(least, 1e-9))));
    for (const double k : {1.0, 2.0, 5.0})
        if (k * power >= least * (1 - 1e-9))
            return k * power;
    return 10 * power;
}

// A number with thousands separated and a fixed count of decimals.
QString plainNumber(double value, int decimals)
{
    QString digits = QString::number(std::abs(value), 'f', decimals);
    const qsizetype point = digits.indexOf(QLatin1Char('.'));
    for (qsizetype at = (point < 0 ? digits.size() : point) - 3; at > 0; at -= 3)
        digits.insert(at, QLatin1Char(','));
    return value < 0 ? QStringLiteral("\u2212") + digits : digits;
}

int decimalsFor(double step)
{
    int decimals = 0;
    while (decimals < 6 && std::abs(step - std::round(step)) > 1e-6 * std::max(1.0, step)) {
        step *= 10;
        ++decimals;
    }
    return decimals;
}

struct Unit {
    double size;
    const char* name;
};

/// The number a step's name ends in.
std::optional<std::size_t> stepNumber(const std::string& name)
{
    const std::size_t from = name.find_last_not_of("0123456789") + 1;
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(name.data() + from, name.data() + name.size(), number);
    if (from == name.size() || error != std::errc{})
        return std::nullopt;
    return number;
}

} // namespace

std::vector<AxisTick> byteTicks(double bottom, double top, int most)
{
    std::vector<AxisTick> ticks;
    const double span = top - bottom;
    if (!(span > 0) || most < 1)
        return ticks;
    const double step = std::max(1.0, std::exp2(std::ceil(std::log2(span / most))));
    constexpr std::array<Unit, 5> units{
        Unit{1.0 * (1ULL << 40), "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}};
    // The largest unit in which the topmost tick is at least 1 and the step is no long fraction.
    const double last = std::floor(top / step) * step;
    const Unit* unit = &units.back();
    for (const Unit& u : units)
        if (last >= u.size && step * 2 >= u.size) {
            unit = &u;
            break;
        }
    const int decimals = decimalsFor(step / unit->size);
    for (double v = std::ceil(bottom / step) * step; v <= top; v += step)
        ticks.push_back({v, plainNumber(v / unit->size, v == 0 ? 0 : decimals)});
    if (!ticks.empty())
        ticks.back().text += nbsp + QLatin1String(unit->name);
    return ticks;
}

std::vector<AxisTick> eventTicks(
    double left, double right, std::uint32_t states, std::int64_t firstNumber, int most)
{
    std::vector<AxisTick> ticks;
    if (!(right > left) || most < 1 || states < 2)
        return ticks;
    const double step = std::max(1.0, niceStep((right - left) / most));
    // Event e of the file stands at state e − firstNumber + 1.
    const double first = static_cast<double>(firstNumber);
    const double lastEvent = first + static_cast<double>(states) - 2;
    const double from = std::max(first, left - 1.5 + first);
    for (double e = std::ceil(from / step) * step; e <= lastEvent; e += step) {
        const double x = e - first + 1.5;
        if (x > right)
            break;
        ticks.push_back({x, countText(static_cast<std::int64_t>(e))});
    }
    return ticks;
}

std::vector<AxisTick> stepTicks(
    const AxisKnots& axis, const Phases& phases, double left, double right, int most)
{
    std::vector<AxisTick> ticks;
    if (!(right > left) || most < 1)
        return ticks;
    const double least = (right - left) / most;
    const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(niceStep(least))));
    // Parts of a step: quarters, tenths, hundredths.
    double part = 1;
    for (const double finer : {0.5, 0.25, 0.1, 0.05, 0.025, 0.01, 0.005, 0.0025, 0.001})
        if (finer >= least)
            part = finer;
    for (std::size_t i = 0; i < phases.steps.size(); ++i) {
        const double begin = stepBegin(axis, phases, i);
        const double end = stepEnd(axis, phases, i);
        const std::size_t number = stepNumber(phases.steps[i].name).value_or(i + 1);
        if (end < left || begin > right || number % every != 0)
            continue;
        const auto parts = every > 1 ? 1 : static_cast<int>(std::lround(1 / part));
        for (int k = 0; k < parts; ++k) {
            const double x = begin + (end - begin) * k / parts;
            if (x < left || x > right)
                continue;
            QString text = QString::number(number);
            if (k > 0)
                text += plainNumber(static_cast<double>(k) / parts, decimalsFor(part)).mid(1);
            ticks.push_back({x, text});
        }
    }
    return ticks;
}

std::vector<AxisTick> namedTicks(const AxisKnots& axis, double left, double right, int most)
{
    std::vector<AxisTick> ticks;
    if (!(right > left) || most < 1)
        return ticks;
    const double least = (right - left) / most;
    for (const AxisKnots::Tick& tick : axis.ticks)
        if (tick.x >= left && tick.x <= right && (ticks.empty() || tick.x - ticks.back().value >= least))
            ticks.push_back({tick.x, shownText(tick.name)});
    return ticks;
}

std::vector<AxisTick> timeTicks(double left, double right, int most)
{
    std::vector<AxisTick> ticks;
    if (!(right > left) || most < 1)
        return ticks;
    constexpr double second = 1e6;
    const double least = (right - left) / most;
    double step = std::max(1.0, niceStep(least));
    if (least > 30 * second)
        for (const double s :
            {60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 18000.0, 36000.0, 86400.0}) {
            step = s * second;
            if (step >= least)
                break;
        }
    while (step < least)
        step *= 2;
    constexpr std::array<Unit, 5> units{
        Unit{3600 * second, "h"}, {60 * second, "min"}, {second, "s"}, {1e3, "ms"}, {1, "µs"}};
    const Unit* unit = &units.back();
    for (const Unit& u : units)
        if (right >= u.size && (u.size < 10 * second || step >= u.size)) {
            unit = &u;
            break;
        }
    const int decimals = decimalsFor(step / unit->size);
    for (double v = std::ceil(left / step) * step; v <= right; v += step) {
        const QString sign = v > 0 ? QStringLiteral("+") : QString();
        ticks.push_back({v,
            sign + plainNumber(v / unit->size, v == 0 ? 0 : decimals) + nbsp
                + QString::fromUtf8(unit->name)});
    }
    return ticks;
}

} // namespace tidemark
