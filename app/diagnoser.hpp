// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/diagnosis.hpp"
#include "widgets/common/latest_task.hpp"
#include "widgets/session.hpp"

#include <QObject>
#include <QStringList>

#include <functional>
#include <memory>
#include <optional>

namespace tidemark {

/// Looks for causes in whatever the session has open, off the GUI thread, and hands the findings to the
/// session; again when the card's size or the run's settings become known. GUI thread.
class Diagnoser : public QObject {
    Q_OBJECT
public:
    using Rules = std::function<std::shared_ptr<const Diagnosis>(
        std::shared_ptr<const Rank>, const DiagnosisOptions&, const Job&)>;

    /// `rules` is diagnose, or a stand-in in tests.
    explicit Diagnoser(Session& session, Rules rules = diagnose, QObject* parent = nullptr);

    /// Whether to look at all at what the session opens; asked each time.
    void setWanted(std::function<bool()> wanted) { m_wanted = std::move(wanted); }
    /// Whether the other ranks of the job are open too; asked each time.
    void setAmongPeers(std::function<bool()> among) { m_amongPeers = std::move(among); }

    /// What views will ask of the labels at once; asked each time.
    void setLookups(std::function<LookupWish()> wish) { m_lookups = std::move(wish); }

    /// Files with the run's settings, chosen by the user; kept until others are chosen. Those that lie beside
    /// the snapshot are found by themselves.
    void setSettingsFiles(const QStringList& files);
    const QStringList& settingsFiles() const { return m_files; }
    /// Label rules of the user's (help/labels.md); "" for none. Read again with every run.
    void setRulesFile(const QString& file);
    const QString& rulesFile() const { return m_rulesFile; }
    /// Why that file is not in force; "" when it is, or none is wanted.
    const QString& rulesProblem() const { return m_rulesProblem; }
    bool isBusy() const { return m_task.busy(); }

signals:
    void started();
    void finished();
    void rulesFileChanged(const QString& file);
    void settingsFilesChanged();
    /// A file with settings could not be read: one sentence.
    void settingsProblem(const QString& sentence);

private:
    struct Answer {
        std::shared_ptr<const Diagnosis> diagnosis;
        QString problem;
        QString rulesProblem;
        std::shared_ptr<const Lookups> lookups;
    };
    void run();
    void take(Answer&& answer);

    Session& m_session;
    Rules m_rules;
    std::function<bool()> m_wanted;
    std::function<bool()> m_amongPeers;
    std::function<LookupWish()> m_lookups;
    QStringList m_files;
    QString m_rulesFile;
    QString m_rulesProblem;
    LatestTask<Answer> m_task;
};

} // namespace tidemark
