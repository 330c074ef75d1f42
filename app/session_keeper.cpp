// SPDX-License-Identifier: GPL-3.0-or-later
// What is in force, and its autosave; session_keeper_open.cpp opens, session_keeper_save.cpp saves.
#include "app/session_keeper.hpp"

#include "widgets/style/text.hpp"

#include <QFileDialog>
#include <QFileInfo>

#include <utility>

namespace tidemark {

namespace fs = std::filesystem;

SessionKeeper::SessionKeeper(
    Workspace& workspace, SandboxView& sandbox, NoticeBar& notices, Settings& settings, QWidget& window)
    : m_work(workspace)
    , m_notices(notices)
    , m_settings(settings)
    , m_window(window)
    , m_scene(workspace, sandbox, settings)
    , m_autosave(settings.dataFolder() + QStringLiteral("/autosave"))
{
    m_pool.setMaxThreadCount(1);
    m_look.setSingleShot(true);
    m_look.setInterval(0);
    m_afterEdit.setSingleShot(true);
    m_every.setSingleShot(true);
    setTimes({});
    connect(&m_look, &QTimer::timeout, this, &SessionKeeper::look);
    connect(&m_afterEdit, &QTimer::timeout, this, &SessionKeeper::autosaveNow);
    connect(&m_every, &QTimer::timeout, this, &SessionKeeper::autosaveNow);
    connect(&m_scene, &SessionScene::begun, this, &SessionKeeper::begun);
    connect(&m_scene, &SessionScene::settled, this, &SessionKeeper::settled);
    connect(&m_scene, &SessionScene::abandoned, this, [this] {
        m_letGo = false;
        m_pending.reset();
        m_pendingLeftover.reset();
    });
    connect(&m_scene, &SessionScene::edited, this, [this] {
        m_look.start();
        m_afterEdit.start();
        // Edits that never pause are kept, too.
        if (m_modified && !m_every.isActive())
            m_every.start();
    });
    connect(&m_scene, &SessionScene::moved, this, [this] {
        if (m_modified && !m_every.isActive())
            m_every.start();
    });
    connect(&m_autosave, &Autosave::failed, this, [this](const QString& sentence) {
        m_autosaved.reset();
        tell(unsafe, tr("The notes are in this window only: %1").arg(sentence), Notice::Weight::Warning);
    });
    connect(&m_autosave, &Autosave::written, this, [this] { m_notices.remove(QLatin1String(unsafe)); });
    connect(&m_autosave, &Autosave::claimed, this, [this](bool alone) {
        m_elsewhere = !alone;
        if (alone)
            m_notices.remove(QLatin1String(elsewhere));
        else
            tell(elsewhere,
                tr("%1 is open in another window: saving here asks for another file.").arg(shownName(m_file)),
                Notice::Weight::Warning);
    });
    connect(&m_autosave, &Autosave::found, this, [this](const std::vector<Leftover>& leftovers) {
        m_leftovers.insert(m_leftovers.end(), leftovers.begin(), leftovers.end());
        offerLeftovers();
    });
    m_autosave.look();
}

SessionKeeper::~SessionKeeper()
{
    const QSignalBlocker quiet(this);
    look();
    if (!m_modified || m_letGo)
        m_autosave.drop();
    m_pool.waitForDone();
}

void SessionKeeper::setTimes(const Times& times)
{
    m_afterEdit.setInterval(times.afterEditMs);
    m_every.setInterval(times.everyMs);
}

QString SessionKeeper::titleOf(const QString& snapshot) const
{
    QString title = snapshot;
    if (!m_file.empty())
        title += QStringLiteral(" · ") + shownName(m_file);
    else if (m_recovered)
        title += QStringLiteral(" · ") + tr("recovered");
    // Where nothing can be changed the mark has no place.
    return m_file.empty() && !m_modified ? title : title + QStringLiteral("[*]");
}

void SessionKeeper::tell(const char* name, const QString& sentence, Notice::Weight weight,
    std::vector<Notice::Action> actions, std::function<void()> dismissed)
{
    m_notices.put(QLatin1String(name), {sentence, weight, std::move(actions), std::move(dismissed)});
}

QString SessionKeeper::choose(Ask purpose, const QString& suggested)
{
    if (m_chooser)
        return m_chooser(purpose, suggested);
    const QString sessions = tr("Sessions (*.tidemark)");
    if (purpose == Ask::Save)
        return QFileDialog::getSaveFileName(&m_window, tr("Save session"), suggested, sessions);
    if (purpose == Ask::Open)
        return QFileDialog::getOpenFileName(
            &m_window, tr("Open session"), suggested, sessions + tr(";;All files (*)"));
    return QFileDialog::getOpenFileName(&m_window, tr("Where is %1?").arg(QFileInfo(suggested).fileName()),
        QFileInfo(suggested).absolutePath(), tr("All files (*)"));
}

// ---- what is in force

void SessionKeeper::begun(bool session)
{
    m_letGo = false;
    m_autosaved.reset();
    if (std::exchange(m_modified, false)) { // what was there is saved or not wanted
        m_every.stop();
        m_autosave.drop();
    }
    for (const char* name : {openNotice, beside, problems, missing, saving, elsewhere})
        m_notices.remove(QLatin1String(name));
    m_file.clear();
    m_stamp.clear();
    m_suggested.clear();
    m_origin.clear();
    m_keepCopy = m_elsewhere = m_recovered = m_located = false;
    m_incomplete.reset();
    const std::shared_ptr<OpenedSession> opened = session ? std::exchange(m_pending, nullptr) : nullptr;
    if (opened && m_pendingLeftover) {
        const Leftover leftover = *std::exchange(m_pendingLeftover, nullptr);
        m_recovered = true;
        m_origin = leftover.of;
        if (!leftover.of.empty())
            m_suggested = leftover.of.parent_path() / (leftover.of.stem().string() + "-recovered.tidemark");
        m_autosave.adopt(leftover);
        std::erase_if(m_leftovers, [&](const Leftover& each) { return each.file == leftover.file; });
        m_autosave.release();
    } else if (opened) {
        m_located = std::exchange(m_opensLocated, false);
        m_file = opened->file;
        m_stamp = opened->stamp;
        m_keepCopy = !opened->problems.empty();
        m_work.recent.add(path());
        m_autosave.claim(m_file);
    } else {
        m_pending.reset();
        m_pendingLeftover.reset();
        m_autosave.release();
        offerBeside();
        offerLeftovers();
    }
    m_saved = SessionScene::made(m_scene.collect());
    if (opened) {
        m_incomplete = opened;
        tellMissing();
    }
    look();
    emit changed();
}

void SessionKeeper::settled(const QStringList& sentences)
{
    // What was put back is what the file holds, whatever it could not satisfy.
    if (!m_file.empty() && !m_modified)
        m_saved = SessionScene::made(m_scene.collect());
    QStringList all = sentences;
    if (m_incomplete)
        for (const std::string& problem : std::exchange(m_incomplete->problems, {}))
            all << shownText(problem);
    if (!all.isEmpty())
        tell(problems, all.join(QLatin1Char('\n')), Notice::Weight::Warning);
    look();
}

/// Whether something a user made is not saved.
void SessionKeeper::look()
{
    m_look.stop();
    const bool open = m_work.session.rank() != nullptr;
    const ReportChoices& report = m_scene.report();
    bool modified = false;
    if (m_recovered)
        modified = open;
    else if (m_file.empty())
        modified
            = open && (!m_work.notes.items().empty() || !report.title.empty() || !report.summary.empty());
    else if (m_scene.isSettled())
        modified = m_located || SessionScene::made(m_scene.collect()) != m_saved;
    else
        modified = m_located || m_modified || m_work.notes.items() != m_saved.annotations;
    if (!modified)
        m_afterEdit.stop();
    if (modified == m_modified)
        return;
    m_modified = modified;
    if (!modified) {
        m_every.stop();
        m_autosaved.reset();
        m_autosave.drop();
        m_notices.remove(QLatin1String(unsafe));
    } else if (!m_afterEdit.isActive()) {
        m_afterEdit.start();
    }
    emit changed();
}

void SessionKeeper::autosaveNow()
{
    m_afterEdit.stop();
    m_every.stop();
    look();
    if (!m_modified)
        return;
    report::SessionFile session = m_scene.collect();
    if (session == m_autosaved)
        return;
    m_autosave.write(session, m_file.empty() ? m_origin : m_file);
    m_autosaved = std::move(session);
}

} // namespace tidemark
