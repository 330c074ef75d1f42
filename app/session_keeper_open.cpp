// SPDX-License-Identifier: GPL-3.0-or-later
// Opening session files, finding their snapshots, recovering.
#include "app/session_keeper.hpp"

#include "widgets/style/text.hpp"

#include <QFileInfo>
#include <QLocale>

#include <algorithm>
#include <utility>

namespace tidemark {

namespace fs = std::filesystem;

namespace {

/// Offers at a time: the next ones come when these are answered.
constexpr std::size_t mostOffers = 3;

QString leftoverNotice(const Leftover& leftover)
{
    return QStringLiteral("recover/") + nameOf(leftover.file.stem());
}

QString notesText(std::size_t notes)
{
    return notes == 1 ? SessionKeeper::tr("1 note")
                      : SessionKeeper::tr("%1 notes").arg(countText(static_cast<std::uint64_t>(notes)));
}

} // namespace

void SessionKeeper::open(const QStringList& paths, const ReadOptions& options)
{
    const auto session = std::find_if(paths.begin(), paths.end(), isSessionPath);
    if (session != paths.end()) {
        if (paths.size() > 1)
            emit remarked(tr("A session is opened by itself"));
        settleFirst(
            [this, file = pathOf(QFileInfo(*session).absoluteFilePath())] { openFile(file, nullptr); });
        return;
    }
    settleFirst([this, paths, options] { m_scene.openFresh([&] { m_work.files.open(paths, options); }); });
}

void SessionKeeper::openPartially(const QString& path)
{
    const bool listed = std::any_of(m_work.files.entries().begin(), m_work.files.entries().end(),
        [&](const Files::Entry& entry) { return entry.path == path; });
    if (listed)
        m_work.files.openPartially(path);
    else
        settleFirst([this, path] { m_scene.openFresh([&] { m_work.files.openPartially(path); }); });
}

void SessionKeeper::openSample()
{
    settleFirst([this] { m_scene.openFresh([&] { m_work.files.openSample(); }); });
}

void SessionKeeper::close()
{
    settleFirst([this] { m_work.files.close(); });
}

void SessionKeeper::chooseAndOpen()
{
    const QString folder = m_file.empty() ? m_settings.get(setting::lastFolder) : path();
    const QString chosen = choose(Ask::Open, folder);
    if (chosen.isEmpty())
        return;
    m_settings.set(setting::lastFolder, QFileInfo(chosen).absolutePath());
    settleFirst([this, file = pathOf(QFileInfo(chosen).absoluteFilePath())] { openFile(file, nullptr); });
}

void SessionKeeper::openFile(const fs::path& file, std::shared_ptr<Leftover> leftover)
{
    m_notices.remove(QLatin1String(openNotice));
    m_opensLocated = false;
    // What belongs together is looked for where the session itself lies.
    const fs::path folder = leftover ? leftover->of.parent_path() : fs::path();
    run<Result<OpenedSession>>([file, folder] { return openSession(file, folder); },
        [this, leftover](Result<OpenedSession>&& result) {
            if (result) {
                opened(std::make_shared<OpenedSession>(std::move(*result)), leftover);
                return;
            }
            m_letGo = false;
            tell(openNotice, shownText(result.error().message), Notice::Weight::Error);
            if (leftover)
                offerLeftovers();
        });
}

void SessionKeeper::opened(std::shared_ptr<OpenedSession> session, std::shared_ptr<Leftover> leftover)
{
    if (leftover)
        takeOrigin(session->session);
    auto& states = session->inputs;
    // The bundled sample lies in another place each time.
    for (std::size_t i = 0; i < states.size(); ++i) {
        std::string& input = session->session.inputs[i].path;
        const QString sample
            = states[i] == FoundInput::State::Missing ? m_work.files.sampleFor(nameOf(input)) : QString();
        if (sample.isEmpty())
            continue;
        input = pathOf(sample).string();
        states[i] = FoundInput::State::Same;
    }
    m_pending = session;
    m_pendingLeftover = std::move(leftover);
    const bool none = std::all_of(states.begin(), states.end(),
        [](FoundInput::State state) { return state == FoundInput::State::Missing; });
    if (none) {
        m_letGo = false;
        tellMissing();
        return;
    }
    // The one that was looked at, or one that is there.
    auto& current = session->session.current;
    report::SessionFile wish = session->session;
    if (current >= states.size() || states[current] == FoundInput::State::Missing) {
        const auto there = std::find_if(states.begin(), states.end(),
            [](FoundInput::State state) { return state != FoundInput::State::Missing; });
        m_scene.open(std::move(wish), static_cast<std::size_t>(there - states.begin()));
        return;
    }
    m_scene.open(std::move(wish), current);
}

// ---- snapshots that moved

QString SessionKeeper::differs(const fs::path& path)
{
    return tr("%1 is not the file the session was made with: its content differs.").arg(shownName(path));
}

/// Of the session being opened, whose snapshots are all missing, or of the one in force.
void SessionKeeper::tellMissing()
{
    const bool inForce = m_pending == nullptr;
    const std::shared_ptr<OpenedSession>& session = inForce ? m_incomplete : m_pending;
    if (!session)
        return;
    std::vector<report::SessionInput>& inputs = session->session.inputs;
    if (inputs.empty()) { // its list was lost
        inputs.emplace_back();
        session->inputs.push_back(FoundInput::State::Missing);
    }
    for (std::size_t i = 0; inForce && i < inputs.size(); ++i)
        if (std::exchange(session->inputs[i],
                session->inputs[i] == FoundInput::State::Differs ? FoundInput::State::Same // it is told once
                                                                 : session->inputs[i])
            == FoundInput::State::Differs)
            session->problems.push_back(differs(inputs[i].path).toStdString());
    std::vector<std::size_t> gone;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (session->inputs[i] == FoundInput::State::Missing)
            gone.push_back(i);
    if (gone.empty()) {
        m_notices.remove(QLatin1String(missing));
        return;
    }
    const report::SessionInput& first = inputs[gone.front()];
    QString sentence = first.path.empty()
        ? tr("%1 does not say which snapshot it was made with.").arg(shownName(session->file))
        : tr("%1, which %2 was made with, is neither in %3 nor beside the session.")
              .arg(shownName(first.path),
                  m_pendingLeftover ? tr("what is to be recovered") : shownName(session->file),
                  shownText(fs::path(first.path).parent_path().string()));
    if (gone.size() > 1)
        sentence
            += tr(" %1 more are missing, too.").arg(countText(static_cast<std::uint64_t>(gone.size() - 1)));
    tell(missing, sentence, Notice::Weight::Error,
        {{tr("Locate…"), [this, input = gone.front(), inForce] { locate(input, inForce); }}},
        [this, inForce] {
            if (!inForce) {
                m_pending.reset();
                m_pendingLeftover.reset();
                offerLeftovers();
            }
        });
}

void SessionKeeper::locate(std::size_t input, bool inForce)
{
    const std::shared_ptr<OpenedSession> session = inForce ? m_incomplete : m_pending;
    if (!session || input >= session->session.inputs.size())
        return;
    const report::SessionInput wanted = session->session.inputs[input];
    const QString suggested = wanted.path.empty() ? nameOf(session->file) : nameOf(wanted.path);
    const QString chosen = choose(Ask::Locate, suggested);
    if (chosen.isEmpty())
        return;
    const fs::path path = pathOf(QFileInfo(chosen).absoluteFilePath());
    run<bool>(
        [wanted, path] {
            const auto hash = report::contentHash(path);
            return wanted.hash.empty() || (hash && *hash == wanted.hash);
        },
        [this, session, input, path](bool&& same) {
            if (session == m_pending || session == m_incomplete)
                located(input, path, same);
        });
}

void SessionKeeper::located(std::size_t input, const fs::path& path, bool same)
{
    const bool inForce = m_pending == nullptr;
    const std::shared_ptr<OpenedSession> session = inForce ? m_incomplete : m_pending;
    session->session.inputs[input].path = path.string();
    session->inputs[input] = same ? FoundInput::State::Same : FoundInput::State::Differs;
    m_notices.remove(QLatin1String(missing));
    if (!inForce) {
        m_opensLocated = true;
        settleFirst([this, session] { opened(session, std::exchange(m_pendingLeftover, nullptr)); });
        return;
    }
    if (!same) {
        const QString before = m_notices.sentence(QLatin1String(problems));
        tell(problems, before.isEmpty() ? differs(path) : before + QLatin1Char('\n') + differs(path),
            Notice::Weight::Warning);
    }
    session->inputs[input] = FoundInput::State::Same; // it was told
    tellMissing();
    m_located = true;
    m_scene.located(input, nameOf(path));
    look();
}

void SessionKeeper::offerBeside()
{
    if (!m_work.session.rank() || m_work.files.entries().empty()
        || m_work.files.isSample(m_work.files.entries().front().path))
        return;
    const fs::path file = suggestion();
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored))
        return;
    tell(beside, tr("A session lies beside this file: %1.").arg(shownName(file)), Notice::Weight::Quiet,
        {{tr("Open it"), [this, file] { open({nameOf(file)}); }}});
}

// ---- recovery

void SessionKeeper::offerLeftovers()
{
    std::size_t shown = 0;
    for (const Leftover& leftover : m_leftovers) {
        if (shown++ == mostOffers)
            break;
        const QString when
            = QLocale::c().toString(leftover.written.toLocalTime(), QStringLiteral("d MMM yyyy, hh:mm"));
        const QString what = leftover.of.empty() ? leftover.snapshot : shownName(leftover.of);
        const Notice::Action discard{tr("Discard"), [this, leftover] { letGo(leftover); }};
        Notice notice;
        notice.weight = Notice::Weight::Warning;
        if (leftover.problem.isEmpty()) {
            notice.sentence = tr("Tidemark ended before this was saved: %1, %2, from %3.")
                                  .arg(what, notesText(leftover.notes), when);
            notice.actions = {{tr("Recover"), [this, leftover] { recover(leftover); }}, discard};
        } else {
            notice.sentence = tr("Tidemark ended before something was saved on %1, and it cannot be read: %2")
                                  .arg(when, leftover.problem);
            notice.actions = {discard};
        }
        m_notices.put(leftoverNotice(leftover), notice);
    }
}

/// It is not discarded before what was recovered is kept again: that goes on in the same file.
void SessionKeeper::recover(const Leftover& leftover)
{
    settleFirst([this, leftover] {
        m_notices.remove(leftoverNotice(leftover));
        openFile(leftover.file, std::make_shared<Leftover>(leftover));
    });
}

void SessionKeeper::letGo(const Leftover& leftover)
{
    m_notices.remove(leftoverNotice(leftover));
    Autosave::discard(leftover);
    std::erase_if(m_leftovers, [&](const Leftover& each) { return each.file == leftover.file; });
    offerLeftovers();
}

} // namespace tidemark
