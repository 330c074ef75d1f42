// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// A step of the decision ladder, S1…S7, in the order in which they are tried.
struct PlaybookStep {
    std::string id;
    std::string title;
    std::string action; ///< imperative, with the exact setting
    std::string when;
    std::string cost; ///< measured elsewhere; says where
    char grade = 'D'; ///< how sure the cost is, as in findings
    std::string source;
    std::vector<std::string> keys; ///< settings it touches or needs
    std::vector<std::string> rules; ///< findings it answers
    std::vector<std::string> verify; ///< notes that tell how to see that it took effect
};

/// A symptom with its cause and what to do: D1…D6, and the related R1…R12.
struct PlaybookRow {
    std::string id;
    std::string symptom;
    std::string cause;
    std::string confirm;
    std::string action;
    std::vector<std::string> rules;
    std::string source;
};

/// A label of recompute_modules.
struct RecomputeLabel {
    std::string name;
    bool pinned = true; ///< in the revision of Megatron-Core that Megatron Bridge pins
    std::string boundary; ///< file and function
    std::string mechanism; ///< "full checkpoint", "output discard"
    std::string frees;
    std::string when;
    std::string cost;
    std::string source;
};

/// Something measured elsewhere, with all that is needed to judge whether it applies here.
struct MeasuredResult {
    struct Figure {
        std::string name;
        double value = 0;
        std::string unit; ///< GB is 10⁹ bytes, GiB 2³⁰
    };
    std::string id; ///< "llama3-70b/mlp"
    std::string study;
    std::string model;
    std::string hardware;
    std::string configuration;
    std::string outcome;
    char grade = 'C';
    std::string source;
    std::vector<Figure> figures;

    /// The figure of this name and unit.
    std::optional<double> figure(std::string_view name, std::string_view unit) const;
};

/// Constraints, limitations, ways to verify a fix, and facts about memory.
struct PlaybookNote {
    enum class Kind { Constraint, Limitation, Verification, Fact };
    std::string id;
    Kind kind = Kind::Fact;
    std::string title;
    std::string text;
    std::string command; ///< of a verification: to be run or pasted
    std::string source;
    std::vector<std::string> tags;
    std::vector<std::string> rules;
};

/// One line of the reference list: everything above, the same shape.
struct PlaybookEntry {
    std::string id;
    std::string kind; ///< "step", "symptom", "recompute label", "measured", "constraint", …
    std::string title;
    std::string text;
    std::vector<std::string> tags;
    std::vector<std::string> rules;
};

/// What others measured and advise, as data. Immutable, shared between threads.
class Playbook {
public:
    /// The one that is part of the program.
    static const Playbook& standard();
    static Result<Playbook> parse(std::string_view json);

    const std::vector<PlaybookStep>& steps() const { return m_steps; }
    const std::vector<PlaybookRow>& rows() const { return m_rows; }
    const std::vector<RecomputeLabel>& labels() const { return m_labels; }
    const std::vector<MeasuredResult>& results() const { return m_results; }
    const std::vector<PlaybookNote>& notes() const { return m_notes; }
    /// All of them in that order, as text.
    const std::vector<PlaybookEntry>& entries() const { return m_entries; }

    const PlaybookStep* step(std::string_view id) const;
    const PlaybookRow* row(std::string_view id) const;
    const RecomputeLabel* label(std::string_view name) const;
    const MeasuredResult* result(std::string_view id) const;
    const PlaybookNote* note(std::string_view id) const;
    /// Entries in which every word of `words` occurs, in any case (ASCII), in order; all without words.
    std::vector<const PlaybookEntry*> search(std::string_view words) const;

private:
    void makeEntries();

    std::vector<PlaybookStep> m_steps;
    std::vector<PlaybookRow> m_rows;
    std::vector<RecomputeLabel> m_labels;
    std::vector<MeasuredResult> m_results;
    std::vector<PlaybookNote> m_notes;
    std::vector<PlaybookEntry> m_entries;
};

/// "Qwen3-8B, H100, TP2 …: peak 42.814 GB, throughput change −6.74 %; source": one measured result as a line.
std::string resultText(const MeasuredResult& result);

} // namespace tidemark
