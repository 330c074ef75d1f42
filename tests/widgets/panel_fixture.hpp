// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/toy_allocator.hpp"
#include "tests/support/trace_maker.hpp"
#include "tests/support/training_step.hpp"
#include "widgets/session.hpp"
#include "widgets/style/style.hpp"
#include "widgets/view_state.hpp"

#include <memory>

namespace tidemark::test {

/// What a view needs around it, with one file open. Header only: it needs Qt, which the other helpers must
/// not.
struct PanelFixture {
    Style style;
    Session session;
    ViewState view;

    explicit PanelFixture(std::shared_ptr<const Snapshot> snapshot) { open(std::move(snapshot)); }

    void open(std::shared_ptr<const Snapshot> snapshot)
    {
        session.setRank(makeRank(std::move(snapshot)));
        if (const auto replay = session.replay())
            view.reset(replay->states(), replay->timeline.requested().total().maxState);
    }
    const Replay& replay() const { return *session.replay(); }
    AllocationId liveAt(std::uint64_t address) const
    {
        return replay().timeline.findLive(address, view.cursor());
    }
};

} // namespace tidemark::test
