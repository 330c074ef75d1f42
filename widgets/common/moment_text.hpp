// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/replay.hpp"

#include <QString>

/// Moments and lives in the words all views use.
namespace tidemark {

/// "event 3,737", counted as in the file; "before the first event" and "end of the file" (no history).
QString momentText(const Replay& replay, StateIndex state);
/// "at event 3,737", "before the first event", "at the end of the file".
QString atMomentText(const Replay& replay, StateIndex state);
/// "event 1,657 → 8,522", "event 15,338 → end", "before recording → event 812", "before recording → end".
QString lifeText(const Replay& replay, AllocationId id);
/// "244 ms", "6,865 events" without times; what is known of it for lives that began before the recording or
/// outlast the file ("at least 77.7 ms").
QString lifeLengthText(const Replay& replay, AllocationId id);
/// How long before `state` an allocation began: "812 ms", "2,080 events" without times, "before recording".
QString ageText(const Replay& replay, StateIndex since, StateIndex state);
/// The number events have in the file.
QString eventText(const Replay& replay, EventIndex event);

} // namespace tidemark
