// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/job/summarise.hpp"
#include "widgets/notes/notes_state.hpp"
#include "widgets/ranks/ranks_model.hpp"
#include "widgets/style/style.hpp"

#include <QWidget>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

class QComboBox;
class QLabel;
class QMenu;
class QStackedLayout;
class QTreeView;
class QWidget;

namespace tidemark {

class EmptyState;
class RankCurves;
class RankDelegate;
class RankMaps;
class RoleDots;
class RunPanel;
class Segmented;
class WrappedLabel;

/// A whole job (help/ranks.md): a row a rank with its peak, headroom and curve, the limit through all rows,
/// what stands out and why; curves and segments of the chosen ranks below. It shows summaries only: a rank is
/// opened by whoever hears openRequested. GUI thread.
class RanksView : public QWidget {
    Q_OBJECT
public:
    RanksView(Style& style, QWidget* parent = nullptr);
    ~RanksView() override;

    /// Null: nothing. What is chosen stays chosen where the rank is still there.
    void setJob(std::shared_ptr<const SummarisedJob> job);
    std::shared_ptr<const SummarisedJob> job() const { return m_job; }
    /// Ranks are being read.
    void setProgress(std::size_t done, std::size_t total);
    /// Why there is nothing, one sentence; empty: no run is open.
    void setProblem(const QString& sentence);
    void setGrouping(RankGrouping grouping);
    RankGrouping grouping() const { return m_grouping; }
    /// Compares all ranks at one step instead of each at its own peak; "" for that.
    void compareAt(const std::string& step);
    /// Lays the table out for a picture: all rows at once, nothing but them and the key.
    void setForPicture();
    /// Height at which every row shows, at a width.
    int wholeHeight(int width);

    /// Position of a rank's file among those that remarks are about (Annotation::input); absent: it cannot
    /// have any.
    using InputOf = std::function<std::optional<std::uint32_t>(const std::filesystem::path&)>;
    /// Remarks on ranks, as numbered discs in their rows. `notes` outlives the view.
    void setNotes(NotesState& notes, InputOf inputOf);
    /// The next click on a rank makes a remark.
    void setPlacing(bool placing);
    /// Makes one and opens its text.
    void noteOn(std::size_t rank);
    /// Chooses the rank a remark is on.
    void goToNote(std::uint64_t id);
    /// Numbers of the remarks on a rank.
    std::vector<int> notesOn(std::size_t rank) const;

    /// Summaries that are chosen, the current one first.
    std::vector<std::size_t> chosen() const;
    void choose(std::size_t rank);

    QTreeView& table() { return *m_table; }
    const RanksModel& model() const { return *m_model; }
    RunPanel& panel() { return *m_panel; }
    RankCurves& curves() { return *m_curves; }
    RankMaps& maps() { return *m_maps; }
    QComboBox& stepChoice() { return *m_files; }
    QComboBox& momentChoice() { return *m_step; }
    Segmented& bars() { return *m_bars; }
    QString emptyHeading() const;
    /// "15 of 16 ranks · fullest 66.80 GiB (rank 0) · …".
    QString summaryText() const;

    QSize minimumSizeHint() const override { return {0, 0}; }

signals:
    void openRequested(const QString& path);
    void compareRequested(const QString& a, const QString& b);
    void openFolderRequested();
    /// What can be read of a broken file.
    void partialRequested(const QString& path);
    /// The files of this step, or the newest of each rank.
    void stepWanted(std::optional<std::int64_t> step);
    void chosenChanged();
    /// A remark was made: its tool is done.
    void notePlaced();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void placeColumns();
    void fillGroupings();
    void fillSteps();
    void refresh();
    void followChosen();
    void open(std::size_t rank);
    void compare(std::size_t rank, std::size_t other);
    void contextMenu(QPoint position);
    bool isOn(const report::Annotation& note, const RankSummary& rank) const;
    void addNoteActions(QMenu& menu, std::size_t rank);
    void editNote(std::uint64_t id, std::size_t rank, bool fresh);
    void badMenu(const BadFile& bad, QPoint position);
    void restyle();
    void showLegend();

    Style& m_style;
    std::shared_ptr<const SummarisedJob> m_job;
    RankGrouping m_grouping = RankGrouping::Role;
    bool m_groupingChosen = false;
    QString m_problem;
    NotesState* m_notes = nullptr;
    InputOf m_inputOf;
    bool m_placing = false;
    bool m_forPicture = false;
    RanksModel* m_model;
    RankDelegate* m_delegate;
    QTreeView* m_table;
    QComboBox* m_groupBy;
    QComboBox* m_files; ///< which step's files
    Segmented* m_bars;
    QComboBox* m_step; ///< at which bars are compared
    QWidget* m_filesBox;
    QWidget* m_barsBox;
    WrappedLabel* m_summary;
    QWidget* m_head;
    QWidget* m_below;
    QWidget* m_right;
    WrappedLabel* m_legend;
    RunPanel* m_panel;
    RoleDots* m_dots;
    RankCurves* m_curves;
    RankMaps* m_maps;
    Segmented* m_along;
    Segmented* m_moment;
    EmptyState* m_empty;
    QWidget* m_content;
    QStackedLayout* m_pages;
};

} // namespace tidemark
