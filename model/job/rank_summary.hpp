// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/quality.hpp"
#include "model/findings/diagnosis.hpp"
#include "model/job/series_summary.hpp"
#include "model/replay/segments.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tidemark {

/// The highest point of a curve.
struct PeakPoint {
    std::int64_t bytes = 0;
    StateIndex state = 0; ///< its event is momentOf(state)
    std::optional<std::int64_t> timeUs;
};

/// The highest points inside one step.
struct StepPeak {
    std::int64_t live = 0;
    std::optional<std::int64_t> reserved; ///< absent: unknown
};

/// What of the peak one label and role hold.
struct PeakShare {
    std::string label; ///< module, by the label rules; empty for the rest
    Role role = Role::Unknown;
    std::uint64_t bytes = 0;
    std::uint64_t allocations = 0;
};

struct PeakSite {
    std::string name; ///< "function@file:line"; empty for the rest
    std::uint64_t bytes = 0;
    std::uint64_t allocations = 0;
};

/// Segments at one state, without addresses.
struct SegmentSummary {
    struct Segment {
        std::uint64_t size = 0;
        std::int64_t stream = 0; ///< as in the file
        std::pair<std::int64_t, std::int64_t> pool{0, 0};
        bool small = false;
        bool expandable = false;
        /// What lies in it, in address order, neighbours of one kind as one: Σ sizes = size. Empty for
        /// segments beyond the bound.
        std::vector<std::pair<PieceKind, std::uint64_t>> pieces;
    };
    StateIndex state = 0;
    std::vector<Segment> segments; ///< largest first; at most maxSegments
    std::uint64_t count = 0; ///< all of them
    std::uint64_t reserved = 0;
    std::uint64_t live = 0; ///< block bytes
    std::uint64_t waiting = 0;
    std::uint64_t pinned = 0; ///< free, and a flush leaves it behind
    std::uint64_t releasable = 0;
    std::uint64_t heldByPools = 0;
    std::uint64_t largestHole = 0;

    static constexpr std::size_t maxSegments = 512;
    static constexpr std::size_t maxPieces = 2048; ///< of all segments
};

/// The out-of-memory event that ended the run: the last one of the device.
struct OomSummary {
    std::uint32_t event = 0;
    std::uint32_t events = 1; ///< out-of-memory events of the device
    std::optional<std::uint64_t> request;
    std::optional<std::uint64_t> deviceFree;
    std::optional<std::int64_t> slack; ///< help/out-of-memory.md
    std::optional<std::uint64_t> usable; ///< reserved + free: all the allocator could own
    std::int64_t allocated = 0;
    std::uint64_t pinned = 0;
    std::uint64_t largestHole = 0;
    Verdict verdict = Verdict::Unknown;
    bool thinMargin = false;
};

/// One rank in a few tens of KiB: all that the overview of a job and the rules over ranks need. Made from an
/// opened file, which can be dropped afterwards, or read from a digest. A value; any thread.
struct RankSummary {
    // Which it is, and from where.
    std::filesystem::path file;
    bool fromDigest = false; ///< the full views need the snapshot
    std::filesystem::path snapshot; ///< of a digest: where its snapshot was; else empty
    std::optional<int> rank;
    std::string rankFrom;
    std::optional<std::int64_t> step;
    bool oomDump = false; ///< dumped because memory ran out, or it records that
    std::uint64_t fileBytes = 0;
    std::string contentKey; ///< report::contentHash of the snapshot; empty: not asked for
    std::string encoding; ///< "pickle" or "json"
    /// The device all figures are of, the file's main one; absent when the file has none.
    std::optional<int> device;
    std::size_t devices = 0; ///< of the file
    std::uint64_t events = 0;
    std::optional<std::int64_t> firstTimeUs;
    std::optional<std::int64_t> lastTimeUs;
    bool reachesStart = true; ///< else peaks are those of the recorded window

    // Figures, in bytes.
    PeakPoint live; ///< requested, as the timeline draws it
    PeakPoint allocated; ///< blocks, those that wait included; inferred but for the end
    std::optional<PeakPoint> reserved; ///< absent: unknown
    std::int64_t liveAtEnd = 0;
    std::int64_t liveAtStart = 0;
    std::optional<std::int64_t> gapAtPeak; ///< [M2] reserved − allocated at the allocated peak
    std::optional<double> inactiveRatioAtPeak; ///< [M1] there
    std::optional<std::uint64_t> cardBytes; ///< stated by the user or the settings
    std::optional<OomSummary> oom;

    // At the live peak.
    std::vector<PeakShare> shares; ///< largest first, the rest last: Σ = live.bytes
    std::vector<PeakSite> sites; ///< largest first, the rest last: Σ = live.bytes
    std::uint64_t savedActivations = 0; ///< of layers: without logits, loss and what these read
    std::uint64_t expertBytes = 0; ///< experts and their dispatch
    std::uint32_t inFlightAtPeak = 0; ///< forward passes without their backward

    // Over time.
    SeriesSummary series;
    std::vector<Step> steps;
    std::vector<StepPeak> stepPeaks; ///< as steps; empty: not known
    std::vector<PhaseSpan> phases;
    SegmentSummary segmentsAtPeak;
    SegmentSummary segmentsAtEnd;
    bool segmentsKnown = false;

    // What was found. Findings list no allocations and their fixes hold no edits.
    std::vector<Finding> findings; ///< by severity, then bytes
    std::vector<Undecided> undecided;
    std::vector<QualityNote> quality;
    /// Settings of the run and of the allocator, by dotted key (RunConfig).
    std::map<std::string, ConfigValue, std::less<>> settings;

    /// Hashes of the distinct (call site, size) pairs it allocates, the lowest ones, ascending: ranks that do
    /// the same work have nearly the same.
    std::vector<std::uint32_t> shape;
    std::uint64_t setUpBytes = 0; ///< live before the first forward pass
    std::uint32_t mostInFlight = 0;
    std::uint64_t allocations = 0; ///< made in the recording

    static constexpr std::size_t maxShares = 48;
    static constexpr std::size_t maxSites = 24;
    static constexpr std::size_t maxSteps = 256;
    static constexpr std::size_t maxPhases = 512;
    static constexpr std::size_t maxFindings = 64;
    static constexpr std::size_t maxSettings = 512;
    static constexpr std::size_t maxShape = 128;

    /// "rank 3", or the file's name.
    std::string name() const;
    const Finding* worst() const { return findings.empty() ? nullptr : &findings.front(); }
    /// Bytes at the peak by label, or by role, largest first; the rest last under an empty name.
    std::vector<std::pair<std::string, std::uint64_t>> byLabel() const;
    std::vector<std::pair<std::string, std::uint64_t>> byRole() const;
    RunConfig config() const;
};

/// What is known of a file beside its content.
struct SummaryOrigin {
    std::filesystem::path file;
    std::optional<int> rank;
    std::string rankFrom;
    std::optional<std::int64_t> step;
    bool oomDump = false;
    std::string contentKey;
    std::optional<std::uint64_t> cardBytes;
};

/// Cost: a pass over what is live at the peak and two segment states; about a tenth of the diagnosis.
RankSummary makeSummary(const Diagnosis& diagnosis, const SummaryOrigin& origin);

} // namespace tidemark
