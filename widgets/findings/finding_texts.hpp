// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/diagnosis.hpp"

#include <QString>

#include <vector>

namespace tidemark {

/// "recompute-candidate · core_attn · S3": the id, what tells it from others of its kind, the playbook's row.
QString findingSubtitle(const Finding& finding);
/// "GPU 0, rank 3" where there are several; empty otherwise.
QString findingPlace(const Finding& finding, const Diagnosis& diagnosis);

/// Long names have no spaces to wrap at: lines may end after the parts of a word that is too long.
QString breakable(const QString& text);

/// A number behind a verdict as words: "pinned free", "34.50 GiB", "37,044,092,928 B".
struct EvidenceText {
    QString name;
    QString value;
    QString exact; ///< empty when `value` is exact
};
EvidenceText evidenceText(const Evidence& evidence);

/// What a grade means, for its tool tip.
QString gradeMeaning(Grade grade);
/// "−9.18 GiB at the old peak · new peak 13.36 GiB, peak moved to …"; empty when nothing is known.
QString fixEffect(const Fix& fix);
/// The finding with its evidence and fixes, to copy.
QString findingText(const Finding& finding);

/// Rules that could not decide and what they need, a line each; those that need the same together.
QString undecidedText(const std::vector<Undecided>& undecided);

} // namespace tidemark
