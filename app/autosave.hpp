// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/session_places.hpp"
#include "model/core/result.hpp"
#include "model/report/session_file.hpp"

#include <QDateTime>
#include <QLockFile>
#include <QObject>
#include <QThreadPool>

#include <functional>
#include <memory>
#include <vector>

namespace tidemark {

/// What a program that died had not saved. Its lock is held while this lives: no other window offers it.
struct Leftover {
    std::filesystem::path file;
    std::filesystem::path of; ///< the session it is a later state of; empty: one that was never saved
    QString snapshot; ///< name of the first one
    std::size_t notes = 0;
    QDateTime written;
    QString problem; ///< why it cannot be read; empty when it can
    std::shared_ptr<QLockFile> lock;
};

/// Keeps what is not saved in a file of its own, ID.tidemark in `folder`, beside a lock that ends with the
/// program. The user's files are never touched. All file work is done on one thread, in the order asked for;
/// signals come on the GUI thread, where everything is called. The destructor waits for the disk.
class Autosave : public QObject {
    Q_OBJECT
public:
    explicit Autosave(QString folder, QObject* parent = nullptr);
    /// Leaves the file, for the next start, unless drop() came last.
    ~Autosave() override;

    /// `of`: where the user keeps it; empty: nowhere yet. Paths in `session` are absolute.
    void write(report::SessionFile session, const std::filesystem::path& of);
    /// There is nothing to recover any more.
    void drop();
    /// Looks for files of programs that are gone; answers with found().
    void look();
    /// Goes on in that file instead of an own one.
    void adopt(const Leftover& leftover);
    /// Its file and lock are removed.
    static void discard(const Leftover& leftover);

    /// Marks a session file as open here; answers with claimed(). Another one is let go.
    void claim(const std::filesystem::path& session);
    void release();

    /// Where the own file lies.
    std::filesystem::path file() const;

signals:
    void written();
    /// One sentence.
    void failed(const QString& sentence);
    void found(const std::vector<tidemark::Leftover>& leftovers);
    /// False: another window has it open.
    void claimed(bool alone);

private:
    void start(std::function<void()> work);

    QString m_folder;
    QString m_id;
    // Of the thread of the pool:
    std::shared_ptr<QLockFile> m_lock;
    std::unique_ptr<QLockFile> m_claim;
    QThreadPool m_pool;
};

/// The session path and whether an autosave is one; removed from what is kept.
std::filesystem::path takeOrigin(report::SessionFile& session);

} // namespace tidemark
