// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/job/run_texts.hpp"

namespace tidemark {

report::RunTexts runTexts(const SummarisedJob& job)
{
    const RunDiagnosis& run = job.diagnosis;
    report::RunTexts texts{run.headline(job.ranks), run.findings, {}};
    if (!run.roles.sentence.empty())
        texts.notes.push_back(run.roles.sentence);
    for (const QualityNote& note : run.quality)
        if (note.id == Quality::MissingRank)
            texts.notes.push_back(note.sentence);
    return texts;
}

} // namespace tidemark
