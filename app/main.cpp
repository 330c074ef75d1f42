// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command_line.hpp"
#include "app/file_cache.hpp"
#include "app/main_window.hpp"
#include "app/system_theme.hpp"
#include "app/version.hpp"

#include <QApplication>
#include <QFile>

namespace {

int runWindow(int argc, char** argv, const tidemark::WindowRequest& request)
{
    QApplication application(argc, argv);
    QApplication::setApplicationName(QStringLiteral("tidemark"));
    QApplication::setApplicationDisplayName(QString());
    QApplication::setApplicationVersion(QLatin1String(tidemark::versionText()));
    QApplication::setDesktopFileName(QStringLiteral("tidemark"));

    tidemark::Style style;
    // Before our own palette hides what the platform prefers.
    style.setSystemDark(tidemark::systemPrefersDark(application));
    style.applyTo(application);
    tidemark::Settings settings;
    tidemark::FileCache cache(settings, tidemark::RankCache::userFolder(), request.noCache);
    tidemark::Workspace workspace(settings, cache.opener());
    workspace.cache = &cache;
    tidemark::MainWindow window(workspace, style, settings);
    window.show();

    QStringList paths;
    for (const std::filesystem::path& path : request.paths)
        paths << QFile::decodeName(path.string().c_str());
    if (request.rules)
        workspace.diagnoser.setRulesFile(QFile::decodeName(request.rules->string().c_str()));
    if (request.compare) {
        window.open({paths[0]}, request.options);
        window.compareWith(paths[1], request.options);
    } else if (!paths.isEmpty())
        window.open(paths, request.options);
    return QApplication::exec();
}

} // namespace

int main(int argc, char** argv)
{
    tidemark::WindowRequest request;
    if (const std::optional<int> status = tidemark::runCommandLine(argc, argv, &request))
        return *status;
    return runWindow(argc, argv, request);
}
