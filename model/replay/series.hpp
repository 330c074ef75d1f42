// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/ids.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tidemark {

/// A quantity in bytes over the states of a trace, kept as its change points, with exact extremes over any
/// range. Cost: at() and extremes() O(log n); walking a window is a scan of changes(). Immutable after
/// build().
class Series {
public:
    struct Change {
        StateIndex state;
        std::int64_t value;
    };
    struct Extremes {
        std::int64_t min;
        std::int64_t max;
        /// First state in the range that has the maximum.
        StateIndex maxState;
    };

    /// Starts at `initial` in state 0.
    explicit Series(std::int64_t initial = 0);
    /// The value from `state` on; states must not decrease. A second value for the same state replaces the
    /// first.
    void set(StateIndex state, std::int64_t value);
    /// Adds `amount` to every value so far; before build.
    void shift(std::int64_t amount);
    void reserve(std::size_t changes) { m_changes.reserve(changes); }
    /// Closes the series and builds the pyramid of extremes; `states` is the number of states of the trace.
    void build(StateIndex states);

    std::int64_t at(StateIndex state) const;
    std::int64_t first() const { return m_changes.front().value; }
    std::int64_t last() const { return m_changes.back().value; }
    /// Over the whole trace; the first state that reaches it.
    Extremes total() const { return extremes(0, m_states - 1); }
    /// Over states first…last, both included.
    Extremes extremes(StateIndex first, StateIndex last) const;
    std::span<const Change> changes() const { return m_changes; }
    StateIndex states() const { return m_states; }

private:
    std::size_t changeAt(StateIndex state) const;

    std::vector<Change> m_changes;
    StateIndex m_states = 1;
    struct Node {
        std::int64_t min;
        std::int64_t max;
        std::uint32_t maxChange;
    };
    static void merge(Node& into, const Node& later);

    std::vector<std::vector<Node>> m_levels;
};

} // namespace tidemark
