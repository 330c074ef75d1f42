// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/ids.hpp"
#include "model/layout/id_image.hpp"
#include "model/lens/colouring.hpp"
#include "model/lens/scope.hpp"

#include <QObject>
#include <QString>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tidemark {

/// Allocations chosen together by something that is no group, such as a branch of a call tree.
struct ChosenSet {
    QString name;
    QString kind; ///< "branch of the call tree"
    std::vector<std::uint8_t> flags; ///< by AllocationId

    bool has(AllocationId id) const { return index(id) < flags.size() && flags[index(id)] != 0; }
};

/// What the user has chosen to look at: one allocation, all of a group or set, a segment, or a hole.
struct Selection {
    enum class Kind { None, Allocation, Group, Segment, Hole, Set };
    Kind kind = Kind::None;
    AllocationId allocation = AllocationId::none;
    /// Group number under `groupBy`.
    std::uint32_t group = 0;
    GroupBy groupBy = GroupBy::Site;
    /// Start address of a segment or hole at the cursor.
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::shared_ptr<const ChosenSet> set;

    bool operator==(const Selection&) const = default;
};

/// Aligned: the common axis of two runs that are compared.
enum class XAxis { Events, Time, Steps, Aligned };
enum class Tool { Pointer, Ruler, Note, Box, Arrow };

/// The visible window of the timeline in x: states, or microseconds since the first event on the time axis,
/// or steps.
struct XWindow {
    double left = 0;
    double right = 1;
    bool operator==(const XWindow&) const = default;
};

/// The one truth for what is looked at (README): cursor, hover, selection, range, colour, axis and
/// search, shared by all views. Every setter is a no-op when nothing changes and emits its signal otherwise.
/// States are clamped to the open replay by whoever sets them. GUI thread.
class ViewState : public QObject {
    Q_OBJECT
public:
    explicit ViewState(QObject* parent = nullptr);

    /// Forgets everything; cursor to `cursor` and the whole trace of `states` states visible. Emits all
    /// signals.
    void reset(StateIndex states, StateIndex cursor);
    StateIndex states() const { return m_states; }

    StateIndex cursor() const { return m_cursor; }
    void setCursor(StateIndex state);
    AllocationId hovered() const { return m_hovered; }
    void setHovered(AllocationId id);
    const Selection& selection() const { return m_selection; }
    void select(const Selection& selection);
    void selectAllocation(AllocationId id);
    void clearSelection() { select({}); }
    /// First and last state, both included.
    std::optional<std::pair<StateIndex, StateIndex>> range() const { return m_range; }
    void setRange(std::optional<std::pair<StateIndex, StateIndex>> range);

    /// Of what tables, trees and flames speak.
    Scope::Kind scopeKind() const { return m_scopeKind; }
    void setScopeKind(Scope::Kind kind);
    /// The scope itself; a range that is not chosen is the moment of the cursor.
    Scope scope(const Replay& replay) const;

    const XWindow& window() const { return m_window; }
    void setWindow(const XWindow& window);
    XAxis axis() const { return m_axis; }
    void setAxis(XAxis axis);
    ColourBy colourBy() const { return m_colourBy; }
    void setColourBy(ColourBy by);
    StackOrder stackOrder() const { return m_order; }
    void setStackOrder(StackOrder order);
    Tool tool() const { return m_tool; }
    void setTool(Tool tool);

    /// Allocations that match the search field: null when there is no search, else one flag per AllocationId.
    std::shared_ptr<const std::vector<std::uint8_t>> matches() const { return m_matches; }
    void setMatches(std::shared_ptr<const std::vector<std::uint8_t>> matches);

    /// The finding that is selected, as its place in Diagnosis::findings.
    std::optional<std::size_t> finding() const { return m_finding; }
    void setFinding(std::optional<std::size_t> finding);
    /// Allocations of the finding that is laid over the views (flags as matches()); null when none is.
    std::shared_ptr<const std::vector<std::uint8_t>> shownFinding() const { return m_shownFinding; }
    void setShownFinding(std::shared_ptr<const std::vector<std::uint8_t>> flags);
    /// What keeps its colour while the rest fades: matches of the search that belong to the finding shown,
    /// where both are there; null when nothing fades.
    std::shared_ptr<const std::vector<std::uint8_t>> emphasis() const { return m_emphasis; }

    /// The segment map draws the segments that the sandbox predicts, where it predicts any.
    bool mapPredicted() const { return m_mapPredicted; }
    void setMapPredicted(bool predicted);

    /// Rules of mappedPath for source files; a setting of the user's.
    QString pathRules() const { return m_pathRules; }
    void setPathRules(const QString& rules) { m_pathRules = rules; }

    /// View history (Alt+←/→): pushHistory remembers window and cursor as they are before a deliberate jump.
    void pushHistory();
    bool canGoBack() const { return !m_back.empty(); }
    bool canGoForward() const { return !m_forward.empty(); }
    void goBack();
    void goForward();

signals:
    void cursorChanged();
    void hoveredChanged();
    void selectionChanged();
    void rangeChanged();
    void windowChanged();
    void axisChanged();
    void colourByChanged();
    void stackOrderChanged();
    void toolChanged();
    void matchesChanged();
    void findingChanged();
    void shownFindingChanged();
    void emphasisChanged();
    void mapPredictedChanged();
    /// The scope's kind; scopes also follow the cursor and the range.
    void scopeKindChanged();
    void historyChanged();
    /// A view wants this allocation's whole life visible (double click).
    void zoomToLifeRequested(AllocationId id);
    /// A view wants a short text in the status bar's hover field ("" clears it).
    void hoverTextChanged(const QString& text);
    /// A view wants this text in the search field, and searched for ("" clears the search).
    void searchRequested(const QString& text);
    /// A view's empty state offers another device of the file.
    void deviceRequested(std::size_t deviceIndex);
    /// A view's empty state offers another file.
    void openFileRequested();
    /// A view's empty state offers a help page: "recording", "numbers", … (resources/help).
    void helpRequested(const QString& page);
    /// A view offers to open a source file in the user's editor (Ctrl+click on a frame). `line` is 0 when
    /// unknown.
    void editorRequested(const QString& file, int line);

private:
    struct Place {
        XWindow window;
        StateIndex cursor;
        XAxis axis;
    };
    Place here() const { return {m_window, m_cursor, m_axis}; }
    void go(const Place& place);
    void combineEmphasis();

    StateIndex m_states = 1;
    StateIndex m_cursor = 0;
    AllocationId m_hovered = AllocationId::none;
    Selection m_selection;
    std::optional<std::pair<StateIndex, StateIndex>> m_range;
    XWindow m_window;
    XAxis m_axis = XAxis::Events;
    ColourBy m_colourBy = ColourBy::Site;
    StackOrder m_order = StackOrder::Age;
    Tool m_tool = Tool::Pointer;
    std::shared_ptr<const std::vector<std::uint8_t>> m_matches;
    std::optional<std::size_t> m_finding;
    std::shared_ptr<const std::vector<std::uint8_t>> m_shownFinding;
    std::shared_ptr<const std::vector<std::uint8_t>> m_emphasis;
    bool m_mapPredicted = false;
    QString m_pathRules;
    Scope::Kind m_scopeKind = Scope::Kind::Instant;
    std::vector<Place> m_back;
    std::vector<Place> m_forward;
};

} // namespace tidemark
