// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/curve_so_far.hpp"

#include "model/snapshot/snapshot.hpp"

#include <algorithm>

namespace tidemark {

void CurveSoFar::add(const ArrivedEvents& events)
{
    if (events.trace != m_trace || events.first != m_events) {
        // Another trace, or the reader has found that the last rows belong to another one.
        *this = {};
        m_trace = events.trace;
    }
    for (std::size_t i = 0; i < events.actions.size(); ++i) {
        const Action action = events.actions[i];
        const auto size = static_cast<std::int64_t>(sane(events.sizes[i]));
        const bool ended = action == Action::FreeCompleted || action == Action::Free;
        m_completed |= ended;
        const std::array<std::int64_t, 2> changes = action == Action::Alloc ? std::array{size, size}
            : action == Action::FreeRequested || action == Action::Free
            ? std::array{-size, action == Action::Free ? -size : 0}
            : std::array<std::int64_t, 2>{0, ended ? -size : 0};
        if (m_events == m_width * maxColumns)
            fold();
        const bool begins = m_events % m_width == 0;
        for (std::size_t c = 0; c < changes.size(); ++c) {
            Curve& curve = m_curves[c];
            // Absurd sizes may not wrap round.
            if (__builtin_add_overflow(curve.bytes, changes[c], &curve.bytes))
                curve.bytes = 0;
            if (begins)
                curve.columns.push_back({curve.bytes, curve.bytes});
            Column& last = curve.columns.back();
            last.low = std::min(last.low, curve.bytes);
            last.high = std::max(last.high, curve.bytes);
        }
        ++m_events;
    }
}

/// Twice as many events a column.
void CurveSoFar::fold()
{
    for (Curve& curve : m_curves) {
        for (std::size_t i = 0; i + 1 < curve.columns.size(); i += 2)
            curve.columns[i / 2] = {std::min(curve.columns[i].low, curve.columns[i + 1].low),
                std::max(curve.columns[i].high, curve.columns[i + 1].high)};
        curve.columns.resize(curve.columns.size() / 2);
    }
    m_width *= 2;
}

} // namespace tidemark
