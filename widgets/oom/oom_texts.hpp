// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/finding.hpp"
#include "model/findings/oom_scene.hpp"

#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace tidemark {

/// The verdict in words.
struct OomWords {
    QString title; ///< "Out of memory by fragmentation, not by size"
    QString sentences; ///< rich text, numbers in bold
    Grade grade = Grade::A; ///< of the figures
    bool decided = true;
};

/// One condition behind the verdict, with its numbers.
struct OomCheck {
    enum class State { Holds, Fails, Unknown };
    State state = State::Unknown;
    QString text;
    QString figure;
    QString tip; ///< exact bytes, or what is needed to know
};

/// `rank`: who asked, where it is known.
OomWords verdictWords(const OomScene& scene, std::optional<int> rank);
std::vector<OomCheck> verdictChecks(const OomScene& scene);
/// "holds", "fails", "unknown": the state as a word.
QString checkStateText(OomCheck::State state);

/// "slack +33.34 GiB  =  free 34.50 GiB + device 348 MiB − request 1.50 GiB"; empty without slack.
QString slackFormula(const OomScene& scene);
/// The same, with what its "free" counts.
QString slackTip(const OomScene& scene);
/// "What PyTorch could use on this card: 77.64 GiB = reserved 77.30 GiB + free on the device 348 MiB".
QString capacityCaption(const OomScene& scene);
/// "parameters", "free but pinned", …
QString partName(const OomScene& scene, const CapacityPart& part);
/// Name, bytes and exact bytes of a part, for tips and the status bar.
QString partLine(const OomScene& scene, const CapacityPart& part);

/// "Placed in step 1, events 100–147. Each 64 MiB block keeps 1,472 MiB from being returned."
QString pinSentence(const OomScene& scene, const PinGroup& pins);
/// "Σ 24 blocks, 1.50 GiB, hold 34.50 GiB free = what is pinned".
QString pinSum(const OomScene& scene);
/// "Σ 34 allocations, 42.80 GiB = curve at event 212".
QString liveSum(const OomScene& scene);

/// "event 212 · 1.50 GiB": an event in the list of events.
QString eventLine(const Replay& replay, const OomAutopsy& oom);
/// All of it as plain text with exact bytes.
QString oomReport(const OomScene& scene, std::optional<int> rank);

} // namespace tidemark
