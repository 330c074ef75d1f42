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
    : m_data(std::make_shared<Data>())
{
    m_data->changes.push_back({0, initial});
}

void Series::set(StateIndex state, std::int64_t value)
{
    std::vector<Change>& changes = own().changes;
    Change& back = changes.back();
    assert(state >= back.state);
    if (state == back.state) {
        back.value = value;
        if (changes.size() > 1 && changes[changes.size() - 2].value == value)
            changes.pop_back();
    } else if (value != back.value) {
        changes.push_back({state, value});
    }
}

void Series::shift(std::int64_t amount)
{
    assert(m_data->levels.empty());
    for (Change& change : own().changes)
        change.value = wrappingAdd(change.value, amount);
}

void Series::build(StateIndex states)
{
    Data& data = own();
    const std::vector<Change>& changes = data.changes;
    assert(states > changes.back().state);
    m_states = states;
    data.levels.clear();
    std::vector<Node> level;
    level.reserve(changes.size() / fanOut + 1);
    for (std::size_t i = 0; i < changes.size(); i += fanOut) {
        Node node{changes[i].value, changes[i].value, static_cast<std::uint32_t>(i)};
        const std::size_t end = std::min(i + fanOut, changes.size());
        for (std::size_t j = i + 1; j < end; ++j)
            merge(node, {changes[j].value, changes[j].value, static_cast<std::uint32_t>(j)});
        level.push_back(node);
    }
    data.levels.push_back(std::move(level));
    while (data.levels.back().size() > 1) {
        const std::vector<Node>& below = data.levels.back();
        std::vector<Node> above;
        above.reserve(below.size() / fanOut + 1);
        for (std::size_t i = 0; i < below.size(); i += fanOut) {
            Node node = below[i];
            const std::size_t end = std::min(i + fanOut, below.size());
            for (std::size_t j = i + 1; j < end; ++j)
                merge(node, below[j]);
            above.push_back(node);
        }
        data.levels.push_back(std::move(above));
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
    const std::vector<Change>& changes = m_data->changes;
    const auto after = std::upper_bound(
        changes.begin(), changes.end(), state, [](StateIndex s, const Change& c) { return s < c.state; });
    return static_cast<std::size_t>(after - changes.begin()) - 1;
}

std::int64_t Series::at(StateIndex state) const
{
    return m_data->changes[changeAt(state)].value;
}

Series::Extremes Series::extremes(StateIndex first, StateIndex last) const
{
    const std::vector<Change>& changes = m_data->changes;
    const std::vector<std::vector<Node>>& levels = m_data->levels;
    assert(first <= last && !levels.empty());
    std::size_t from = changeAt(first);
    const std::size_t end = changeAt(last) + 1;
    const std::int64_t start = changes[from].value;
    Node found{start, start, static_cast<std::uint32_t>(from)};
    const auto change = [&](std::size_t i) {
        return Node{changes[i].value, changes[i].value, static_cast<std::uint32_t>(i)};
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
        while (level + 1 < levels.size() && from % (width * fanOut) == 0 && end - from >= width * fanOut) {
            width *= fanOut;
            ++level;
        }
        merge(found, levels[level][from / width]);
        from += width;
    }
    return {found.min, found.max, std::max(first, changes[found.maxChange].state)};
}

} // namespace tidemark
