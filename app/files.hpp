// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/loader.hpp"
#include "app/recent_files.hpp"
#include "widgets/session.hpp"
#include "widgets/view_state.hpp"

#include <QObject>
#include <QString>
#include <QTemporaryDir>

#include <memory>
#include <optional>
#include <vector>

namespace tidemark {

/// Why a file is not on screen, for the banner.
struct FileProblem {
    QString path;
    QString sentence;
    /// Reading what is there before the fault may show something.
    bool canOpenPartially = false;
    /// There was too little memory for all of it: a range of its events may fit.
    bool canOpenRange = false;
};

/// The files the user opened together and which of them is shown: opening, switching, reloading, closing, and
/// what went wrong. Whatever is on screen stays until a new file is complete. GUI thread.
class Files : public QObject {
    Q_OBJECT
public:
    struct Entry {
        QString path;
        /// One sentence; empty while nothing is known to be wrong.
        QString problem;
        /// Whether it records an out-of-memory event; absent until it was read.
        std::optional<bool> outOfMemory;
    };

    Files(Session& session, ViewState& state, Loader& loader, RecentFiles& recent, QObject* parent = nullptr);

    /// Files and folders that belong together; shows the first that can be read.
    void open(const QStringList& paths, const ReadOptions& options = {});
    /// Exactly these files, which may be gone; shows the one at `first`, or the next that can be read.
    void openList(const QStringList& files, std::size_t first, const ReadOptions& options = {});
    /// One of entries() was found elsewhere.
    void relocate(std::size_t index, const QString& path);
    /// Shows another one of entries().
    void show(std::size_t index);
    void reload();
    /// Opens what can be read of a truncated or damaged file.
    void openPartially(const QString& path);
    /// As the open files were asked for: a range of events, damaged ones as far as they go.
    const ReadOptions& options() const { return m_options; }
    void openSample();
    static bool hasSample();
    /// The bundled file as it was unpacked: gone when the program ends.
    bool isSample(const QString& path) const;
    /// Unpacks it when `path` has its name; "" when it has not, or that fails.
    QString sampleFor(const QString& path);
    /// One more that belongs to the others; not shown yet. Its index in entries().
    std::size_t add(const QString& path);
    /// Back to the start page.
    void close();
    void setDevice(std::size_t deviceIndex);

    const std::vector<Entry>& entries() const { return m_entries; }
    /// The one on screen; none while what is on screen is not of entries().
    std::optional<std::size_t> current() const { return m_former ? std::nullopt : m_current; }
    const std::optional<FileProblem>& problem() const { return m_problem; }
    void dismissProblem();

signals:
    /// entries() or current() changed.
    void listChanged();
    void problemChanged();
    /// By close().
    void closed();
    /// The user has stated the size of the card of the file on screen.
    void cardSizeGiven(std::optional<std::uint64_t> bytes);

private:
    QString unpackSample();
    void dropLoad();
    void replaceEntries(const QStringList& files);
    void load(std::size_t index, const ReadOptions& options, bool reload);
    void loaded(const LoadRequest& request, const std::shared_ptr<const Rank>& rank);
    void failed(const LoadRequest& request, const Error& error);
    std::optional<std::uint64_t> cardSizeOf(const QString& path) const;
    void setProblem(std::optional<FileProblem> problem);

    Session& m_session;
    ViewState& m_state;
    Loader& m_loader;
    RecentFiles& m_recent;
    std::vector<Entry> m_entries;
    std::optional<std::size_t> m_current;
    /// Of the file on screen, whatever is being loaded.
    QString m_shownPath;
    /// Being read; becomes current when it succeeds.
    std::size_t m_wanted = 0;
    /// On failure the next file is tried, round to this one: the user asked for all of them, not for one.
    bool m_tryNext = false;
    std::size_t m_firstTried = 0;
    /// As the user asked for when opening; kept for reload and for the other files.
    ReadOptions m_options;
    /// Entries to put back when what replaces them cannot be read.
    std::optional<std::pair<std::vector<Entry>, std::size_t>> m_former;
    std::optional<FileProblem> m_problem;
    std::unique_ptr<QTemporaryDir> m_sampleFolder;
};

} // namespace tidemark
