// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/quality.hpp"

#include <array>

namespace tidemark {

namespace {

struct Names {
    Quality id;
    const char* name;
    const char* title;
};

constexpr std::array table{
    Names{Quality::NoHistory, "no-history", "No history"},
    Names{Quality::StateOnly, "state-only", "State only"},
    Names{Quality::RingWrapped, "ring-wrapped", "Ring wrapped"},
    Names{Quality::LateStart, "late-start", "Recording started late"},
    Names{Quality::NoStacks, "no-stacks", "No stacks"},
    Names{Quality::SomeStacksMissing, "some-stacks-missing", "Some stacks missing"},
    Names{Quality::NoTimestamps, "no-timestamps", "No timestamps"},
    Names{Quality::TimeDecreases, "time-decreases", "Time goes back"},
    Names{Quality::NoSegments, "no-segments", "No segments"},
    Names{Quality::TraceSegmentsDisagree, "trace-segments-disagree", "Trace and segments disagree"},
    Names{Quality::ReallocOfLive, "realloc-of-live", "Allocated twice"},
    Names{Quality::FreeOfUnknown, "free-of-unknown", "Freed twice"},
    Names{Quality::UnknownAction, "unknown-action", "Unknown actions"},
    Names{Quality::UnknownKey, "unknown-key", "Unknown keys"},
    Names{Quality::UnknownState, "unknown-state", "Unknown block states"},
    Names{Quality::AbsurdSize, "absurd-size", "Absurd sizes"},
    Names{Quality::MissingRank, "missing-rank", "Missing rank"},
    Names{Quality::UnreadableFile, "unreadable-file", "Unreadable file"},
    Names{Quality::TruncatedFile, "truncated-file", "Truncated file"},
    Names{Quality::FilteredActions, "filtered-actions", "Actions filtered"},
    Names{Quality::ForeignObject, "foreign-object", "Foreign objects"},
    Names{Quality::AnnotationOfUnknown, "annotation-of-unknown", "Note on unknown memory"},
    Names{Quality::UnpairedMarks, "unpaired-marks", "Unpaired marks"},
    Names{Quality::BadText, "bad-text", "Bad text"},
    Names{Quality::OtherRecorder, "other-recorder", "Not a snapshot recording"},
    Names{Quality::SeveralSnapshots, "several-snapshots", "Several snapshots"},
    Names{Quality::EventRange, "event-range", "Part of the events"},
};

const Names& find(Quality id)
{
    for (const Names& n : table)
        if (n.id == id)
            return n;
    return table.front();
}

} // namespace

const char* qualityName(Quality id)
{
    return find(id).name;
}
const char* qualityTitle(Quality id)
{
    return find(id).title;
}

} // namespace tidemark
