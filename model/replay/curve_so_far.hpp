// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tidemark {

/// The course of live bytes while a file is still being read, for a first picture of it. It knows neither
/// what is older than the recording nor which free belongs to which allocation, so its height is a lower
/// bound and none of its numbers is a figure: the replay that follows gives those. Memory: a few thousand
/// columns however many events come; a few operations an event. One thread.
class CurveSoFar {
public:
    /// Lowest and highest point of a run of events, in bytes since the recording began; below 0 where more
    /// was freed than allocated.
    struct Column {
        std::int64_t low = 0;
        std::int64_t high = 0;
    };

    void add(const ArrivedEvents& events);
    /// Of the trace that is read now.
    std::size_t events() const { return m_events; }
    std::size_t trace() const { return m_trace; }
    /// Equal runs of events in order; the last may be shorter than the others.
    const std::vector<Column>& columns() const
    {
        return m_completed ? m_curves[1].columns : m_curves[0].columns;
    }
    /// Events of a whole column.
    std::size_t columnEvents() const { return m_width; }

    static constexpr std::size_t maxColumns = 2048;

private:
    /// Bytes that are live after each event when lives end at the request, or at the completion.
    struct Curve {
        std::int64_t bytes = 0;
        std::vector<Column> columns;
    };
    void fold();

    std::array<Curve, 2> m_curves;
    std::size_t m_events = 0;
    std::size_t m_trace = 0;
    std::size_t m_width = 1;
    /// A completion was seen: requests end nothing (help/numbers.md).
    bool m_completed = false;
};

} // namespace tidemark
