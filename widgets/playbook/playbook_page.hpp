// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

#include <string>
#include <vector>

namespace tidemark {

/// A labelled line of an entry: "when", "keys", "stated cost", …
struct PageField {
    QString label;
    QString text;
    bool code = false; ///< a setting or a command: fixed pitch
};

/// One entry of the playbook, and which rules and checks tell whether it applies to a run.
struct PageRow {
    QString id; ///< "S1", "D4", "R7", "C-06"; empty for entries without one
    QString title;
    std::vector<PageField> fields;
    std::vector<std::string> rules; ///< Finding::rule
    std::vector<std::string> checks; ///< ConfigCheck::id
    /// Of findings with an evidence "label", only those that say this; empty: any.
    std::string label;
    QString command; ///< to copy; may be empty
};

/// A table of measured results with everything that makes its numbers mean something.
struct PageTable {
    QString title; ///< the model and what was varied
    std::vector<PageField> context; ///< hardware, configuration, units, source
    QStringList columns;
    std::vector<bool> figures; ///< per column: numbers, set flush right
    std::vector<QStringList> rows;
};

struct PageSection {
    QString anchor;
    QString title;
    QString intro;
    std::vector<PageRow> rows;
    std::vector<PageTable> tables;
};

/// The playbook as it is read: sections in order.
struct PlaybookPage {
    std::vector<PageSection> sections;
};

} // namespace tidemark
