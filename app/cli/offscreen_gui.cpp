// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/offscreen_gui.hpp"

#include <QApplication>

#include <cstdio>

namespace tidemark {

namespace {

/// An error of this program is one line: what the toolkit remarks about a missing display is none.
void onlySerious(QtMsgType type, const QMessageLogContext&, const QString& text)
{
    if (type == QtCriticalMsg || type == QtFatalMsg)
        std::fprintf(stderr, "%s\n", qPrintable(text));
}

} // namespace

OffscreenGui::OffscreenGui()
{
    if (QCoreApplication::instance())
        return;
    qputenv("QT_QPA_PLATFORM", "offscreen");
    qInstallMessageHandler(onlySerious);
    m_application = std::make_unique<QApplication>(m_count, m_arguments.data());
}

OffscreenGui::~OffscreenGui() = default;

} // namespace tidemark
