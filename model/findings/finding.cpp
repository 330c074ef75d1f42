// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/finding.hpp"

namespace tidemark {

const char* severityName(Severity severity)
{
    switch (severity) {
    case Severity::Critical:
        return "critical";
    case Severity::Warning:
        return "warning";
    case Severity::Info:
        break;
    }
    return "info";
}

} // namespace tidemark
