// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/facts.hpp"
#include "widgets/session.hpp"
#include "widgets/view_state.hpp"

#include <QString>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tidemark {

/// One line of a sheet. Texts are plain and safe to show; `link` ("event:12", "segment:0x…", "allocation:7",
/// "group:3", "hole:0x…") makes the value go somewhere.
struct SheetFact {
    QString key;
    QString value;
    QString second; ///< quieter, behind the value
    QString link;
    bool fixed = false; ///< fixed pitch: addresses
};

/// A call stack of a sheet with its heading.
struct SheetStack {
    QString title;
    StackId stack = StackId::none;
    QString note; ///< quieter, below the heading
};

/// A list of a sheet ("pinned by", "holds"): rows of texts, the first one may be a link.
struct SheetTable {
    QString title;
    QString note;
    struct Row {
        QString name;
        QString link;
        QStringList figures;
    };
    QStringList columns; ///< headings of the figures
    std::vector<Row> rows;
    QString more; ///< "and 12 more, 3.1 GiB", or empty
};

/// A block of free text: metadata, settings.
struct SheetText {
    QString title;
    QString text;
};

/// Everything the details say of one thing, in the order what, how much, when, where, why.
struct DetailsSheet {
    QString title;
    QString kind; ///< "allocation", "call site", "segment", "hole", "moment"
    std::optional<std::uint8_t> slot; ///< colour before the title
    bool sequential = false;
    std::vector<SheetFact> facts;
    std::vector<SheetTable> tables;
    std::vector<SheetText> texts;
    std::vector<SheetStack> stacks;
    QString noStack; ///< why there is no stack
    QString hint; ///< what to do to see more
    /// Allocation the sheet is about, for "zoom to life".
    AllocationId allocation = AllocationId::none;
};

/// What a pass over all allocations tells of the thing a sheet is about.
struct SheetFacts {
    std::optional<AllocationFacts> allocation;
    std::optional<GroupFacts> group;
    std::optional<RangeSums> range;
};

/// What a sheet is about: what is selected; the range or the cursor's moment when nothing is. A value.
struct SheetSubject {
    std::shared_ptr<const Replay> replay;
    Selection selection;
    std::shared_ptr<const Grouping> grouping; ///< of a selected group
    StateIndex cursor = 0;
    std::optional<std::pair<StateIndex, StateIndex>> range;

    static SheetSubject of(const Session& session, const ViewState& view);
    bool operator==(const SheetSubject&) const = default;
    /// The one allocation it is about, or none.
    AllocationId allocation() const;
    /// Whether its facts cost a pass over more allocations than a frame has time for.
    bool isSlow() const;
    /// Any thread.
    SheetFacts facts() const;
};

/// The sheet of what is selected with its facts. Null session data gives an empty sheet. Cost: a segment or
/// hole replays the segments at the cursor.
DetailsSheet detailsSheet(const Session& session, const ViewState& view, const SheetFacts& facts);

/// Events as a stack frame's text: "softmax", "nn_utils.py:6", whole path.
struct ShownFrame {
    QString name;
    QString place; ///< "file.py:12", empty when unknown
    QString path; ///< whole path and line
    bool framework = false;
    QString fx; ///< FX fields in one line, empty when none
    QString fxTrace; ///< lines of the original trace
};
ShownFrame shownFrame(const Snapshot& snapshot, FrameId frame);

/// The sheet as plain text for copying; `hideFramework` leaves framework frames out, counted.
QString sheetText(const DetailsSheet& sheet, const Snapshot& snapshot, bool hideFramework);

} // namespace tidemark
