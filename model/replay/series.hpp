// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/ids.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tidemark {

/// A quantity in bytes over the states of a trace, kept as its change points, with exact extremes over any
/// range. Cost: at() and extremes() O(log n); walking a window is a scan of changes(). Immutable after
/// build(); copies share their data.
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
    void reserve(std::size_t changes) { own().changes.reserve(changes); }
    /// Closes the series and builds the pyramid of extremes; `states` is the number of states of the trace.
    void build(StateIndex states);

    std::int64_t at(StateIndex state) const;
    std::int64_t first() const { return m_data->changes.front().value; }
    std::int64_t last() const { return m_data->changes.back().value; }
    /// Over the whole trace; the first state that reaches it.
    Extremes total() const { return extremes(0, m_states - 1); }
    /// Over states first…last, both included.
    Extremes extremes(StateIndex first, StateIndex last) const;
    std::span<const Change> changes() const { return m_data->changes; }
    StateIndex states() const { return m_states; }

private:
    friend class CacheAccess;
    struct Node {
        std::int64_t min;
        std::int64_t max;
        std::uint32_t maxChange;
    };
    struct Data {
        std::vector<Change> changes;
        std::vector<std::vector<Node>> levels;
    };

    std::size_t changeAt(StateIndex state) const;
    /// The data, to be changed: no longer that of any copy.
    Data& own()
    {
        if (m_data.use_count() > 1)
            m_data = std::make_shared<Data>(*m_data);
        return *m_data;
    }
    static void merge(Node& into, const Node& later);

    std::shared_ptr<Data> m_data;
    StateIndex m_states = 1;
};

} // namespace tidemark
