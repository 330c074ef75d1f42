// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/finding.hpp"
#include "widgets/style/theme.hpp"

#include <QString>

/// A severity as shape, colour and word.
namespace tidemark {

/// Name of its icon ("sev-warning").
QString severityIcon(Severity severity);
/// Colour of shapes and areas.
Tone severityShapeTone(Severity severity);
/// Colour of text.
Tone severityTextTone(Severity severity);
/// "critical", "warning", "info".
QString severityWord(Severity severity);

} // namespace tidemark
