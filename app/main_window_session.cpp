// SPDX-License-Identifier: GPL-3.0-or-later
// Session files in the window.
#include "app/job_loader.hpp"
#include "app/main_window.hpp"
#include "app/session_keeper.hpp"
#include "app/status_line.hpp"
#include "widgets/compare/compare_view.hpp"
#include "widgets/findings/sandbox_view.hpp"
#include "widgets/notes/note_editor.hpp"
#include "widgets/ranks/ranks_view.hpp"
#include "widgets/report/report_view.hpp"

#include <QTabWidget>

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
    SessionScene& scene = m_keeper->scene();
    scene.setFront([this] {
        const QWidget* front = m_tabs->currentWidget();
        return std::string(front == m_compare ? "compare"
                : front == m_report           ? "report"
                : front == m_ranks            ? "ranks"
                                              : "timeline");
    });
    connect(m_tabs, &QTabWidget::currentChanged, &scene, &SessionScene::moved);
    connect(&scene, &SessionScene::frontWanted, this, [this](const QString& view) {
        m_front = view;
        showFront(view);
    });
    // Fixes that a session has ticked are drawn while the sandbox is open.
    connect(&m_keeper->scene(), &SessionScene::sandboxWanted, this,
        [this] { m_layout->dockOf(m_sandbox)->show(); });
}

void MainWindow::showFront(const QString& view)
{
    if (view == QStringLiteral("compare"))
        showTab(m_compare);
    else if (view == QStringLiteral("report"))
        showTab(m_report);
    else if (view == QStringLiteral("ranks") && m_tabs->indexOf(m_ranks) >= 0)
        showTab(m_ranks);
    else if (view == QStringLiteral("timeline"))
        showTimelineTab();
}

} // namespace tidemark
