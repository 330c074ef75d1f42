// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/comparison.hpp"

#include "model/core/units.hpp"

#include <algorithm>

namespace tidemark::compare {

namespace {

/// What of a recording decides how far a comparison can be trusted.
constexpr std::array telling{Quality::NoHistory, Quality::StateOnly, Quality::RingWrapped, Quality::LateStart,
    Quality::NoStacks, Quality::SomeStacksMissing, Quality::NoSegments, Quality::TruncatedFile,
    Quality::FilteredActions, Quality::OtherRecorder};

void addQuality(std::vector<std::string>& notes, const Side& side, const char* letter)
{
    for (const QualityNote& note : side.rank->quality(side.device))
        if (std::find(telling.begin(), telling.end(), note.id) != telling.end())
            notes.push_back(std::string(letter) + ": " + note.sentence);
}

std::string times(double factor)
{
    const auto tenths = static_cast<std::int64_t>(factor * 10 + 0.5);
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " times";
}

std::vector<std::string> notesOf(const Comparison& comparison)
{
    const Side& a = comparison.a;
    const Side& b = comparison.b;
    std::vector<std::string> notes;
    if (comparison.oneRun) {
        notes.emplace_back("Both sides are one run, so what lives at both instants is known one by one.");
        addQuality(notes, a, "The run");
        return notes;
    }
    const int ordinalA = a.replay().device().ordinal;
    const int ordinalB = b.replay().device().ordinal;
    if (ordinalA != ordinalB) {
        std::string text = deviceName(ordinalA) + " of A is compared with " + deviceName(ordinalB) + " of B";
        if ((ordinalA < 0 || ordinalB < 0))
            text += ", which are different kinds of memory";
        notes.push_back(text + ".");
    }
    for (const Unmatched& each : comparison.alignment.unmatched())
        notes.push_back(each.reason);
    addQuality(notes, a, "A");
    addQuality(notes, b, "B");
    const double eventsA = a.replay().states() - 1;
    const double eventsB = b.replay().states() - 1;
    if (std::min(eventsA, eventsB) > 0 && std::max(eventsA, eventsB) >= 1.5 * std::min(eventsA, eventsB)) {
        const bool longer = eventsB > eventsA;
        notes.push_back(std::string(longer ? "B" : "A") + " has "
            + times(std::max(eventsA, eventsB) / std::min(eventsA, eventsB)) + " as many events.");
    }
    if (!comparison.reservedPeak)
        notes.emplace_back("Reserved memory is not known on both sides and is not compared.");
    notes.insert(notes.end(), comparison.settings.notes.begin(), comparison.settings.notes.end());
    if (!a.diagnosis || !b.diagnosis)
        notes.emplace_back("Findings are not compared: not both sides have been diagnosed.");
    return notes;
}

} // namespace

std::shared_ptr<const Comparison> compareSides(Side a, Side b, const Wish& wish, const Job& job)
{
    auto out = std::make_shared<Comparison>();
    out->a = prepared(std::move(a), job);
    // One run is prepared once.
    if (sameRun(out->a, b)) {
        b.phases = b.phases ? b.phases : out->a.phases;
        b.labels = b.labels ? b.labels : out->a.labels;
    }
    out->b = prepared(std::move(b), job);
    if (job.stopped())
        return nullptr;
    out->oneRun = sameRun(out->a, out->b);
    out->alignment = Alignment::build(out->a, out->b, wish.align);
    out->matching = Matching::build(out->a, out->b, wish.by, job);
    if (out->matching)
        out->sites = out->matching->by == GroupBy::Site ? out->matching
                                                        : Matching::build(out->a, out->b, GroupBy::Site, job);
    if (!out->matching || !out->sites || job.stopped())
        return nullptr;
    out->peak = {out->a.peak(), out->b.peak()};
    out->peakStateA = out->a.peakState();
    out->peakStateB = out->b.peakState();
    if (const auto reservedA = out->a.reservedPeak())
        if (const auto reservedB = out->b.reservedPeak())
            out->reservedPeak = PeakPair{*reservedA, *reservedB};
    const StateIndex stateA = std::min(wish.stateA.value_or(out->peakStateA), out->a.replay().states() - 1);
    const StateIndex stateB = std::min(wish.stateB.value_or(out->peakStateB), out->b.replay().states() - 1);
    out->table = tableAt(out->a, out->b, *out->matching, stateA, stateB);
    out->findings = findingChanges(out->a, out->b, *out->sites);
    out->settings = settingChanges(out->a, out->b);
    if (wish.stateA || wish.stateB) {
        out->verdicts = verdictsOfInstants(
            {out->a, out->b, *out->matching, out->table, out->alignment, out->findings, out->settings});
        out->notes = notesOf(*out);
        return job.stopped() ? nullptr : out;
    }
    const bool atPeaks = stateA == out->peakStateA && stateB == out->peakStateB;
    const Table peaks
        = atPeaks ? out->table : tableAt(out->a, out->b, *out->matching, out->peakStateA, out->peakStateB);
    out->verdicts
        = verdicts({out->a, out->b, *out->matching, peaks, out->alignment, out->findings, out->settings});
    out->notes = notesOf(*out);
    return job.stopped() ? nullptr : out;
}

bool peakGrowsBeyond(const Comparison& comparison, double percent)
{
    const auto a = static_cast<long double>(comparison.peak.a);
    return static_cast<long double>(comparison.peak.delta()) * 100 > a * static_cast<long double>(percent);
}

const char* groupingName(GroupBy by)
{
    switch (by) {
    case GroupBy::Site:
        return "site";
    case GroupBy::Stack:
        return "stack";
    case GroupBy::Size:
        return "size";
    case GroupBy::Stream:
        return "stream";
    case GroupBy::Pool:
        return "pool";
    case GroupBy::Category:
        return "category";
    case GroupBy::ExactSize:
        return "exact-size";
    case GroupBy::None:
        return "allocation";
    case GroupBy::Label:
        return "label";
    case GroupBy::Role:
        return "role";
    }
    return "site";
}

} // namespace tidemark::compare
