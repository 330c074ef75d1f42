// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.hpp"
#include "widgets/common/latest_task.hpp"
#include "widgets/session.hpp"
#include "widgets/view_state.hpp"

#include <QObject>
#include <QString>

#include <array>
#include <memory>
#include <optional>

namespace tidemark {

/// Two runs that are compared: a session and a view state for each, linked through the alignment, so that
/// one cursor, one window and one chosen group hold on both sides. The comparison is made off the GUI thread
/// whenever a side changes; the newest asked for wins. GUI thread.
class CompareState : public QObject {
    Q_OBJECT
public:
    using Which = compare::Which;
    /// The instants the table compares.
    enum class At { Peaks, Cursor, Step, Moments };

    explicit CompareState(QObject* parent = nullptr);

    Session& session(Which side) { return m_sides[place(side)].session; }
    const Session& session(Which side) const { return m_sides[place(side)].session; }
    ViewState& view(Which side) { return m_sides[place(side)].view; }
    const ViewState& view(Which side) const { return m_sides[place(side)].view; }

    /// What a side shows; null clears it. The device is the rank's main one unless said.
    void setRank(
        Which side, std::shared_ptr<const Rank> rank, std::optional<std::size_t> device = std::nullopt);
    void setLabel(Which side, const QString& label);
    /// As typed; empty: the file's name stands for it.
    QString label(Which side) const { return m_sides[place(side)].label; }
    /// Name of a side for texts.
    QString name(Which side) const;
    void swap();
    /// Both sides are the same run: the states to compare.
    void setInstants(StateIndex a, StateIndex b);

    /// Null until both sides are there and the first comparison is made.
    std::shared_ptr<const compare::Comparison> comparison() const { return m_comparison; }
    /// With the offset that was dragged. Null as comparison().
    std::shared_ptr<const compare::Alignment> alignment() const { return m_alignment; }
    /// The table at the chosen instants. Null as comparison().
    std::shared_ptr<const compare::Table> table() const { return m_table; }
    bool busy() const { return m_task.busy() || m_tableTask.busy(); }

    /// Absent: the best one.
    void setAlign(std::optional<compare::AlignBy> by);
    std::optional<compare::AlignBy> align() const { return m_wish.align; }
    void setGroupBy(GroupBy by);
    GroupBy groupBy() const { return m_wish.by; }
    void setAt(At at);
    At at() const { return m_at; }
    /// B is moved by so many of its states against the alignment.
    void setOffset(std::int64_t states);
    std::int64_t offset() const { return m_offset; }

    /// Two moments were chosen (setInstants).
    bool hasMoments() const { return m_wish.stateA.has_value(); }
    /// Each side stands where the table speaks of it, which need not be one place of the axis.
    bool apart() const { return m_apart; }

    /// On the common axis.
    double cursor() const { return m_cursor; }
    void setCursor(double x);
    const XWindow& window() const { return m_window; }
    /// Kept inside the common axis.
    void setWindow(const XWindow& window);
    /// A common group, highlighted on both sides.
    std::optional<std::uint32_t> group() const { return m_group; }
    void setGroup(std::optional<std::uint32_t> group);
    /// "step 2 (ProfilerStep#12)", "each peak", "cursor": what the table speaks of, in words.
    QString atText() const;

signals:
    /// comparison(), or what it will be made of.
    void changed();
    void alignmentChanged();
    void tableChanged();
    void cursorChanged();
    void windowChanged();
    void groupChanged();
    void busyChanged();

private:
    struct Half {
        Session session;
        ViewState view;
        QString label;
    };
    static std::size_t place(Which side) { return side == Which::A ? 0 : 1; }
    compare::Side sideOf(Which side) const;
    void connectSide(Which side);
    void follow();
    void compareNow();
    void take(std::shared_ptr<const compare::Comparison> made);
    void share();
    std::shared_ptr<const AxisKnots> knotsOf(Which side) const;
    std::shared_ptr<const Colouring> coloursOf(Which side) const;
    void makeTable();
    void placeCursors();
    void link(Which from);
    void linkWindow(Which from);
    void linkSelection(Which from);
    void showGroup(Which side);

    std::array<Half, 2> m_sides;
    compare::Wish m_wish;
    At m_at = At::Peaks;
    std::int64_t m_offset = 0;
    double m_cursor = 0;
    XWindow m_window;
    std::optional<std::uint32_t> m_group;
    std::shared_ptr<const compare::Comparison> m_comparison;
    std::shared_ptr<const compare::Alignment> m_alignment;
    std::shared_ptr<const compare::Table> m_table;
    bool m_linking = false;
    bool m_apart = false;
    bool m_scheduled = false;
    LatestTask<std::shared_ptr<const compare::Comparison>> m_task;
    struct MadeTable {
        std::shared_ptr<const compare::Comparison> of;
        std::shared_ptr<const compare::Table> table;
    };
    LatestTask<MadeTable> m_tableTask;
};

} // namespace tidemark
