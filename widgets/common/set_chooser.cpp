// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/set_chooser.hpp"

namespace tidemark {

namespace {

/// Of fewer allocations a set is found within a part of a frame.
constexpr std::size_t atOnce = 100'000;

} // namespace

SetChooser::SetChooser(Session& session, ViewState& state)
    : m_session(session)
    , m_state(state)
    , m_task([this](Found&& found) { take(std::move(found)); })
{
    connect(&state, &ViewState::selectionChanged, this, &SetChooser::cancel);
}

void SetChooser::choose(
    const QString& name, const QString& kind, std::function<std::vector<AllocationId>()> find)
{
    const auto replay = m_session.replay();
    if (!replay)
        return;
    auto work = [replay, name, kind, find = std::move(find)](const Job&) {
        auto set = std::make_shared<ChosenSet>();
        set->name = name;
        set->kind = kind;
        set->flags.assign(replay->timeline.allocations().count(), 0);
        for (const AllocationId id : find())
            set->flags[index(id)] = 1;
        return Found{replay, std::move(set)};
    };
    if (replay->timeline.allocations().count() < atOnce)
        take(work({}));
    else
        m_task.request(std::move(work));
}

void SetChooser::take(Found&& found)
{
    if (found.replay != m_session.replay())
        return;
    m_chosen = std::move(found.set);
    Selection selection;
    selection.kind = Selection::Kind::Set;
    selection.set = m_chosen;
    m_state.select(selection);
}

} // namespace tidemark
