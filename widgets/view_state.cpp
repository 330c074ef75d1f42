// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/view_state.hpp"

#include <algorithm>

namespace tidemark {

namespace {
constexpr std::size_t historyLimit = 200;
}

ViewState::ViewState(QObject* parent)
    : QObject(parent)
{ }

void ViewState::reset(StateIndex states, StateIndex cursor)
{
    m_states = std::max<StateIndex>(1, states);
    m_cursor = std::min(cursor, m_states - 1);
    m_hovered = AllocationId::none;
    m_selection = {};
    m_range.reset();
    m_window = {0, static_cast<double>(m_states)};
    m_axis = XAxis::Events;
    m_matches.reset();
    m_finding.reset();
    m_shownFinding.reset();
    m_emphasis.reset();
    m_back.clear();
    m_forward.clear();
    emit axisChanged();
    emit windowChanged();
    emit cursorChanged();
    emit hoveredChanged();
    emit selectionChanged();
    emit rangeChanged();
    emit matchesChanged();
    emit findingChanged();
    emit shownFindingChanged();
    emit emphasisChanged();
    emit historyChanged();
}

void ViewState::setCursor(StateIndex state)
{
    state = std::min(state, m_states - 1);
    if (state == m_cursor)
        return;
    m_cursor = state;
    emit cursorChanged();
}

void ViewState::setHovered(AllocationId id)
{
    if (id == m_hovered)
        return;
    m_hovered = id;
    emit hoveredChanged();
}

void ViewState::select(const Selection& selection)
{
    if (selection == m_selection)
        return;
    m_selection = selection;
    emit selectionChanged();
}

void ViewState::selectAllocation(AllocationId id)
{
    Selection s;
    if (valid(id)) {
        s.kind = Selection::Kind::Allocation;
        s.allocation = id;
    }
    select(s);
}

void ViewState::setRange(std::optional<std::pair<StateIndex, StateIndex>> range)
{
    if (range && range->first > range->second)
        std::swap(range->first, range->second);
    if (range == m_range)
        return;
    m_range = range;
    emit rangeChanged();
}

void ViewState::setWindow(const XWindow& window)
{
    if (window == m_window || !(window.right > window.left))
        return;
    m_window = window;
    emit windowChanged();
}

void ViewState::setAxis(XAxis axis)
{
    if (axis == m_axis)
        return;
    m_axis = axis;
    emit axisChanged();
}

void ViewState::setColourBy(ColourBy by)
{
    if (by == m_colourBy)
        return;
    m_colourBy = by;
    emit colourByChanged();
}

void ViewState::setStackOrder(StackOrder order)
{
    if (order == m_order)
        return;
    m_order = order;
    emit stackOrderChanged();
}

void ViewState::setTool(Tool tool)
{
    if (tool == m_tool)
        return;
    m_tool = tool;
    emit toolChanged();
}

void ViewState::setMatches(std::shared_ptr<const std::vector<std::uint8_t>> matches)
{
    if (matches == m_matches)
        return;
    m_matches = std::move(matches);
    combineEmphasis();
    emit matchesChanged();
    emit emphasisChanged();
}

void ViewState::setScopeKind(Scope::Kind kind)
{
    if (kind == m_scopeKind)
        return;
    m_scopeKind = kind;
    emit scopeKindChanged();
}

Scope ViewState::scope(const Replay& replay) const
{
    const StateIndex last = replay.states() - 1;
    if (m_scopeKind == Scope::Kind::Trace)
        return Scope::trace(replay);
    if (m_scopeKind == Scope::Kind::Range && m_range)
        return Scope::range(std::min(m_range->first, last), std::min(m_range->second, last));
    return Scope::moment(std::min(m_cursor, last));
}

void ViewState::setMapPredicted(bool predicted)
{
    if (predicted == m_mapPredicted)
        return;
    m_mapPredicted = predicted;
    emit mapPredictedChanged();
}

void ViewState::setFinding(std::optional<std::size_t> finding)
{
    if (finding == m_finding)
        return;
    m_finding = finding;
    emit findingChanged();
}

void ViewState::setShownFinding(std::shared_ptr<const std::vector<std::uint8_t>> flags)
{
    if (flags == m_shownFinding)
        return;
    m_shownFinding = std::move(flags);
    combineEmphasis();
    emit shownFindingChanged();
    emit emphasisChanged();
}

void ViewState::combineEmphasis()
{
    if (!m_matches || !m_shownFinding || m_matches->size() != m_shownFinding->size()) {
        m_emphasis = m_shownFinding ? m_shownFinding : m_matches;
        return;
    }
    std::vector<std::uint8_t> both(m_matches->size());
    std::transform(m_matches->begin(), m_matches->end(), m_shownFinding->begin(), both.begin(),
        [](std::uint8_t a, std::uint8_t b) { return static_cast<std::uint8_t>(a != 0 && b != 0); });
    m_emphasis = std::make_shared<const std::vector<std::uint8_t>>(std::move(both));
}

void ViewState::pushHistory()
{
    m_back.push_back(here());
    if (m_back.size() > historyLimit)
        m_back.erase(m_back.begin());
    m_forward.clear();
    emit historyChanged();
}

void ViewState::goBack()
{
    if (m_back.empty())
        return;
    m_forward.push_back(here());
    const Place place = m_back.back();
    m_back.pop_back();
    go(place);
}

void ViewState::goForward()
{
    if (m_forward.empty())
        return;
    m_back.push_back(here());
    const Place place = m_forward.back();
    m_forward.pop_back();
    go(place);
}

void ViewState::go(const Place& place)
{
    setAxis(place.axis);
    setWindow(place.window);
    setCursor(place.cursor);
    emit historyChanged();
}

} // namespace tidemark
