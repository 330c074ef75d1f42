// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/playbook/playbook_status.hpp"
#include "widgets/style/style.hpp"

#include <QString>

namespace tidemark {

/// What the reader wants to see of the playbook.
struct PlaybookFilter {
    QStringList words; ///< every one has to occur in an entry
    bool foundOnly = false;
};

/// The playbook as rich text. Icons are images "icon:NAME"; links are "finding:N" (a finding's place),
/// "copy:N" (a command's place in `commands`) and "clear:" (forget the search).
struct PlaybookText {
    QString html;
    QStringList commands;
    int shown = 0; ///< entries that pass the filter
    int all = 0;
    int found = 0; ///< of all, whatever the filter
    int clear = 0;
    int undecided = 0;
    std::vector<int> foundIn; ///< per section
    std::vector<bool> sectionShown;
};

/// `diagnosis` may be null: then nothing is greyed.
PlaybookText playbookText(
    const PlaybookPage& page, const Diagnosis* diagnosis, const PlaybookFilter& filter, const Style& style);

} // namespace tidemark
