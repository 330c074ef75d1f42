// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/limits.hpp"
#include "model/job/run_rule.hpp"

namespace tidemark {

namespace {

void run(const RunRuleInput& input, RunRuleOutput& output)
{
    if (input.missing.empty())
        return;
    QualityNote note;
    note.id = Quality::MissingRank;
    note.count = input.missing.size();
    note.sentence = input.missingSentence;
    for (const int rank : input.missing)
        if (note.examples.size() < limits::maxExamples)
            note.examples.push_back("rank " + std::to_string(rank));
    output.notes.push_back(std::move(note));
}

} // namespace

extern const RunRule missingRanksRunRule;
const RunRule missingRanksRunRule{"missing-rank", "Ranks that should have left a file and did not.", run};

} // namespace tidemark
