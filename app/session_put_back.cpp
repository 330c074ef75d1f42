// SPDX-License-Identifier: GPL-3.0-or-later
// Putting a session back into what is looked at.
#include "app/main_toolbar.hpp"
#include "app/session_names.hpp"
#include "app/session_places.hpp"
#include "app/session_scene.hpp"
#include "widgets/common/axis_position.hpp"
#include "widgets/findings/sandbox_view.hpp"
#include "widgets/style/text.hpp"

#include <QFileInfo>

#include <algorithm>

namespace tidemark {

void SessionScene::putBack()
{
    // Before what waits for causes: they are looked for anew with these.
    m_diagnosisAwaited = true;
    if (m_hasPlace && m_kept.device) {
        const auto& devices = m_work.session.rank()->snapshot->devices;
        const auto at = std::find_if(devices.begin(), devices.end(),
            [this](const auto& device) { return device.ordinal == *m_kept.device; });
        if (at != devices.end())
            m_work.files.setDevice(static_cast<std::size_t>(at - devices.begin()));
        else
            m_sentences << tr("The session looked at %1, which this file does not have.")
                               .arg(QString::fromStdString(deviceName(static_cast<int>(*m_kept.device))));
    }
    putSettings();
    if (const auto colour = colourOf(m_kept.colour))
        m_work.state.setColourBy(*colour);
    else if (!m_kept.colour.empty())
        m_sentences
            << tr("The session colours by “%1”, which is not known here.").arg(shownText(m_kept.colour));
    emit m_work.state.searchRequested(QString::fromStdString(m_kept.filter));
    if (m_hasPlace)
        putPlace();
    else if (m_kept.cursor || m_kept.window || m_kept.range || !m_kept.fixes.empty())
        m_sentences << tr("The file the session looked at is not open, so its place is not shown.");
    putComparison();
    checkNotes();
    if (!m_work.diagnoser.isBusy())
        putDiagnosed();
}

void SessionScene::putSettings()
{
    if (m_kept.cardBytes)
        m_work.session.setCardSize(m_kept.cardBytes);
    const auto there = [this](const std::string& path) {
        const bool is = !path.empty() && QFileInfo::exists(nameOf(path));
        if (!path.empty() && !is)
            m_sentences << tr("%1, which the session names, is not there any more.").arg(shownName(path));
        return is;
    };
    const QString rules = there(m_kept.labels) ? nameOf(m_kept.labels) : QString();
    if (!rules.isEmpty() && rules != m_work.diagnoser.rulesFile()) {
        m_work.diagnoser.setRulesFile(rules);
        m_tookRules = true;
    }
    QStringList files;
    for (const std::string& path : m_kept.settingsFiles())
        if (there(path))
            files << nameOf(path);
    if (files != m_work.diagnoser.settingsFiles()) {
        m_work.diagnoser.setSettingsFiles(files);
        m_tookSettings = true;
    }
}

/// Label rules and run settings that came with a session go with it.
void SessionScene::forgetSettings()
{
    if (std::exchange(m_tookRules, false))
        m_work.diagnoser.setRulesFile(m_settings.get(setting::labelRules));
    if (std::exchange(m_tookSettings, false))
        m_work.diagnoser.setSettingsFiles({});
}

void SessionScene::putPlace()
{
    ViewState& state = m_work.state;
    const auto beyond = [this](const QString& what, std::int64_t event) {
        m_sentences
            << tr("%1 is left out: event %2 is beyond the end of this file.").arg(what, countText(event));
    };
    if (m_kept.range) {
        const auto first = stateOf(m_kept.range->first);
        const auto last = stateOf(m_kept.range->second);
        if (first && last)
            state.setRange(std::pair(std::min(*first, *last), std::max(*first, *last)));
        else
            beyond(tr("The selected range"), std::max(m_kept.range->first, m_kept.range->second));
    }
    if (m_kept.cursor) {
        if (const auto cursor = stateOf(*m_kept.cursor))
            state.setCursor(*cursor);
        else
            beyond(tr("The cursor"), *m_kept.cursor);
    }
    if (m_kept.axis != axisName(XAxis::Steps))
        putWindow(); // steps are known with the causes
    // What is typed for the sandbox belongs to the recording alone.
    if (m_kept.conf && m_work.session.replay())
        m_sandbox.settings().setLine(QString::fromStdString(*m_kept.conf));
}

void SessionScene::putWindow()
{
    ViewState& state = m_work.state;
    const auto axis = axisOf(m_kept.axis);
    if (axis && m_work.session.replay()) {
        state.setAxis(*axis);
        if (state.axis() != *axis)
            m_sentences << tr("The axis of %1 is left out: this file has none.")
                               .arg(QString::fromStdString(m_kept.axis));
    }
    if (!m_kept.window || !m_work.session.replay())
        return;
    const auto first = stateOf(m_kept.window->first);
    const auto last = stateOf(m_kept.window->second);
    if (!first || !last || *last < *first) {
        m_sentences << tr("The zoom is left out: this file does not have events %1 to %2.")
                           .arg(countText(m_kept.window->first), countText(m_kept.window->second));
        return;
    }
    const auto position = [&](double x) { return axisPosition(m_work.session, state.axis(), x); };
    const double end = *last + 1 < state.states() || state.axis() != XAxis::Time
        ? position(static_cast<double>(*last) + 1)
        : position(static_cast<double>(*last)) + 1;
    state.setWindow({position(*first), end});
    m_putWindow = state.window();
    m_putStates = std::pair(*first, *last);
}

void SessionScene::putComparison()
{
    Comparer& comparer = m_work.comparer;
    const auto align = compare::alignFromName(m_kept.alignment);
    if (!m_kept.alignment.empty() && !align)
        m_sentences
            << tr("The session aligns by “%1”, which is not known here.").arg(shownText(m_kept.alignment));
    comparer.state().setAlign(align);
    if (m_kept.compare.empty()) {
        if (comparer.state().session(compare::Which::B).rank())
            comparer.state().setRank(compare::Which::B, nullptr);
        return;
    }
    const auto rank = m_work.session.rank();
    if (m_kept.compare.size() > 1)
        comparer.open(compare::Which::A, nameOf(m_kept.compare[1].path));
    else if (!comparer.followsMain() && rank)
        comparer.open(compare::Which::A, QString::fromStdString(rank->snapshot->source.path));
    comparer.open(compare::Which::B, nameOf(m_kept.compare.front().path));
    m_compareAwaited = comparer.isLoading();
}

/// What waited for the causes; or none came.
void SessionScene::putDiagnosed()
{
    if (!m_diagnosisAwaited || m_expected)
        return;
    const auto diagnosis = m_work.session.diagnosis();
    if (!diagnosis && m_work.diagnoser.isBusy())
        return;
    if (m_hasPlace && m_kept.axis == axisName(XAxis::Steps))
        putWindow();
    const auto by = m_work.state.colourBy();
    const auto useful
        = MainToolbar::colourings(m_work.session.replay().get(), m_work.session.labels() != nullptr);
    if (m_work.session.replay() && std::find(useful.begin(), useful.end(), by) == useful.end()) {
        m_work.state.setColourBy(ColourBy::Site);
        m_sentences << tr("The colours of the session say nothing about this file: call sites are shown.");
    }
    bool ticked = false;
    for (const report::SessionFix& fix : m_kept.fixes) {
        const auto place = m_hasPlace ? placeOf(fix, diagnosis.get()) : std::nullopt;
        if (place)
            m_sandbox.setTicked(*place, true);
        const auto now = m_sandbox.ticked();
        if (place && std::find(now.begin(), now.end(), *place) != now.end())
            ticked = true;
        else if (m_hasPlace)
            m_sentences << tr("The fix “%1” of finding “%2” is left out: it is not offered any more.")
                               .arg(shownText(fix.fix), shownText(fix.rule));
    }
    m_diagnosisAwaited = false;
    if (ticked || (m_hasPlace && m_kept.conf))
        emit sandboxWanted();
    settleMaybe();
}

void SessionScene::checkNotes()
{
    const auto current = m_work.files.current();
    const auto rank = m_work.session.rank();
    std::size_t lost = 0;
    for (const report::Annotation& note : m_kept.annotations) {
        if (note.input != current || !rank)
            continue;
        const auto& devices = rank->snapshot->devices;
        const auto device = std::find_if(
            devices.begin(), devices.end(), [&](const auto& each) { return each.ordinal == note.device; });
        const auto end = device == devices.end()
            ? std::int64_t{0}
            : static_cast<std::int64_t>(device->firstEventInFile + device->events.count());
        if (lastEvent(note.from) >= end || lastEvent(note.to) >= end)
            ++lost;
    }
    if (lost > 0)
        m_sentences << tr("%1 of %2 notes are tied to events this file does not have; they are kept.")
                           .arg(countText(static_cast<std::uint64_t>(lost)),
                               countText(static_cast<std::uint64_t>(m_kept.annotations.size())));
}

} // namespace tidemark
