// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/shared_paths.hpp"

#include <QProcess>
#include <QTemporaryDir>

#include <memory>
#include <string>

namespace tidemark::test {

/// A scenario of the outside test material that is being made in a folder of its own: construct the next one
/// while this one is looked at. With `truth` every snapshot gets a file about its allocations beside it
/// (tests/data/scenario_truth.py).
class ScenarioMaker {
public:
    /// "layers=4 --scale 0.1": a word with = in it is a parameter.
    ScenarioMaker(const QString& id, const QString& arguments, bool truth)
    {
        const auto tools = sharedFolder() / "tools";
        QStringList words;
        if (truth)
            words << TIDEMARK_TEST_DATA "/scenario_truth.py" << QString::fromStdString(tools.string());
        else
            words << QString::fromStdString((tools / "scenarios.py").string());
        words << "make" << id << "--out" << m_out.path();
        for (const QString& word : arguments.split(' ', Qt::SkipEmptyParts))
            words += word.contains('=') ? QStringList{"--param", word} : QStringList{word};
        m_python.setProcessChannelMode(QProcess::MergedChannels);
        m_python.start("python3", words);
    }

    bool started() { return m_python.waitForStarted(); }
    /// What Python said when it failed; empty when the scenario is there.
    QByteArray wait()
    {
        if (m_python.state() != QProcess::NotRunning && !m_python.waitForFinished(300000))
            return "the scenario takes too long";
        const QByteArray said = m_python.readAll();
        return m_python.exitCode() == 0 ? QByteArray() : said;
    }
    std::filesystem::path folder() const { return m_out.path().toStdString(); }

private:
    QTemporaryDir m_out;
    QProcess m_python;
};

} // namespace tidemark::test
