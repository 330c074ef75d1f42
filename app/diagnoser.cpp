// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/diagnoser.hpp"

#include "app/rules_file.hpp"
#include "model/findings/peers_advice.hpp"

#include <filesystem>

namespace tidemark {

namespace {

/// Settings the user chose, then those beside the snapshot; the first file that says something wins.
RunConfig readSettings(const QStringList& chosen, const std::string& snapshot, QString& problem)
{
    RunConfig config;
    const auto add = [&](const std::filesystem::path& path, bool asked) {
        const Result<void> result = config.addFile(path);
        if (!result && asked && problem.isEmpty())
            problem = QString::fromStdString(result.error().message);
    };
    for (const QString& file : chosen)
        add(file.toStdString(), true);
    for (const std::filesystem::path& file : configFilesBeside(snapshot))
        add(file, false);
    return config;
}

} // namespace

Diagnoser::Diagnoser(Session& session, Rules rules, QObject* parent)
    : QObject(parent)
    , m_session(session)
    , m_rules(std::move(rules))
    , m_task([this](Answer&& answer) { take(std::move(answer)); })
{
    connect(&session, &Session::opened, this, &Diagnoser::run);
    connect(&session, &Session::cardSizeChanged, this, &Diagnoser::run);
}

void Diagnoser::setSettingsFiles(const QStringList& files)
{
    m_files = files;
    emit settingsFilesChanged();
    run();
}

void Diagnoser::setRulesFile(const QString& file)
{
    m_rulesFile = file;
    m_rulesProblem.clear();
    emit rulesFileChanged(file);
    run();
}

void Diagnoser::run()
{
    m_task.cancel();
    const std::shared_ptr<const Rank> rank = m_session.rank();
    if (!rank || (m_wanted && !m_wanted())) {
        emit finished();
        return;
    }
    m_task.request(
        [rank, rules = m_rules, files = m_files, card = m_session.cardSize(), labels = m_rulesFile,
            peers = m_amongPeers && m_amongPeers(), device = m_session.deviceIndex(),
            sites = m_session.sites(), wish = m_lookups ? m_lookups() : LookupWish{}](const Job& job) {
            Answer answer;
            DiagnosisOptions options;
            options.config = readSettings(files, rank->snapshot->source.path, answer.problem);
            options.deviceTotal = card;
            options.rank = rankFromName(rank->snapshot->source.name);
            if (!labels.isEmpty()) {
                auto own = readLabelRules(labels.toStdString());
                if (own)
                    options.rules = std::move(*own);
                else
                    answer.problem = answer.rulesProblem = QString::fromStdString(own.error().message);
            }
            answer.diagnosis = rules(rank, options, job);
            if (answer.diagnosis && peers) {
                auto among = std::make_shared<Diagnosis>(*answer.diagnosis);
                dropPeersAdvice(among->findings);
                answer.diagnosis = std::move(among);
            }
            if (answer.diagnosis && device < answer.diagnosis->devices.size())
                answer.lookups = Lookups::make(
                    {rank->devices[device], sites, answer.diagnosis->devices[device].labels}, wish);
            for (const std::string& slow : takeSlowExpressions())
                answer.problem = answer.rulesProblem = QString::fromStdString(slow);
            return answer;
        });
    emit started();
}

void Diagnoser::take(Answer&& answer)
{
    m_rulesProblem = answer.rulesProblem;
    if (answer.lookups)
        m_session.offer(std::move(answer.lookups));
    if (answer.diagnosis && answer.diagnosis->rank == m_session.rank())
        m_session.setDiagnosis(std::move(answer.diagnosis));
    if (!m_task.busy())
        emit finished();
    if (!answer.problem.isEmpty()) // last: it is to stay readable
        emit settingsProblem(answer.problem);
}

} // namespace tidemark
