// SPDX-License-Identifier: GPL-3.0-or-later
// Session files in the window.
#include "app/job_loader.hpp"
#include "app/main_window.hpp"
#include "app/session_keeper.hpp"
#include "app/status_line.hpp"
#include "widgets/findings/sandbox_view.hpp"
#include "widgets/notes/note_editor.hpp"

namespace tidemark {

void MainWindow::createSessionCommands()
{
    Commands& c = *m_commands;
    c.add(
        "session.open", tr("Open sess&ion…"), "open", {"Ctrl+Alt+S"}, [this] { m_keeper->chooseAndOpen(); });
    c.add("session.save", tr("Sa&ve session"), "save", {"Ctrl+S"}, [this] {
        NoteEditor::keepAll(*this);
        m_keeper->save();
    });
    c.add("session.saveAs", tr("Save session &as…"), "save", {"Ctrl+Shift+S"}, [this] {
        NoteEditor::keepAll(*this);
        m_keeper->saveAs();
    });
}

void MainWindow::connectSession()
{
    m_keeper = std::make_unique<SessionKeeper>(m_work, *m_sandbox, *m_notices, m_settings, *this);
    connect(m_keeper.get(), &SessionKeeper::changed, this, &MainWindow::showTitle);
    connect(m_keeper.get(), &SessionKeeper::remarked, m_status, &StatusLine::remark);
    connect(&m_keeper->scene(), &SessionScene::begun, this, [this](bool session) {
        if (!session)
            return;
        m_jobPaths.clear();
        QStringList paths;
        for (const Files::Entry& entry : m_work.files.entries())
            paths << entry.path;
        if (paths.size() > 1)
            m_jobs->start(jobWish(paths, {}));
        else
            dropJob();
    });
    // Fixes that a session has ticked are drawn while the sandbox is open.
    connect(&m_keeper->scene(), &SessionScene::sandboxWanted, this,
        [this] { m_layout->dockOf(m_sandbox)->show(); });
}

} // namespace tidemark
