// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidemark {

/// What a file cannot tell, or tells oddly (help/data-quality.md); names by qualityName.
enum class Quality {
    NoHistory,
    StateOnly,
    RingWrapped,
    LateStart,
    NoStacks,
    SomeStacksMissing,
    NoTimestamps,
    TimeDecreases,
    NoSegments,
    TraceSegmentsDisagree,
    ReallocOfLive,
    FreeOfUnknown,
    UnknownAction,
    UnknownKey,
    UnknownState,
    AbsurdSize,
    MissingRank,
    UnreadableFile,
    TruncatedFile,
    FilteredActions,
    ForeignObject,
    AnnotationOfUnknown,
    UnpairedMarks,
    BadText,
    /// Not of help/data-quality.md: a neighbouring format that lacks what a snapshot has (segments, stacks,
    /// addresses).
    OtherRecorder,
    /// Not of help/data-quality.md: the file holds more snapshots than the one shown.
    SeveralSnapshots,
    /// Only a range of the events was opened, as asked for.
    EventRange,
};

/// "late-start", "no-stacks", …
const char* qualityName(Quality id);
/// The chip's label: "Recording started late", "No stacks", …
const char* qualityTitle(Quality id);

/// One counted irregularity of one file or of one of its devices.
struct QualityNote {
    Quality id{};
    /// Device ordinal it is about; absent when it concerns the whole file.
    std::optional<int> device;
    /// How often it was met.
    std::uint64_t count = 1;
    /// What it means for which numbers, in plain words, with the figures.
    std::string sentence;
    /// Names, keys, addresses met; at most limits::maxExamples.
    std::vector<std::string> examples;
    /// First event it was met at, when it has a place.
    std::optional<std::uint32_t> firstEvent;
};

} // namespace tidemark
