// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/autosave.hpp"
#include "app/notice_bar.hpp"
#include "app/session_scene.hpp"
#include "app/session_store.hpp"

#include <QObject>
#include <QPointer>
#include <QStringList>
#include <QThreadPool>
#include <QTimer>

#include <functional>
#include <memory>
#include <optional>

class QMessageBox;

namespace tidemark {

/// The session file of a window: opening and saving it, asking before something would be lost, the autosave,
/// and what is told about all that. Files are read and written on a thread of its own. GUI thread; the
/// destructor waits for what is being written.
class SessionKeeper : public QObject {
    Q_OBJECT
public:
    /// What a file dialog is opened for.
    enum class Ask { Open, Save, Locate };
    using Chooser = std::function<QString(Ask, const QString& suggested)>;
    struct Times {
        int afterEditMs = 2000; ///< until what was edited is autosaved
        int everyMs = 10000; ///< between autosaves while something changes
    };

    SessionKeeper(
        Workspace& workspace, SandboxView& sandbox, NoticeBar& notices, Settings& settings, QWidget& window);
    ~SessionKeeper() override;

    /// Snapshots and folders, or one session file. Asks first when something would be lost, as do the next
    /// ones.
    void open(const QStringList& paths, const ReadOptions& options = {});
    void openPartially(const QString& path);
    void openSample();
    void close();
    /// By the file dialog.
    void chooseAndOpen();
    void save();
    void saveAs();
    /// False: it was asked whether to save, and the window is closed when that is answered.
    bool mayClose();

    /// The session file in force; "" for none.
    QString path() const { return m_file.empty() ? QString() : nameOf(m_file); }
    /// Something a user made is not saved.
    bool isModified() const { return m_modified; }
    /// Files are being read or written.
    bool isBusy() const { return m_running > 0; }
    /// For the window's title, with "[*]": "run.pickle", "run.pickle · NAME.tidemark[*]".
    QString titleOf(const QString& snapshot) const;
    /// "Save the session?", while it is asked.
    QMessageBox* prompt() const { return m_prompt; }
    SessionScene& scene() { return m_scene; }
    Autosave& autosave() { return m_autosave; }

    void setChooser(Chooser chooser) { m_chooser = std::move(chooser); }
    void setTimes(const Times& times);

    /// Names of notices.
    static constexpr const char* openNotice = "open"; ///< a session cannot be opened
    static constexpr const char* beside = "beside"; ///< a session lies beside the snapshot
    static constexpr const char* problems = "problems"; ///< what could not be read or put back
    static constexpr const char* missing = "missing"; ///< snapshots that are not found
    static constexpr const char* saving = "saving"; ///< what went wrong when saving
    static constexpr const char* elsewhere = "elsewhere"; ///< open in another window
    static constexpr const char* unsafe = "unsafe"; ///< the autosave fails

signals:
    /// path() or isModified().
    void changed();
    /// A short remark for the status line.
    void remarked(const QString& text);

private:
    using Then = std::function<void()>;
    template <typename Answer>
    void run(std::function<Answer()> work, std::function<void(Answer&&)> done);

    // session_keeper.cpp
    void settleFirst(Then then);
    void ask(Then then);
    void answered(int button, const Then& then);
    void write(const std::filesystem::path& file, std::optional<std::string> stamp, bool chosen);
    void written(const std::filesystem::path& file, const report::SessionFile& asked, bool chosen,
        const Result<Saved>& result);
    std::filesystem::path suggestion() const;
    void begun(bool session);
    void settled(const QStringList& sentences);
    void look();
    void autosaveNow();
    QString choose(Ask purpose, const QString& suggested);

    // session_keeper_open.cpp
    void openFile(const std::filesystem::path& file, std::shared_ptr<Leftover> leftover);
    void opened(std::shared_ptr<OpenedSession> session, std::shared_ptr<Leftover> leftover);
    void recover(const Leftover& leftover);
    void letGo(const Leftover& leftover);
    void tellMissing();
    void locate(std::size_t input, bool inForce);
    void located(std::size_t input, const std::filesystem::path& path, bool same);
    static QString differs(const std::filesystem::path& path);
    void offerBeside();
    void offerLeftovers();
    void tell(const char* name, const QString& sentence, Notice::Weight weight,
        std::vector<Notice::Action> actions = {}, std::function<void()> dismissed = {});

    Workspace& m_work;
    NoticeBar& m_notices;
    Settings& m_settings;
    QWidget& m_window;
    SessionScene m_scene;
    Autosave m_autosave;
    Chooser m_chooser;

    std::filesystem::path m_file;
    std::string m_stamp; ///< of m_file, as read or written last
    std::filesystem::path m_suggested; ///< for a session that has no file yet; may be empty
    std::filesystem::path m_origin; ///< of what was recovered: the session it is a later state of
    bool m_keepCopy = false; ///< of a broken m_file, before it is replaced
    bool m_elsewhere = false; ///< m_file is open in another window
    bool m_recovered = false; ///< differs from any file, until it is saved
    bool m_located = false; ///< a snapshot is where m_file does not say
    report::SessionFile m_saved; ///< made() of what m_file holds
    bool m_modified = false;
    std::optional<report::SessionFile> m_autosaved; ///< as written last

    /// Being opened: takes force when its snapshot is there.
    std::shared_ptr<OpenedSession> m_pending;
    std::shared_ptr<Leftover> m_pendingLeftover;
    bool m_opensLocated = false; ///< m_pending has m_located
    /// In force, while some of its snapshots are missing.
    std::shared_ptr<OpenedSession> m_incomplete;
    std::vector<Leftover> m_leftovers;

    QPointer<QMessageBox> m_prompt;
    Then m_then; ///< to go on with when the session is saved
    bool m_letGo = false; ///< what is not saved is not wanted
    bool m_again = false; ///< save once more
    bool m_writing = false;
    int m_running = 0;
    QTimer m_look;
    QTimer m_afterEdit;
    QTimer m_every;
    QThreadPool m_pool; // last: waited for first
};

template <typename Answer>
void SessionKeeper::run(std::function<Answer()> work, std::function<void(Answer&&)> done)
{
    ++m_running;
    m_pool.start([this, work = std::move(work), done = std::move(done)] {
        auto answer = std::make_shared<Answer>(work());
        QMetaObject::invokeMethod(
            this,
            [this, answer, done] {
                --m_running;
                done(std::move(*answer));
            },
            Qt::QueuedConnection);
    });
}

} // namespace tidemark
