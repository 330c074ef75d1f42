// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/ids.hpp"
#include "model/findings/edits.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tidemark {

enum class Severity { Critical, Warning, Info };
const char* severityName(Severity severity);

/// How sure a number is: A exact from this file, B structural with a named assumption, C measured elsewhere,
/// D rule of thumb.
enum class Grade : char { A = 'A', B = 'B', C = 'C', D = 'D' };

using EvidenceValue = std::variant<std::monostate, bool, std::int64_t, double, std::string,
    std::vector<std::int64_t>, std::vector<std::string>>;
/// A number behind the verdict; keys in snake_case, sizes in bytes.
struct Evidence {
    std::string key;
    EvidenceValue value;
};

/// Something to do about a finding. Unknown numbers are absent.
struct Fix {
    std::string id; ///< "lora-input-regather"; the playbook's names where it has one
    std::string text; ///< one sentence, imperative, with the exact setting
    std::optional<std::int64_t> removedAtPeak;
    std::optional<std::int64_t> newPeak;
    std::optional<StateIndex> newPeakState;
    std::string newPeakOwner; ///< what would make the new peak
    Grade grade = Grade::D;
    std::string cost; ///< "−6.74 % on Qwen3-8B TP2 seq 8192 (H100); yours will differ"
    std::optional<Grade> costGrade;
    std::string source; ///< of the cost or of the fix
    std::string blockedBy; ///< why it cannot be used here; empty: nothing known against it
    /// What it would do to the recorded lifetimes, for the sandbox; null when that is not known.
    std::shared_ptr<const Edits> edits;
    /// The allocator setting it would change, as PYTORCH_CUDA_ALLOC_CONF takes it: what it does to reserved
    /// memory can be replayed. Empty: none.
    std::string setting;
    /// Whether the sandbox can tell what it would do.
    bool predictable() const { return blockedBy.empty() && (edits != nullptr || !setting.empty()); }
};

/// What a rule saw in one device of one file.
struct Finding {
    std::string rule;
    Severity severity = Severity::Info;
    std::optional<int> rank;
    int device = 0; ///< ordinal
    std::size_t deviceIndex = 0; ///< position in the snapshot
    std::uint64_t bytes = 0; ///< its meaning is fixed per rule (help/findings.md)
    Grade grade = Grade::A;
    std::optional<std::pair<EventIndex, EventIndex>>
        eventRange; ///< absent: holds for the end of the file only
    std::uint32_t firstEventInFile = 0; ///< of its device: where only a range of the events is open
    std::uint64_t count = 0; ///< allocations, segments or holes it covers
    std::string site;
    std::string playbook; ///< D1…D6, S1…S7, R1…R12, or empty
    /// One sentence with the bytes: the row's text. A second one that says why.
    std::string title;
    std::string explanation;
    std::vector<Evidence> evidence;
    std::vector<Fix> fixes; ///< in the playbook's order

    /// What the overlay highlights, exactly: `count` allocations, or segments, by id.
    std::vector<AllocationId> allocations;
    std::vector<SegmentId> segments;
    /// State in which it is best looked at.
    StateIndex lookAt = 0;

    /// eventRange, which must be there, as the file numbers its events.
    std::pair<std::int64_t, std::int64_t> eventsInFile() const
    {
        return {static_cast<std::int64_t>(index(eventRange->first)) + firstEventInFile,
            static_cast<std::int64_t>(index(eventRange->second)) + firstEventInFile};
    }
};

/// A rule that could not be decided, and what it would need.
struct Undecided {
    std::string rule;
    std::string needs;
};

} // namespace tidemark
