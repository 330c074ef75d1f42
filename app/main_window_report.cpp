// SPDX-License-Identifier: GPL-3.0-or-later
// The tab "Report" and the files written from it.
#include "app/job_loader.hpp"
#include "app/main_window.hpp"
#include "app/notice_bar.hpp"
#include "app/reporter.hpp"
#include "app/session_keeper.hpp"
#include "app/status_line.hpp"
#include "widgets/report/report_view.hpp"

#include <QFileDialog>
#include <QFileInfo>
#include <QScopedValueRollback>
#include <QTabWidget>

namespace tidemark {

void MainWindow::createReport()
{
    m_reporter = new Reporter(m_work, this);
    m_reporter->setJobSource([this] { return m_jobs ? m_jobs->job() : nullptr; });
    m_report = new ReportView(m_style, m_tabs);
    m_tabs->addTab(m_report, m_style.icon(QStringLiteral("report")), tr("Report"));
    m_report->setSource([this] { return m_reporter->input(); },
        [this](const report::PictureAsk& ask) { return m_reporter->draw(ask); });
    connect(m_reporter, &Reporter::inputChanged, m_report, &ReportView::inputChanged);
    connect(m_report, &ReportView::exportRequested, this, &MainWindow::exportReport);
    connect(m_report, &ReportView::copyMarkdownRequested, m_reporter,
        [this] { m_reporter->copyMarkdown(m_report->wish()); });
    connect(m_report, &ReportView::openFileRequested, &m_work.state, &ViewState::openFileRequested);
    connect(m_reporter, &Reporter::started, this,
        [this](const QString& activity) { m_status->setActivity(activity); });
    connect(m_reporter, &Reporter::failed, this, [this](const QString& sentence) {
        m_notices->put(QStringLiteral("report"),
            {tr("The report was not written: %1").arg(sentence), Notice::Weight::Error,
                {{tr("Export…"), [this] {
                      m_notices->remove(QStringLiteral("report"));
                      exportReport();
                  }}}});
    });
    connect(
        m_reporter, &Reporter::finished, this, [this](const QString& remark) { m_status->remark(remark); });
}

// A session keeps what the report is to say.
void MainWindow::connectReport()
{
    SessionScene& scene = m_keeper->scene();
    connect(m_report, &ReportView::wishChanged, this, [this, &scene] {
        const QScopedValueRollback guard(m_tellsReport, true); // what is being typed is not put back
        const report::ReportWish wish = m_report->wish();
        ReportChoices choices{wish.title, wish.summary, {}};
        if (wish.parts != report::allParts())
            for (const report::Part part : wish.parts)
                choices.parts.emplace_back(report::partName(part));
        scene.setReport(choices);
    });
    connect(&scene, &SessionScene::reportChanged, this, [this, &scene] {
        if (m_tellsReport)
            return;
        const ReportChoices& choices = scene.report();
        report::ReportWish wish = m_report->wish();
        wish.title = choices.title;
        wish.summary = choices.summary;
        wish.parts.clear();
        for (const std::string& name : choices.parts)
            if (const auto part = report::partFromName(name))
                wish.parts.push_back(*part);
        if (wish.parts.empty())
            wish.parts = report::allParts();
        m_report->setWish(wish);
    });
}

QString MainWindow::exportFolder() const
{
    const QString last = m_settings.get(setting::lastFolder);
    const auto rank = m_work.session.rank();
    if (!last.isEmpty() || !rank)
        return last;
    return QFileInfo(QString::fromStdString(rank->snapshot->source.path)).absolutePath();
}

void MainWindow::exportReport()
{
    const auto rank = m_work.session.rank();
    if (!rank)
        return;
    const QString name = QFileInfo(QString::fromStdString(rank->snapshot->source.path)).completeBaseName();
    QString filter;
    QString path = QFileDialog::getSaveFileName(this, tr("Export report"),
        exportFolder() + QStringLiteral("/%1-report").arg(name), Reporter::filters(), &filter);
    path = Reporter::withEnding(path, filter);
    if (!path.isEmpty())
        m_reporter->write(m_report->wish(), m_report->paper(), path);
}

} // namespace tidemark
