// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dock_title.hpp"
#include "app/main_window.hpp"
#include "app/range_dialog.hpp"
#include "app/session_keeper.hpp"
#include "app/strip_figures.hpp"
#include "model/snapshot/outside_range.hpp"

#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>

#include <algorithm>

namespace tidemark {

void MainWindow::openPart(QString path)
{
    const auto rank = m_work.session.rank();
    const auto current = m_work.files.current();
    const auto choose = [this] {
        return QFileDialog::getOpenFileName(
            this, tr("Open a part of a snapshot"), m_settings.get(setting::lastFolder), tr("All files (*)"));
    };
    if (path.isEmpty() && rank && current)
        path = m_work.files.entries()[*current].path;
    if (path.isEmpty())
        path = choose();
    if (path.isEmpty())
        return;
    if (m_rangeDialog == nullptr) {
        m_rangeDialog = new RangeDialog(m_style, this);
        connect(m_rangeDialog, &RangeDialog::chosen, this,
            [this](const QString& file, const ReadOptions& options) { open({file}, options); });
        connect(m_rangeDialog, &RangeDialog::otherFileRequested, this, [this, choose] {
            if (const QString other = choose(); !other.isEmpty())
                m_rangeDialog->ask(RangeDialog::fileOf(other), {});
        });
    }
    RangeDialog::File file = RangeDialog::fileOf(path);
    ReadOptions options;
    if (rank && current && m_work.files.entries()[*current].path == path) {
        options = m_work.files.options();
        std::uint64_t events = 0;
        for (const DeviceTrace& device : rank->snapshot->devices)
            events = std::max<std::uint64_t>(
                events, device.outside ? device.outside->eventsInFile : device.events.count());
        file.events = events;
        file.counted = true;
    }
    m_rangeDialog->ask(file, options);
}

// Every view says that it shows a part only, not the summary alone.
void MainWindow::showPartNote()
{
    const auto replay = m_work.session.replay();
    const bool part = replay && replay->note(Quality::EventRange) != nullptr;
    const QString text = part ? partText(replay->device()) : QString();
    for (QDockWidget* dock : findChildren<QDockWidget*>()) {
        dock->setProperty(DockTitle::partProperty, text);
        if (QWidget* const title = dock->titleBarWidget())
            title->update();
    }
}

} // namespace tidemark
