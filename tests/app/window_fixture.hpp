// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/job_loader.hpp"
#include "app/main_window.hpp"
#include "app/summary_strip.hpp"
#include "tests/support/sample_training.hpp"

#include <QApplication>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <memory>

namespace tidemark::test {

/// A folder with settings and small snapshots, and a real window on it.
class WindowFixture {
public:
    explicit WindowFixture(Loader::Opener opener = openRank) { start(std::move(opener)); }

    /// As the program is started again with the same settings.
    void restart(Loader::Opener opener = openRank)
    {
        window.reset();
        workspace.reset();
        start(std::move(opener));
    }

    QString path(const QString& name) const { return folder.filePath(name); }

    QString write(const QString& name, const std::string& bytes) const
    {
        QFile file(path(name));
        if (!file.open(QIODevice::WriteOnly)
            || file.write(bytes.data(), static_cast<qint64>(bytes.size()))
                != static_cast<qint64>(bytes.size()))
            qFatal("cannot write %s", qPrintable(path(name)));
        return path(name);
    }

    /// A training run of a few hundred events with marks, two streams and an out-of-memory event or none.
    static std::string trainingBytes(int steps = 2)
    {
        SampleTraining training;
        training.hidden = 512;
        training.layers = 3;
        training.heads = 8;
        training.vocabulary = 4000;
        training.batch = 2;
        training.steps = steps;
        return writePickle(recordSampleTraining(training));
    }

    QString training(const QString& name = QStringLiteral("run.pickle"), int steps = 2) const
    {
        return write(name, trainingBytes(steps));
    }

    /// Opens and waits until it is over, well or not.
    void open(const QStringList& paths)
    {
        window->open(paths);
        QTRY_VERIFY_WITH_TIMEOUT(!window->jobs()->busy() && !workspace->loader.isLoading(), 20000);
    }

    std::shared_ptr<const Replay> replay() const { return workspace->session.replay(); }

    QTemporaryDir folder;
    std::unique_ptr<Settings> settings;
    std::unique_ptr<Style> style;
    std::unique_ptr<Workspace> workspace;
    std::unique_ptr<MainWindow> window;

private:
    void start(Loader::Opener opener)
    {
        settings = std::make_unique<Settings>(folder.filePath(QStringLiteral("settings.ini")));
        style = std::make_unique<Style>();
        workspace = std::make_unique<Workspace>(*settings, std::move(opener));
        window = std::make_unique<MainWindow>(*workspace, *style, *settings);
        window->resize(1600, 1000);
        window->show();
        QVERIFY(QTest::qWaitForWindowExposed(window.get()));
    }
};

/// Fails with a real reason to be looked at: where on the strip a figure stands.
inline bool says(const StripCell* cell, const QString& wanted)
{
    if (cell->valueText().contains(wanted))
        return true;
    qWarning("“%s” is not in “%s”", qPrintable(wanted), qPrintable(cell->valueText()));
    return false;
}

} // namespace tidemark::test
