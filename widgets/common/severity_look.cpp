// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/severity_look.hpp"

#include <QCoreApplication>

namespace tidemark {

QString severityIcon(Severity severity)
{
    switch (severity) {
    case Severity::Critical:
        return QStringLiteral("sev-critical");
    case Severity::Warning:
        return QStringLiteral("sev-warning");
    case Severity::Info:
        break;
    }
    return QStringLiteral("sev-info");
}

Tone severityShapeTone(Severity severity)
{
    switch (severity) {
    case Severity::Critical:
        return Tone::Crit;
    case Severity::Warning:
        return Tone::WarnFill;
    case Severity::Info:
        break;
    }
    return Tone::Info;
}

Tone severityTextTone(Severity severity)
{
    return severity == Severity::Warning ? Tone::Warn : severityShapeTone(severity);
}

QString severityWord(Severity severity)
{
    switch (severity) {
    case Severity::Critical:
        return QCoreApplication::translate("Severity", "critical");
    case Severity::Warning:
        return QCoreApplication::translate("Severity", "warning");
    case Severity::Info:
        break;
    }
    return QCoreApplication::translate("Severity", "info");
}

} // namespace tidemark
