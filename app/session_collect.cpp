// SPDX-License-Identifier: GPL-3.0-or-later
// Reading a session off what is looked at.
#include "app/session_names.hpp"
#include "app/session_places.hpp"
#include "app/session_scene.hpp"
#include "widgets/common/axis_position.hpp"
#include "widgets/findings/sandbox_view.hpp"

#include <QFileInfo>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tidemark {

namespace {

std::filesystem::path absolute(const QString& path)
{
    return pathOf(QFileInfo(path).absoluteFilePath());
}

/// Environments are lists of variables, configurations trees.
bool isEnvironment(const QString& file)
{
    const QString ending = QFileInfo(file).suffix().toLower();
    return ending == QStringLiteral("env") || ending == QStringLiteral("txt")
        || ending == QStringLiteral("log");
}

} // namespace

report::SessionFile SessionScene::made(report::SessionFile session)
{
    session.current = 0;
    session.device.reset();
    session.cursor.reset();
    session.window.reset();
    session.range.reset();
    session.axis.clear();
    session.view.clear();
    for (auto* list : {&session.inputs, &session.compare})
        for (report::SessionInput& input : *list) {
            input.hash.clear();
            input.bytes = 0;
        }
    return session;
}

report::SessionFile SessionScene::collect() const
{
    report::SessionFile out;
    out.extra = m_kept.extra;
    collectInputs(out);
    if (m_work.session.rank())
        collectPlace(out);
    out.colour = colourKey(m_work.state.colourBy());
    out.filter = m_work.search.text().trimmed().toStdString();
    const QString rules = m_work.diagnoser.rulesFile();
    if (!rules.isEmpty())
        out.labels = absolute(rules).string();
    std::vector<std::string> files;
    for (const QString& file : m_work.diagnoser.settingsFiles()) {
        files.push_back(absolute(file).string());
        std::string& path = isEnvironment(file) ? out.env : out.config;
        if (path.empty())
            path = files.back();
    }
    if (out.settingsFiles() != files)
        out.settings = std::move(files);
    if (m_front)
        out.view = m_front();
    out.cardBytes = m_work.session.cardSize();
    if (const auto align = m_work.comparer.state().align())
        out.alignment = compare::alignName(*align);
    collectFixes(out);
    out.annotations = m_work.notes.items();
    out.title = m_report.title;
    out.summary = m_report.summary;
    out.parts = m_report.parts;
    return out;
}

void SessionScene::collectInputs(report::SessionFile& session) const
{
    const auto& entries = m_work.files.entries();
    for (std::size_t i = 0; i < entries.size() && m_work.session.rank(); ++i) {
        report::SessionInput input;
        // As it was: hash and unknown keys, and where it should be when it is missing.
        if (i < m_kept.inputs.size())
            input = m_kept.inputs[i];
        const std::string path = absolute(entries[i].path).string();
        if (std::exchange(input.path, path) != path)
            input = {path, {}, 0, input.extra};
        session.inputs.push_back(std::move(input));
    }
    session.current = static_cast<std::uint32_t>(m_work.files.current().value_or(0));
    if (m_compareAwaited || m_compareLost) {
        session.compare = m_kept.compare;
        return;
    }
    const auto main = m_work.session.rank();
    const auto b = m_work.comparer.state().session(compare::Which::B).rank();
    const auto a
        = m_work.comparer.followsMain() ? main : m_work.comparer.state().session(compare::Which::A).rank();
    if (!b || (b == main && (!a || a == main)))
        return;
    for (const auto& side : {b, a == main ? nullptr : a}) {
        if (!side)
            continue;
        report::SessionInput input;
        input.path = absolute(QString::fromStdString(side->snapshot->source.path)).string();
        for (const report::SessionInput& each : m_kept.compare)
            if (each.path == input.path)
                input = each;
        session.compare.push_back(std::move(input));
    }
}

void SessionScene::collectPlace(report::SessionFile& session) const
{
    const ViewState& state = m_work.state;
    const auto& devices = m_work.session.rank()->snapshot->devices;
    if (m_work.session.deviceIndex() < devices.size())
        session.device = devices[m_work.session.deviceIndex()].ordinal;
    const ReadOptions& opened = m_work.files.options();
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    session.opened.reset();
    if (opened.events)
        session.opened = std::pair(static_cast<std::int64_t>(std::min(opened.events->first, most)),
            static_cast<std::int64_t>(std::min(opened.events->second, most)));
    session.openedLast = opened.lastEvents;
    session.cursor = eventOf(state.cursor());
    if (const auto range = state.range())
        session.range = std::pair(eventOf(range->first), eventOf(range->second));
    if (!m_work.session.replay())
        return;
    if (m_diagnosisAwaited && m_hasPlace && m_kept.axis == axisName(XAxis::Steps)) {
        session.axis = m_kept.axis;
        session.window = m_kept.window;
        return;
    }
    session.axis = axisName(state.axis());
    const auto shown = shownStates();
    if (shown.first > 0 || shown.second + 1 < state.states())
        session.window = std::pair(eventOf(shown.first), eventOf(shown.second));
}

void SessionScene::collectFixes(report::SessionFile& session) const
{
    if (m_diagnosisAwaited) {
        session.fixes = m_kept.fixes;
        session.conf = m_kept.conf;
        return;
    }
    session.conf = m_sandbox.settings().conf();
    const auto diagnosis = m_work.session.diagnosis();
    if (diagnosis)
        for (const FixPlace& place : m_sandbox.ticked())
            if (auto fix = fixAt(place, *diagnosis))
                session.fixes.push_back(std::move(*fix));
}

std::pair<StateIndex, StateIndex> SessionScene::shownStates() const
{
    const ViewState& state = m_work.state;
    const XWindow window = state.window();
    if (m_putStates && window == m_putWindow)
        return *m_putStates;
    constexpr double slack = 1e-6; // of converting there and back
    double left = window.left;
    double right = window.right;
    const auto replay = m_work.session.replay();
    if (const auto knots = axisKnots(m_work.session, state.axis())) {
        left = knots->stateOf(left);
        right = knots->stateOf(right);
    } else if (state.axis() == XAxis::Time && replay->originUs()) {
        const auto at = [&](double us) {
            return static_cast<double>(
                replay->stateAtTime(*replay->originUs() + static_cast<std::int64_t>(us)));
        };
        left = at(std::floor(left));
        right = at(std::ceil(right)) + 1;
    }
    const double last = static_cast<double>(state.states()) - 1;
    const double from = std::clamp(std::floor(left + slack), 0.0, last);
    const double to = std::clamp(std::ceil(right - slack) - 1, from, last);
    return {static_cast<StateIndex>(from), static_cast<StateIndex>(to)};
}

std::optional<StateIndex> SessionScene::stateOf(std::int64_t event) const
{
    const auto replay = m_work.session.replay();
    const std::int64_t first = replay ? replay->device().firstEventInFile : 0;
    const std::int64_t state = event < first ? 0 : event - first + 1;
    if (state >= m_work.state.states())
        return std::nullopt;
    return static_cast<StateIndex>(state);
}

std::int64_t SessionScene::eventOf(StateIndex state) const
{
    const auto replay = m_work.session.replay();
    const std::int64_t first = replay ? replay->device().firstEventInFile : 0;
    return state == 0 ? -1 : static_cast<std::int64_t>(state) - 1 + first;
}

} // namespace tidemark
