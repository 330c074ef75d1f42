// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/diagnosis.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

/// Two runs, or two instants of one run, side by side. Everything is B − A. Immutable after build, no
/// globals, any thread.
namespace tidemark::compare {

enum class Which : std::uint8_t { A, B };

/// One of the two: a device of an opened file with what is known of it. Two sides may be the same rank.
struct Side {
    std::shared_ptr<const Rank> rank;
    std::size_t device = 0; ///< position in rank->devices
    std::string label; ///< "TP2"; empty: the file's name
    std::shared_ptr<const Diagnosis> diagnosis; ///< phases, labels, findings, settings; may be null
    /// From the diagnosis, or built by prepared().
    std::shared_ptr<const Phases> phases;
    std::shared_ptr<const Labels> labels;

    const Replay& replay() const { return *rank->devices[device]; }
    const std::vector<Mark>& marks() const { return rank->marks[device]; }
    const Sites& sites() const { return *rank->sites; }
    std::string name() const { return label.empty() ? rank->snapshot->source.name : label; }
    /// First state in which live memory is highest.
    StateIndex peakState() const { return replay().timeline.requested().total().maxState; }
    std::int64_t peak() const { return replay().timeline.requested().total().max; }
    /// Absent where reserved is not known.
    std::optional<std::int64_t> reservedPeak() const;
    /// What is known of the run's settings: the diagnosis' configuration, else what the snapshot says itself.
    RunConfig config() const;
};

/// The side with phases and labels: those of its diagnosis, else found here (0.3 s for 10⁶ events). Without
/// labels when `job` is stopped.
Side prepared(Side side, const Job& job);

/// Names of two files that tell them apart: equal file names get the last folder that differs in front,
/// "run1/snapshot_0.pickle".
std::pair<std::string, std::string> distinctNames(
    const std::filesystem::path& a, const std::filesystem::path& b);

/// Both are one device of one file: two instants of one run.
bool sameRun(const Side& a, const Side& b);

} // namespace tidemark::compare
