// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/workspace.hpp"
#include "model/report/session_file.hpp"

#include <QObject>
#include <QStringList>

#include <functional>
#include <optional>
#include <utility>

namespace tidemark {

class SandboxView;

/// What the report is to say, and which parts it has (by partName; empty: the usual ones).
struct ReportChoices {
    std::string title;
    std::string summary;
    std::vector<std::string> parts;
    bool operator==(const ReportChoices&) const = default;
};

/// What is looked at, as a session file keeps it: read off the window's state, and put back there. Putting
/// back takes a while: files are loaded, causes are looked for. GUI thread; costs nothing worth telling.
class SessionScene : public QObject {
    Q_OBJECT
public:
    SessionScene(Workspace& workspace, SandboxView& sandbox, Settings& settings, QObject* parent = nullptr);

    /// Everything of what is open, with absolute paths. What was not put back yet is as it will be.
    report::SessionFile collect() const;
    /// Parts that a user made, without those that only say where one looks.
    static report::SessionFile made(report::SessionFile session);

    /// Opens the files of a session (absolute paths), `first` or the next that can be read, and puts
    /// everything else back once it is there; until then, and when none can be read, what is open stays.
    void open(report::SessionFile session, std::size_t first);
    /// What `open` makes Files load begins anew: no notes.
    void openFresh(const std::function<void()>& open);
    /// Shows a file of the session that was missing, with the session's place in it.
    void located(std::size_t input, const QString& path);

    /// Names what is in front (SessionFile::view).
    void setFront(std::function<std::string()> front) { m_front = std::move(front); }

    bool isSettled() const { return !m_expected && !m_diagnosisAwaited && !m_compareAwaited; }
    /// The session says where to look in the file that is open.
    bool hasPlace() const { return m_hasPlace; }

    const ReportChoices& report() const { return m_report; }
    void setReport(const ReportChoices& choices);

signals:
    /// Files were opened that are no session; or those of the session, which is now in force.
    void begun(bool session);
    /// Nothing came of open() or openFresh().
    void abandoned();
    /// Everything is put back; a sentence for all that could not be.
    void settled(const QStringList& sentences);
    /// Something of made() may be another.
    void edited();
    /// Something else may be another.
    void moved();
    void reportChanged();
    /// Fixes are ticked: where they are shown is to be seen.
    void sandboxWanted();
    /// This was in front, by SessionFile::view.
    void frontWanted(const QString& view);

private:
    void connectSources();
    void loaded(const LoadRequest& request);
    void load(const std::function<void()>& open);
    void over();
    void begin();
    void putBack();
    void putSettings();
    void putPlace();
    void putWindow();
    void putComparison();
    void putDiagnosed();
    void forgetSettings();
    void checkNotes();
    void settleMaybe();

    void collectInputs(report::SessionFile& session) const;
    void collectPlace(report::SessionFile& session) const;
    void collectFixes(report::SessionFile& session) const;

    std::optional<StateIndex> stateOf(std::int64_t event) const;
    std::int64_t eventOf(StateIndex state) const;
    /// First and last state of the window.
    std::pair<StateIndex, StateIndex> shownStates() const;
    bool atPlace() const;

    Workspace& m_work;
    SandboxView& m_sandbox;
    Settings& m_settings;
    report::SessionFile m_kept; ///< the session in force, as it was opened
    std::optional<report::SessionFile> m_expected;
    bool m_fresh = false;
    bool m_settling = false; ///< begun and not settled
    bool m_opening = false;
    bool m_relocated = false; ///< m_expected is the session in force, with a file that was found
    bool m_hasPlace = false;
    bool m_diagnosisAwaited = false;
    bool m_compareAwaited = false;
    bool m_compareLost = false; ///< its other side could not be read: kept as it was
    bool m_tookRules = false;
    bool m_tookSettings = false;
    /// The window as it was put back, so that rounding on its axis does not change it.
    XWindow m_putWindow;
    std::optional<std::pair<StateIndex, StateIndex>> m_putStates;
    QStringList m_paths; ///< of the files that are open
    QStringList m_sentences;
    std::function<std::string()> m_front;
    ReportChoices m_report;
};

} // namespace tidemark
