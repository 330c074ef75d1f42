// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/alignment_builder.hpp"

#include <charconv>
#include <unordered_map>

namespace tidemark::compare {

namespace {

/// Cells of the table of commonRuns.
constexpr std::size_t mostCells = 1'000'000;

/// Numbers of ProfilerStep#N, empty unless all steps have one and they ascend.
std::vector<std::int64_t> stepNumbers(const Phases& phases)
{
    std::vector<std::int64_t> numbers;
    if (phases.source != StepSource::ProfilerSteps)
        return numbers;
    for (const Step& step : phases.steps) {
        const std::size_t hash = step.name.rfind('#');
        std::int64_t number = 0;
        const char* end = step.name.data() + step.name.size();
        const bool read = hash != std::string::npos
            && std::from_chars(step.name.data() + hash + 1, end, number).ptr == end;
        if (!read || (!numbers.empty() && number <= numbers.back()))
            return {};
        numbers.push_back(number);
    }
    return numbers;
}

Pairs equalNumbers(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b)
{
    Pairs pairs;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        if (a[i] == b[j])
            pairs.emplace_back(i++, j++);
        else if (a[i] < b[j])
            ++i;
        else
            ++j;
    }
    return pairs;
}

std::vector<std::size_t> wholeSteps(const Phases& phases)
{
    std::vector<std::size_t> whole;
    for (std::size_t i = 0; i < phases.steps.size(); ++i)
        if (phases.steps[i].complete)
            whole.push_back(i);
    return whole;
}

/// Positions of a longest ascending run of `values`, which need not be neighbours.
std::vector<std::size_t> longestAscending(const std::vector<StateIndex>& values)
{
    std::vector<std::size_t> tails; // by length: position of the smallest last value
    std::vector<std::size_t> before(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto place = std::lower_bound(tails.begin(), tails.end(), values[i],
            [&](std::size_t t, StateIndex v) { return values[t] < v; });
        before[i] = place == tails.begin() ? i : *std::prev(place);
        if (place == tails.end())
            tails.push_back(i);
        else
            *place = i;
    }
    std::vector<std::size_t> chain;
    for (std::size_t at = tails.empty() ? 0 : tails.back(); chain.size() < tails.size(); at = before[at])
        chain.push_back(at);
    std::reverse(chain.begin(), chain.end());
    return chain;
}

} // namespace

Pairs pairSteps(const Phases& a, const Phases& b, bool& numbered)
{
    Pairs pairs = equalNumbers(stepNumbers(a), stepNumbers(b));
    numbered = !pairs.empty();
    if (numbered)
        return pairs;
    const std::vector<std::size_t> wholeA = wholeSteps(a);
    const std::vector<std::size_t> wholeB = wholeSteps(b);
    for (std::size_t i = 0; i < std::min(wholeA.size(), wholeB.size()); ++i)
        pairs.emplace_back(wholeA[i], wholeB[i]);
    return pairs;
}

std::vector<std::pair<const Mark*, const Mark*>> pairUserMarks(
    const std::vector<Mark>& a, const std::vector<Mark>& b)
{
    const auto usable = [](const Mark& mark) { return !mark.step && !mark.open; };
    std::unordered_map<std::string_view, std::vector<const Mark*>> ofName;
    for (const Mark& mark : b)
        if (usable(mark))
            ofName[mark.name].push_back(&mark);
    std::unordered_map<std::string_view, std::size_t> seen;
    std::vector<std::pair<const Mark*, const Mark*>> pairs;
    for (const Mark& mark : a) {
        if (!usable(mark))
            continue;
        const auto partners = ofName.find(mark.name);
        const std::size_t n = seen[mark.name]++;
        if (partners != ofName.end() && n < partners->second.size())
            pairs.emplace_back(&mark, partners->second[n]);
    }
    // Ranges that begin at one state of A: only one of them can be a point of the map.
    std::sort(pairs.begin(), pairs.end(), [](const auto& x, const auto& y) {
        return x.first->first != y.first->first ? x.first->first < y.first->first
                                                : x.second->first > y.second->first;
    });
    std::vector<StateIndex> begins;
    for (const auto& pair : pairs)
        begins.push_back(pair.second->first);
    std::vector<std::pair<const Mark*, const Mark*>> kept;
    for (const std::size_t i : longestAscending(begins))
        kept.push_back(pairs[i]);
    return kept;
}

std::vector<PhaseRun> phaseRuns(const Phases& phases, StateIndex first, StateIndex end)
{
    std::vector<PhaseRun> runs;
    auto span = std::partition_point(
        phases.spans.begin(), phases.spans.end(), [first](const PhaseSpan& s) { return s.last < first; });
    for (; span != phases.spans.end() && span->first < end; ++span) {
        const Phase phase = span->phase == Phase::Recompute ? Phase::Backward : span->phase;
        const bool named = phase != Phase::Unknown && phase != Phase::Side;
        if (!runs.empty() && (!named || runs.back().phase == phase))
            runs.back().end = std::min(span->last + 1, end);
        else if (named)
            runs.push_back({phase, std::min(span->last + 1, end)});
    }
    if (!runs.empty())
        runs.back().end = end;
    return runs;
}

Pairs commonRuns(const std::vector<PhaseRun>& a, const std::vector<PhaseRun>& b)
{
    const std::size_t wide = b.size() + 1;
    if (a.empty() || b.empty() || (a.size() + 1) * wide > mostCells)
        return {};
    std::vector<std::uint32_t> longest((a.size() + 1) * wide, 0);
    for (std::size_t i = a.size(); i-- > 0;)
        for (std::size_t j = b.size(); j-- > 0;)
            longest[i * wide + j] = a[i].phase == b[j].phase
                ? longest[(i + 1) * wide + j + 1] + 1
                : std::max(longest[(i + 1) * wide + j], longest[i * wide + j + 1]);
    Pairs pairs;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        if (a[i].phase == b[j].phase)
            pairs.emplace_back(i++, j++);
        else if (longest[(i + 1) * wide + j] >= longest[i * wide + j + 1])
            ++i;
        else
            ++j;
    }
    return pairs;
}

} // namespace tidemark::compare
