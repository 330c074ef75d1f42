// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of views: saved or copied as they are on screen.
#include "app/main_window.hpp"
#include "app/picture_window.hpp"
#include "app/status_line.hpp"
#include "widgets/compare/compare_view.hpp"
#include "widgets/details/details_view.hpp"
#include "widgets/events/events_view.hpp"
#include "widgets/findings/findings_view.hpp"
#include "widgets/findings/sandbox_view.hpp"
#include "widgets/growth/growth_view.hpp"
#include "widgets/live/live_table_view.hpp"
#include "widgets/oom/oom_view.hpp"
#include "widgets/results/results_view.hpp"
#include "widgets/segments/segment_map_view.hpp"
#include "widgets/segments/segment_table_view.hpp"
#include "widgets/timeline/timeline_view.hpp"
#include "widgets/tree/call_tree_view.hpp"
#include "widgets/tree/flame_view.hpp"

#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QFileInfo>

namespace tidemark {

std::vector<PictureSource> MainWindow::pictureSources() const
{
    std::vector<PictureSource> sources;
    if (!m_work.session.rank())
        return sources;
    PictureSource timeline{tr("Timeline"), QStringLiteral("timeline"), m_timeline, {}, {}};
    timeline.paintOn = [view = m_timeline](QPaintDevice& device, QSize size, double scale,
                           const std::function<void(QPainter&)>& above,
                           int height) { view->renderTo(device, size, scale, above, height); };
    if (m_timeline->isVisible())
        sources.push_back(std::move(timeline));
    const auto add = [&](const QString& name, const char* id, QWidget* view,
                         std::function<void(QPainter&, double)> paint = {}) {
        if (view->isVisible())
            sources.push_back({name, QString::fromLatin1(id), view, std::move(paint), {}});
    };
    add(tr("Out of memory"), "oom", m_oom);
    add(tr("Compare"), "compare", m_compare);
    add(tr("Segment map"), "segments", m_map,
        [view = m_map](QPainter& painter, double ratio) { view->renderTo(painter, ratio); });
    add(tr("Live allocations"), "live", m_live);
    add(tr("Call tree"), "tree", m_tree);
    add(tr("Flame"), "flame", m_flame,
        [view = m_flame](QPainter& painter, double ratio) { view->renderTo(painter, ratio); });
    add(tr("Events"), "events", m_events);
    add(tr("Segments"), "segment-table", m_segmentTable);
    add(tr("Growth"), "growth", m_growth);
    add(tr("Results"), "results", m_results);
    add(tr("Findings"), "findings", m_findings);
    add(tr("Details"), "details", m_details);
    add(tr("Fix sandbox"), "sandbox", m_sandbox);
    return sources;
}

// The view with the focus, else the page in front.
QString MainWindow::pictureInFront() const
{
    const std::vector<PictureSource> sources = pictureSources();
    for (const QWidget* widget = QApplication::focusWidget(); widget; widget = widget->parentWidget())
        for (const PictureSource& source : sources)
            if (source.view == widget)
                return source.id;
    return sources.empty() ? QString() : sources.front().id;
}

void MainWindow::createPictures()
{
    m_picture = new PictureWindow([this] { return pictureSources(); },
        [this] { return PictureTitle::of(m_work.session, m_work.state.cursor()); }, m_style, this);
    connect(m_picture, &PictureWindow::copied, this, [this] { m_status->remark(tr("Copied as a picture")); });
    connect(m_picture, &PictureWindow::saveRequested, this, [this](const QString& id) {
        const QString name = QFileInfo(QString::fromStdString(m_work.session.rank()->snapshot->source.path))
                                 .completeBaseName();
        const QString path = QFileDialog::getSaveFileName(m_picture, tr("Save picture"),
            exportFolder() + QStringLiteral("/%1-%2.png").arg(name, id),
            tr("PNG picture (*.png);;SVG picture (*.svg)"));
        if (path.isEmpty())
            return;
        const QString problem = m_picture->save(path);
        m_status->remark(problem.isEmpty() ? tr("Saved %1").arg(QFileInfo(path).fileName()) : problem);
    });
}

void MainWindow::copyPicture()
{
    const QString id = pictureInFront();
    for (const PictureSource& source : pictureSources())
        if (source.id == id) {
            const PictureTitle title = PictureTitle::of(m_work.session, m_work.state.cursor());
            constexpr double copyScale = 2;
            QGuiApplication::clipboard()->setImage(pictureOf(source, m_style, &title, copyScale));
            m_status->remark(tr("%1 copied as a picture").arg(source.name));
        }
}

} // namespace tidemark
