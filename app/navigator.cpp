// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/navigator.hpp"

#include "model/core/parse.hpp"
#include "widgets/common/axis_position.hpp"
#include "widgets/style/text.hpp"

#include <algorithm>

namespace tidemark {

namespace {

/// Where a jump's goal stands in the window that is moved to it.
constexpr double goalShare = 0.35;

} // namespace

Navigator::Navigator(Session& session, ViewState& state, QObject* parent)
    : QObject(parent)
    , m_session(session)
    , m_state(state)
{ }

QString Navigator::stateText(StateIndex state) const
{
    const auto replay = m_session.replay();
    if (!replay || replay->device().events.count() == 0)
        return tr("end of the file");
    if (state == 0)
        return tr("before the first event");
    return tr("event %1")
        .arg(countText(momentOf(state) + static_cast<Moment>(replay->device().firstEventInFile)));
}

void Navigator::ensureVisible(StateIndex state)
{
    const XWindow window = m_state.window();
    const double x = axisPosition(m_session, m_state.axis(), state);
    if (x >= window.left && x < window.right)
        return;
    const double width = window.right - window.left;
    const double left = x - width * goalShare;
    m_state.setWindow({left, left + width});
}

void Navigator::goTo(StateIndex state)
{
    m_state.pushHistory();
    m_state.setCursor(state);
    ensureVisible(m_state.cursor());
}

void Navigator::goToPeak()
{
    if (const auto replay = m_session.replay())
        goTo(replay->timeline.requested().total().maxState);
}

bool Navigator::hasOom() const
{
    const auto replay = m_session.replay();
    return replay && !replay->device().ooms.empty();
}

void Navigator::goToOom()
{
    if (!hasOom())
        return;
    const auto replay = m_session.replay();
    const std::vector<OomEvent>& ooms = replay->device().ooms;
    const auto next = std::find_if(ooms.begin(), ooms.end(), [this](const OomEvent& oom) {
        return stateOf(static_cast<Moment>(index(oom.event))) > m_state.cursor();
    });
    const OomEvent& oom = next == ooms.end() ? ooms.front() : *next;
    goTo(stateOf(static_cast<Moment>(index(oom.event))));
}

void Navigator::goTo(AllocationId id)
{
    const auto replay = m_session.replay();
    if (!replay || !valid(id) || index(id) >= replay->timeline.allocations().count())
        return;
    goTo(replay->timeline.allocations().firstState[index(id)]);
    m_state.selectAllocation(id);
}

bool Navigator::goToMatch(int direction)
{
    const auto matches = m_state.matches();
    if (!matches || matches->empty())
        return false;
    const std::size_t count = matches->size();
    // From the selected match onwards; without one, from what begins at the cursor.
    std::size_t at = direction > 0 ? count - 1 : 0;
    const Selection& selection = m_state.selection();
    const auto replay = m_session.replay();
    if (selection.kind == Selection::Kind::Allocation && index(selection.allocation) < count) {
        at = index(selection.allocation);
    } else if (replay) {
        const auto& first = replay->timeline.allocations().firstState;
        const auto next = std::lower_bound(first.begin(), first.end(), m_state.cursor());
        const std::size_t begin = static_cast<std::size_t>(next - first.begin());
        at = direction > 0 ? (begin + count - 1) % count : begin % count;
    }
    for (std::size_t steps = 0; steps < count; ++steps) {
        at = direction > 0 ? (at + 1) % count : (at + count - 1) % count;
        if ((*matches)[at] != 0) {
            goTo(static_cast<AllocationId>(at));
            return true;
        }
    }
    return false;
}

QString Navigator::describe(StateIndex state) const
{
    const auto replay = m_session.replay();
    QString text = stateText(state);
    const auto us = replay->timeUs(state);
    const auto start = replay->originUs();
    if (us && start)
        text += QStringLiteral(" · ") + offsetText(*us - *start);
    return text + QStringLiteral(" · ")
        + tr("live %1").arg(bytesText(replay->timeline.requested().at(state)));
}

Navigator::Target Navigator::findAddress(std::uint64_t address) const
{
    const auto replay = m_session.replay();
    const AllocationColumns& a = replay->timeline.allocations();
    if (const AllocationId live = replay->timeline.findLive(address, m_state.cursor()); valid(live))
        return {m_state.cursor(), live, tr("%1, live at the cursor").arg(bytesText(a.size[index(live)]))};
    // Otherwise the one that lives nearest to the cursor.
    AllocationId best = AllocationId::none;
    StateIndex distance = 0;
    for (std::size_t i = 0; i < a.count(); ++i) {
        if (address < a.address[i] || address - a.address[i] >= std::max<std::uint64_t>(1, a.size[i]))
            continue;
        const StateIndex away = a.firstState[i] > m_state.cursor() ? a.firstState[i] - m_state.cursor()
                                                                   : m_state.cursor() - a.firstState[i];
        if (!valid(best) || away < distance) {
            best = static_cast<AllocationId>(i);
            distance = away;
        }
    }
    if (!valid(best))
        return {
            std::nullopt, best, tr("no allocation of this device ever covers %1").arg(addressText(address))};
    const StateIndex state = a.firstState[index(best)];
    return {state, best, tr("%1 · %2").arg(bytesText(a.size[index(best)]), describe(state))};
}

Navigator::Target Navigator::find(const QString& text) const
{
    const auto replay = m_session.replay();
    const QString clean = text.trimmed().toLower();
    if (!replay)
        return {std::nullopt, AllocationId::none, tr("no device is open")};
    if (clean.isEmpty())
        return {std::nullopt, AllocationId::none,
            tr("an event (3,737), a time (+77.7 ms), an address (0x7f…), peak, start or end")};
    if (replay->device().events.count() == 0 && !clean.startsWith(QStringLiteral("0x")))
        return {std::nullopt, AllocationId::none, tr("this file has no events to go to")};

    const auto at = [&](StateIndex state) { return Target{state, AllocationId::none, describe(state)}; };
    if (clean == QStringLiteral("peak"))
        return at(replay->timeline.requested().total().maxState);
    if (clean == QStringLiteral("start"))
        return at(0);
    if (clean == QStringLiteral("end"))
        return at(replay->states() - 1);

    QString number = clean;
    for (const QString& word : {QStringLiteral("event"), QStringLiteral("e"), QStringLiteral("#")})
        if (number.startsWith(word)) {
            number = number.mid(word.size());
            break;
        }
    if (const auto event = parseCount(number.toStdString())) {
        const std::uint64_t first = replay->device().firstEventInFile;
        const std::uint64_t count = replay->device().events.count();
        if (*event < first || *event - first >= count)
            return {std::nullopt, AllocationId::none,
                tr("events go from %1 to %2").arg(countText(first), countText(first + count - 1))};
        return at(stateOf(static_cast<Moment>(*event - first)));
    }
    if (const auto address = parseAddress(clean.toStdString()))
        return findAddress(*address);
    if (const auto us = parseDuration(clean.toStdString())) {
        const auto start = replay->originUs();
        if (!start)
            return {std::nullopt, AllocationId::none, tr("this trace has no times")};
        return at(replay->stateAtTime(*start + *us));
    }
    return {std::nullopt, AllocationId::none,
        tr("not an event, a time with its unit, or an address that starts with 0x")};
}

bool Navigator::goTo(const QString& text)
{
    const Target target = find(text);
    if (!target.state)
        return false;
    goTo(*target.state);
    if (valid(target.allocation))
        m_state.selectAllocation(target.allocation);
    return true;
}

} // namespace tidemark
