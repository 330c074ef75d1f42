// SPDX-License-Identifier: GPL-3.0-or-later
// Inside of model/report: one function a part.
#pragma once

#include "model/report/report.hpp"

namespace tidemark::report {

/// What the parts are made from.
struct BuildContext {
    const ReportInput& input;
    const ReportWish& wish;
    const Redactor& redactor;
    Pictures* pictures;
    const Job& job;
    VerdictText verdict;

    bool hasDevice() const { return input.device < input.rank->devices.size(); }
    const Replay& replay() const { return *input.rank->devices[input.device]; }
    const Snapshot& file() const { return *input.rank->snapshot; }
    bool hasHistory() const { return hasDevice() && replay().device().events.count() > 0; }
    StateIndex peak() const { return replay().timeline.requested().total().maxState; }
    /// The moment pictures are about.
    StateIndex moment() const { return verdict.oom != nullptr ? verdict.oom->state : peak(); }
};

void addFigures(const BuildContext& context, Section& section);
void addVerdict(const BuildContext& context, Section& section);
void addQuality(const BuildContext& context, Section& section);
void addTimeline(const BuildContext& context, Section& section);
void addSegments(const BuildContext& context, Section& section);
void addFindings(const BuildContext& context, Section& section);
void addLive(const BuildContext& context, Section& section);
void addTree(const BuildContext& context, Section& section);
void addComparison(const BuildContext& context, Section& section);
void addRanks(const BuildContext& context, Section& section);
void addSettings(const BuildContext& context, Section& section);
void addAnnotations(const BuildContext& context, Section& section);
void addReproduce(const BuildContext& context, Section& section);
void addTrust(const BuildContext& context, Section& section);
void addGlossary(const BuildContext& context, Section& section);

/// "after event 3,737", "before the first event".
std::string momentText(const Replay& replay, StateIndex state);
/// "peak", or "peak of the recorded window" where the trace does not reach back to the start.
const char* peakWord(const Replay& replay);
/// The four figures of a report.
std::vector<Figure> keyFigures(const BuildContext& context);
/// Asks for pictures and adds them, with the figures in their alternative texts.
void addPictures(const BuildContext& context, PictureKind kind, const std::string& figures, Section& section);
/// A table of fixes; nothing for none.
void addFixes(const std::vector<Fix>& fixes, Section& section);
/// "A exact from this file", …
std::string gradeText(Grade grade);
std::string gradeLetter(Grade grade);
/// All texts redacted, made safe to show and cut to maxSpanChars.
void finishDocument(Document& document, const Redactor& redactor);

} // namespace tidemark::report
