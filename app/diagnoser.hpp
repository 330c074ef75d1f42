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

    /// Files with the run's settings, chosen by the user; kept until others are chosen. Those that lie beside
    /// the snapshot are found by themselves.
    void setSettingsFiles(const QStringList& files);
    const QStringList& settingsFiles() const { return m_files; }
    bool isBusy() const { return m_task.busy(); }

signals:
    void started();
    void finished();
    /// A file with settings could not be read: one sentence.
    void settingsProblem(const QString& sentence);

private:
    struct Answer {
        std::shared_ptr<const Diagnosis> diagnosis;
        QString problem;
    };
    void run();
    void take(Answer&& answer);

    Session& m_session;
    Rules m_rules;
    QStringList m_files;
    LatestTask<Answer> m_task;
};

} // namespace tidemark
