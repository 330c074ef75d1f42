// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/series.hpp"

#include "model/core/byte_sum.hpp"
#include <algorithm>
#include <cassert>

namespace tidemark {

namespace {

constexpr std::size_t fanOut = 16;

} // namespace

Series::Series(std::int64_t initial)
    : m_changes{{0, initial}}
{ }

void Series::set(StateIndex state, std::int64_t value)
{
    Change& back = m_changes.back();
    assert(state >= back.state);
    if (state == back.state) {
        back.value = value;
        if (m_changes.size() > 1 && m_changes[m_changes.size() - 2].value == value)
            m_changes.pop_back();
    } else if (value != back.value) {
        m_changes.push_back({state, value});
    }
}

void Series::shift(std::int64_t amount)
{
    assert(m_levels.empty());
    for (Change& change : m_changes)
        change.value = wrappingAdd(change.value, amount);
}

void Series::build(StateIndex states)
{
    assert(states > m_changes.back().state);
    m_states = states;
    m_levels.clear();
    std::vector<Node> level;
    level.reserve(m_changes.size() / fanOut + 1);
    for (std::size_t i = 0; i < m_changes.size(); i += fanOut) {
        Node node{m_changes[i].value, m_changes[i].value, static_cast<std::uint32_t>(i)};
        const std::size_t end = std::min(i + fanOut, m_changes.size());
        for (std::size_t j = i + 1; j < end; ++j)
            merge(node, {m_changes[j].value, m_changes[j].value, static_cast<std::uint32_t>(j)});
        level.push_back(node);
    }
    m_levels.push_back(std::move(level));
    while (m_levels.back().size() > 1) {
        const std::vector<Node>& below = m_levels.back();
        std::vector<Node> above;
        above.reserve(below.size() / fanOut + 1);
        for (std::size_t i = 0; i < below.size(); i += fanOut) {
            Node node = below[i];
            const std::size_t end = std::min(i + fanOut, below.size());
            for (std::size_t j = i + 1; j < end; ++j)
                merge(node, below[j]);
            above.push_back(node);
        }
        m_levels.push_back(std::move(above));
    }
}

void Series::merge(Node& into, const Node& later)
{
    into.min = std::min(into.min, later.min);
    if (later.max > into.max) {
        into.max = later.max;
        into.maxChange = later.maxChange;
    }
}

std::size_t Series::changeAt(StateIndex state) const
{
    const auto after = std::upper_bound(
        m_changes.begin(), m_changes.end(), state, [](StateIndex s, const Change& c) { return s < c.state; });
    return static_cast<std::size_t>(after - m_changes.begin()) - 1;
}

std::int64_t Series::at(StateIndex state) const
{
    return m_changes[changeAt(state)].value;
}

Series::Extremes Series::extremes(StateIndex first, StateIndex last) const
{
    assert(first <= last && !m_levels.empty());
    std::size_t from = changeAt(first);
    const std::size_t end = changeAt(last) + 1;
    const std::int64_t start = m_changes[from].value;
    Node found{start, start, static_cast<std::uint32_t>(from)};
    const auto change = [&](std::size_t i) {
        return Node{m_changes[i].value, m_changes[i].value, static_cast<std::uint32_t>(i)};
    };
    // Left to right, climbing to the widest node that starts at `from` and ends within the range: merging in
    // order keeps the first change that has the maximum.
    while (from < end) {
        if (from % fanOut != 0 || end - from < fanOut) {
            merge(found, change(from++));
            continue;
        }
        std::size_t width = fanOut;
        std::size_t level = 0;
        while (level + 1 < m_levels.size() && from % (width * fanOut) == 0 && end - from >= width * fanOut) {
            width *= fanOut;
            ++level;
        }
        merge(found, m_levels[level][from / width]);
        from += width;
    }
    return {found.min, found.max, std::max(first, m_changes[found.maxChange].state)};
}

} // namespace tidemark
