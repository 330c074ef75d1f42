// SPDX-License-Identifier: GPL-3.0-or-later
// When a session comes in force; session_put_back.cpp puts it back, session_collect.cpp reads it off.
#include "app/session_scene.hpp"

#include "app/session_places.hpp"

#include <utility>

namespace tidemark {

namespace {

QStringList pathsOf(const Files& files)
{
    QStringList paths;
    for (const Files::Entry& entry : files.entries())
        paths << entry.path;
    return paths;
}

} // namespace

SessionScene::SessionScene(Workspace& workspace, SandboxView& sandbox, Settings& settings, QObject* parent)
    : QObject(parent)
    , m_work(workspace)
    , m_sandbox(sandbox)
    , m_settings(settings)
{
    connectSources();
}

void SessionScene::connectSources()
{
    // After Files, the views and the diagnoser have taken the file: they were connected before.
    connect(&m_work.loader, &Loader::loaded, this, &SessionScene::loaded);
    connect(&m_work.loader, &Loader::failed, this, &SessionScene::over);
    connect(&m_work.loader, &Loader::cancelled, this, &SessionScene::over);
    connect(&m_work.session, &Session::opened, this, [this] {
        if (!m_work.session.rank() && m_work.files.entries().empty())
            begin(); // closed
    });
    connect(&m_work.session, &Session::diagnosisChanged, this, &SessionScene::putDiagnosed);
    connect(&m_work.diagnoser, &Diagnoser::finished, this, [this] {
        if (!m_work.diagnoser.isBusy())
            putDiagnosed();
    });
    const auto compared = [this] {
        m_compareAwaited = m_compareAwaited && m_work.comparer.isLoading();
        settleMaybe();
        emit edited();
    };
    connect(&m_work.comparer, &Comparer::opened, this, [this, compared] {
        m_compareLost = m_compareLost && m_compareAwaited; // of two sides one may be lost
        compared();
    });
    connect(&m_work.comparer, &Comparer::failed, this, [this, compared](const QString& sentence) {
        if (m_compareAwaited) {
            m_compareLost = true;
            m_sentences << tr("%1, which the session compares with, is left out: %2")
                               .arg(shownName(m_kept.compare.front().path), sentence);
        }
        compared();
    });
    const ViewState& state = m_work.state;
    for (const auto signal : {&ViewState::cursorChanged, &ViewState::windowChanged, &ViewState::rangeChanged,
             &ViewState::axisChanged})
        connect(&state, signal, this, &SessionScene::moved);
    connect(&m_work.session, &Session::deviceChanged, this, &SessionScene::moved);
    connect(&state, &ViewState::colourByChanged, this, &SessionScene::edited);
    connect(&m_work.notes, &NotesState::changed, this, &SessionScene::edited);
    connect(&m_work.search, &Search::changed, this, &SessionScene::edited);
    connect(&m_work.files, &Files::listChanged, this, &SessionScene::edited);
    connect(&m_work.session, &Session::cardSizeChanged, this, &SessionScene::edited);
    connect(&m_work.session, &Session::predictionChanged, this, &SessionScene::edited);
    connect(&m_work.diagnoser, &Diagnoser::started, this, &SessionScene::edited);
    connect(&m_work.comparer.state(), &CompareState::changed, this, &SessionScene::edited);
}

void SessionScene::setReport(const ReportChoices& choices)
{
    if (choices == m_report)
        return;
    m_report = choices;
    emit reportChanged();
    emit edited();
}

// What is being loaded is stopped first: that is not the end of what begins here.
void SessionScene::load(const std::function<void()>& open)
{
    m_opening = true;
    open();
    m_opening = false;
    if (!m_work.loader.isLoading())
        over();
}

void SessionScene::openFresh(const std::function<void()>& open)
{
    m_fresh = true;
    m_relocated = false;
    m_expected.reset();
    load(open);
}

void SessionScene::open(report::SessionFile session, std::size_t first)
{
    m_fresh = m_relocated = false;
    QStringList files;
    for (const report::SessionInput& input : session.inputs)
        files << nameOf(input.path);
    m_expected = std::move(session);
    ReadOptions options;
    if (m_expected->opened && m_expected->opened->first >= 0)
        options.events = std::pair(static_cast<std::uint64_t>(m_expected->opened->first),
            static_cast<std::uint64_t>(m_expected->opened->second));
    else if (m_expected->openedLast && *m_expected->openedLast > 0)
        options.lastEvents = *m_expected->openedLast;
    load([&] { m_work.files.openList(files, first, options); });
}

void SessionScene::located(std::size_t input, const QString& path)
{
    report::SessionFile session = collect();
    if (input >= session.inputs.size())
        return;
    session.inputs[input].path = pathOf(path).string();
    if (input < m_kept.inputs.size())
        m_kept.inputs[input] = session.inputs[input];
    m_paths[static_cast<qsizetype>(input)] = path;
    m_work.files.relocate(input, path);
    if (input != m_kept.current)
        return;
    // The place is that of the session, the rest may have changed since.
    session.current = m_kept.current;
    session.device = m_kept.device;
    session.cursor = m_kept.cursor;
    session.window = m_kept.window;
    session.range = m_kept.range;
    session.axis = m_kept.axis;
    session.fixes = m_kept.fixes;
    session.conf = m_kept.conf;
    m_expected = std::move(session);
    m_relocated = true;
    load([&] { m_work.files.show(input); });
}

void SessionScene::over()
{
    if (m_opening || m_work.loader.isLoading()) // the next of several is tried
        return;
    const bool was = m_fresh || m_expected;
    m_fresh = false;
    m_expected.reset();
    m_relocated = false;
    if (was)
        emit abandoned();
}

void SessionScene::loaded(const LoadRequest& request)
{
    if (m_expected) {
        begin();
        return;
    }
    if (m_fresh || pathsOf(m_work.files) != m_paths) {
        begin();
        return;
    }
    if (!request.reload)
        m_hasPlace = false;
    emit moved();
}

void SessionScene::begin()
{
    const bool session = m_expected.has_value();
    m_kept = session ? std::move(*m_expected) : report::SessionFile();
    m_expected.reset();
    m_fresh = false;
    const bool relocated = std::exchange(m_relocated, false);
    m_paths = pathsOf(m_work.files);
    m_hasPlace = session && atPlace();
    m_diagnosisAwaited = m_compareAwaited = m_compareLost = false;
    m_putStates.reset();
    m_sentences.clear();
    if (!relocated) {
        m_report = {m_kept.title, m_kept.summary, m_kept.parts};
        m_work.notes.reset(m_kept.annotations);
        emit reportChanged();
    }
    if (session)
        putBack();
    else
        forgetSettings();
    if (!relocated)
        emit begun(session);
    m_settling = true;
    settleMaybe();
    emit edited();
}

bool SessionScene::atPlace() const
{
    return m_work.files.current() == m_kept.current;
}

void SessionScene::settleMaybe()
{
    if (!isSettled() || !std::exchange(m_settling, false))
        return;
    if (!m_kept.view.empty() && !m_work.files.entries().empty())
        emit frontWanted(QString::fromStdString(m_kept.view));
    emit settled(std::exchange(m_sentences, {}));
}

} // namespace tidemark
