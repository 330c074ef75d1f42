// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/main_window.hpp"
#include "app/short_names.hpp"
#include "app/status_line.hpp"
#include "app/version.hpp"
#include "widgets/style/text.hpp"
#include "widgets/timeline/timeline_view.hpp"
#include "widgets/tree/tree_source.hpp"

#include <QClipboard>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QLabel>
#include <QMenuBar>
#include <QPlainTextEdit>
#include <QSaveFile>
#include <QVBoxLayout>

namespace tidemark {

namespace {

/// Names of commands in menu order; "" is a separator.
using Entries = std::initializer_list<const char*>;

} // namespace

void MainWindow::createMenus()
{
    const auto fill = [this](QMenu* menu, Entries entries) {
        for (const char* id : entries) {
            if (*id)
                menu->addAction((*m_commands)[id]);
            else
                menu->addSeparator();
        }
        return menu;
    };
    QMenu* file = fill(menuBar()->addMenu(tr("&File")), {"file.open", "file.openFolder", "file.openPart"});
    m_recentMenu = file->addMenu(tr("Open rec&ent"));
    fill(file,
        {"file.sample", "", "session.open", "session.save", "session.saveAs", "", "file.reload",
            "file.cardSize", "file.runSettings", "file.labelRules", "", "file.report", "file.picture", "",
            "file.close", "file.quit"});
    fill(menuBar()->addMenu(tr("&Edit")),
        {"edit.undoFilter", "edit.redoFilter", "", "edit.copy", "edit.copyPicture", "", "edit.filter",
            "edit.nextMatch", "edit.previousMatch", "edit.clearFilter", "edit.deselect", "", "edit.palette",
            "edit.settings"});

    QMenu* view = fill(menuBar()->addMenu(tr("&View")),
        {"view.zoomIn", "view.zoomOut", "view.panLeft", "view.panRight", "view.pageLeft", "view.pageRight",
            "view.fit", "view.zoomSelection", "view.zoomRange", "view.fitY", ""});
    QMenu* colour = view->addMenu(tr("&Colour by"));
    fill(colour, {"view.cycleColour", ""});
    for (int by = 0; by <= static_cast<int>(ColourBy::Role); ++by)
        colour->addAction(
            (*m_commands)[(QByteArrayLiteral("view.colour.") + QByteArray::number(by)).constData()]);
    fill(view,
        {"view.timeAxis", "view.stepsAxis", "view.stackByGroup", "view.lanes", "view.hideFrames",
            "view.rawSites", ""});
    fill(view->addMenu(tr("T&heme")), {"look.system", "look.light", "look.dark"});
    fill(view->addMenu(tr("Text &size")), {"look.larger", "look.smaller", "look.normal"});
    fill(view, {"look.fullScreen", "look.reset"});

    fill(menuBar()->addMenu(tr("&Go")),
        {"go.peak", "go.nextPeak", "go.previousPeak", "go.oom", "", "go.nextStep", "go.previousStep", "",
            "go.nextEvent", "go.previousEvent", "go.extendRight", "go.extendLeft", "go.nextOfSite",
            "go.previousOfSite", "", "go.to", "", "go.back", "go.forward"});
    fill(menuBar()->addMenu(tr("&Analyze")),
        {"findings.next", "findings.previous", "findings.show", "findings.go", "", "window.findings",
            "window.sandbox", "window.oom", "window.playbook", "", "compare.open", "compare.range",
            "compare.swap", "compare.several", "window.compare", "", "analyze.oomText"});
    fill(menuBar()->addMenu(tr("&Tools")),
        {"tools.pointer", "tools.ruler", "tools.note", "tools.box", "tools.arrow", "", "notes.pin",
            "notes.delete"});
    fill(menuBar()->addMenu(tr("&Window")),
        {"window.ranks", "window.timeline", "window.segments", "window.live", "window.tree", "window.flame",
            "window.events", "window.segmentTable", "window.growth", "window.results", "window.details",
            "window.notes", "window.findings", "window.sandbox", "", "window.oom", "window.report",
            "window.playbook", "", "window.nextPane", "window.previousPane"});
    fill(menuBar()->addMenu(tr("&Help")),
        {"help.contents", "help.keys", "help.record", "help.numbers", "", "help.about", "help.licence"});
}

void MainWindow::fillRecentMenu()
{
    m_recentMenu->clear();
    QStringList paths;
    for (const RecentFiles::Entry& entry : m_work.recent.entries())
        paths << entry.path;
    QStringList names = shortNames(paths);
    for (const RecentFiles::Entry& entry : m_work.recent.entries()) {
        const QFileInfo info(entry.path);
        QString text = names.takeFirst();
        text.replace(QLatin1Char('&'), QStringLiteral("&&"));
        QAction* action = m_recentMenu->addAction(text, this, [this, path = entry.path] { open({path}); });
        action->setToolTip(entry.path);
        action->setStatusTip(entry.path);
        action->setEnabled(info.exists());
    }
    m_recentMenu->setToolTipsVisible(true);
    m_recentMenu->setEnabled(!m_work.recent.entries().empty());
}

void MainWindow::saveFolded(const TreeSource& source)
{
    const auto tree = source.tree();
    if (!tree)
        return;
    const QString name
        = QFileInfo(QString::fromStdString(m_work.session.rank()->snapshot->source.path)).completeBaseName();
    const QString path = QFileDialog::getSaveFileName(this, tr("Save folded stacks"),
        exportFolder() + QStringLiteral("/%1-stacks.txt").arg(name), tr("Folded stacks (*.txt *.folded)"));
    if (path.isEmpty())
        return;
    QSaveFile file(path);
    const std::string stacks = tree->folded();
    const bool saved = file.open(QIODevice::WriteOnly)
        && file.write(stacks.data(), static_cast<qint64>(stacks.size())) == static_cast<qint64>(stacks.size())
        && file.commit();
    m_status->remark(saved ? tr("Saved %1").arg(QFileInfo(path).fileName())
                           : tr("%1 cannot be written: %2").arg(path, file.errorString()));
}

void MainWindow::copySelection()
{
    const Selection& selection = m_work.state.selection();
    const auto replay = m_work.session.replay();
    if (!replay)
        return;
    QString text;
    if (selection.kind == Selection::Kind::Allocation) {
        const AllocationId id = selection.allocation;
        const AllocationColumns& a = replay->timeline.allocations();
        const auto end = replay->timeline.endEvent(id);
        text = QStringList{
            shownText(allocationSite(*replay, *m_work.session.sites(), id)),
            exactBytesText(a.size[index(id)]),
            addressText(a.address[index(id)]),
            m_work.navigator.stateText(a.firstState[index(id)]),
            end ? m_work.navigator.stateText(stateOf(static_cast<Moment>(index(*end))))
                : tr("alive at the end of the file"),
        }
                   .join(QLatin1Char('\t'));
    } else if (selection.kind == Selection::Kind::Group) {
        text = shownText(m_work.session.grouping(selection.groupBy)->name(selection.group));
    } else if (selection.kind == Selection::Kind::Set) {
        text = selection.set->name;
    } else if (selection.kind != Selection::Kind::None) {
        text = addressText(selection.address) + QLatin1Char('\t') + exactBytesText(selection.size);
    }
    if (text.isEmpty())
        return;
    QGuiApplication::clipboard()->setText(text);
    m_status->remark(tr("Copied"));
}

void MainWindow::showAbout()
{
    auto* dialog = new QDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("About Tidemark"));
    auto* text = new QLabel(
        tr("<h3>Tidemark %1</h3>"
           "<p>Where every byte of GPU memory went, at every moment of a PyTorch run.</p>"
           "<p>Free software under the GNU General Public License, version 3 or later; it comes without any "
           "warranty.</p>"
           "<p>Built with Qt %2, QCustomPlot, JSON for Modern C++, Zstandard, zlib and yaml-cpp.</p>"
           "<p>It reads the files you open and nothing else, and it sends nothing anywhere.</p>")
            .arg(QLatin1String(versionText()), QLatin1String(qVersion())),
        dialog);
    text->setWordWrap(true);
    text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
    connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::close);
    auto* layout = new QVBoxLayout(dialog);
    layout->addWidget(text, 1);
    layout->addWidget(buttons);
    dialog->resize(m_style.metrics().px(460), m_style.metrics().px(260));
    dialog->show();
}

void MainWindow::showLicence()
{
    auto* dialog = new QDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Licences – Tidemark"));
    auto* text = new QPlainTextEdit(dialog);
    text->setReadOnly(true);
    text->setFont(m_style.font(FontRole::Fixed));
    QString content
        = tr("Tidemark: GPL-3.0-or-later, the text below.\n"
             "Qt: LGPL-3.0 · QCustomPlot: GPL-3.0-or-later · JSON for Modern C++, yaml-cpp: MIT · "
             "Zstandard: BSD-3-Clause · zlib: Zlib\n\n");
    QFile file(QStringLiteral(":/LICENSE"));
    if (file.open(QIODevice::ReadOnly | QIODevice::Text))
        content += QString::fromUtf8(file.readAll());
    text->setPlainText(content);
    auto* layout = new QVBoxLayout(dialog);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(text);
    dialog->resize(m_style.metrics().px(720), m_style.metrics().px(600));
    dialog->show();
}

} // namespace tidemark
