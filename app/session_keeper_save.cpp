// SPDX-License-Identifier: GPL-3.0-or-later
// Saving sessions, and asking before something is lost.
#include "app/session_keeper.hpp"

#include "widgets/style/text.hpp"

#include <QDir>
#include <QFileInfo>
#include <QMessageBox>
#include <QPushButton>

#include <utility>

namespace tidemark {

namespace fs = std::filesystem;

/// Where a session without a file would be saved.
fs::path SessionKeeper::suggestion() const
{
    if (!m_suggested.empty())
        return m_suggested;
    std::vector<fs::path> snapshots;
    for (const Files::Entry& entry : m_work.files.entries())
        snapshots.push_back(pathOf(QFileInfo(entry.path).absoluteFilePath()));
    fs::path path = sessionPathFor(snapshots);
    // The unpacked sample goes with the program.
    if (!snapshots.empty() && m_work.files.isSample(m_work.files.entries().front().path))
        path = pathOf(QDir::homePath()) / path.filename();
    return path;
}

void SessionKeeper::save()
{
    if (!m_work.session.rank())
        return;
    if (m_writing) {
        m_again = true;
        return;
    }
    if (!m_file.empty() && !m_elsewhere) {
        write(m_file, m_stamp, true);
        return;
    }
    const bool sample
        = !m_work.files.entries().empty() && m_work.files.isSample(m_work.files.entries().front().path);
    const fs::path file = suggestion();
    std::error_code ignored;
    // A session of somebody else's is not replaced unasked.
    if (!m_file.empty() || sample || fs::exists(file, ignored))
        saveAs();
    else
        write(file, std::string(), false);
}

void SessionKeeper::saveAs()
{
    if (!m_work.session.rank())
        return;
    const QString chosen = choose(Ask::Save, nameOf(m_file.empty() ? suggestion() : m_file));
    if (chosen.isEmpty()) {
        m_then = nullptr;
        return;
    }
    const fs::path file = pathOf(
        QFileInfo(isSessionPath(chosen) ? chosen : chosen + QStringLiteral(".tidemark")).absoluteFilePath());
    // The dialog has asked about replacing; what is open elsewhere is another window's.
    if (m_elsewhere && file == m_file) {
        m_then = nullptr;
        tell(saving,
            tr("%1 is open in another window, so it is not replaced from here.").arg(shownName(file)),
            Notice::Weight::Error, {{tr("Save as…"), [this] { saveAs(); }}});
        return;
    }
    write(file, std::nullopt, true);
}

/// `chosen`: by the user, not by default.
void SessionKeeper::write(const fs::path& file, std::optional<std::string> stamp, bool chosen)
{
    m_writing = true;
    SaveWish wish;
    wish.session = m_scene.collect();
    wish.file = file;
    wish.stamp = std::move(stamp);
    wish.keepCopy = m_keepCopy && file == m_file;
    run<Result<Saved>>([wish] { return saveSession(wish); },
        [this, file, asked = SessionScene::made(wish.session), chosen](
            Result<Saved>&& result) { written(file, asked, chosen, result); });
}

void SessionKeeper::written(
    const fs::path& file, const report::SessionFile& asked, bool chosen, const Result<Saved>& result)
{
    m_writing = false;
    const Notice::Action another{tr("Save as…"), [this] { saveAs(); }};
    if (result && !result->changedOnDisk) {
        const bool other = file != m_file;
        m_file = file;
        m_stamp = result->stamp;
        m_saved = asked;
        m_keepCopy = m_recovered = m_located = false;
        m_suggested.clear();
        m_origin.clear();
        m_notices.remove(QLatin1String(saving));
        m_notices.remove(QLatin1String(beside));
        if (other) {
            m_elsewhere = false;
            m_autosave.claim(m_file);
        }
        m_work.recent.add(path());
        look();
        emit changed();
        emit remarked(result->copy.empty() ? tr("Saved %1").arg(shownName(file))
                                           : tr("Saved %1; the damaged file is kept as %2")
                                                 .arg(shownName(file), shownName(result->copy)));
        if (std::exchange(m_again, false))
            save();
        else if (const Then then = std::exchange(m_then, nullptr))
            settleFirst(then); // something may have been edited since
        return;
    }
    m_again = false;
    if (result) {
        m_then = nullptr;
        tell(saving,
            tr("%1 has changed on disk since it was read; it was not replaced.").arg(shownName(file)),
            Notice::Weight::Error,
            {another, {tr("Replace it"), [this, file] { write(file, std::nullopt, true); }}});
        return;
    }
    tell(saving, shownText(result.error().message), Notice::Weight::Error, {another});
    emit remarked(tr("Not saved"));
    if (chosen) {
        m_then = nullptr;
        return;
    }
    // Nobody chose this place: another one is asked for.
    m_suggested = pathOf(QDir::homePath()) / file.filename();
    saveAs();
}

// ---- before something is lost

void SessionKeeper::settleFirst(Then then)
{
    look();
    if (m_writing) {
        m_then = std::move(then);
        return;
    }
    if (m_modified && !m_letGo)
        ask(std::move(then));
    else
        then();
}

void SessionKeeper::ask(Then then)
{
    if (m_prompt) {
        m_prompt->raise();
        return;
    }
    auto* const box = new QMessageBox(QMessageBox::Question, tr("Tidemark"), tr("Save the session?"),
        QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, &m_window);
    m_prompt = box;
    const auto notes = static_cast<std::uint64_t>(m_work.notes.items().size());
    QString lost = m_file.empty() ? QString() : tr("%1 has changed. ").arg(shownName(m_file));
    if (m_recovered)
        lost = tr("What was recovered is in no file yet. ");
    lost += notes == 1 ? tr("There is one note.") : tr("There are %1 notes.").arg(countText(notes));
    box->setInformativeText(lost);
    box->button(QMessageBox::Discard)->setText(tr("Don’t save"));
    box->setDefaultButton(QMessageBox::Save);
    box->setAttribute(Qt::WA_DeleteOnClose);
    connect(box, &QMessageBox::finished, this, [this, then](int button) { answered(button, then); });
    box->open();
}

void SessionKeeper::answered(int button, const Then& then)
{
    m_prompt = nullptr;
    if (button == QMessageBox::Discard) {
        m_letGo = true;
        then();
        // Where nothing came of it, what is there may be edited and is asked about again.
        if (!m_work.loader.isLoading() && !isBusy() && m_window.isVisible())
            m_letGo = false;
    } else if (button == QMessageBox::Save) {
        m_then = then;
        save();
    }
}

bool SessionKeeper::mayClose()
{
    look();
    if (!m_writing && (!m_modified || m_letGo))
        return true;
    settleFirst([this] { m_window.close(); });
    return false;
}

} // namespace tidemark
