// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/job/summarise.hpp"
#include "widgets/ranks/ranks_model.hpp"
#include "widgets/style/style.hpp"

#include <QWidget>

#include <memory>
#include <optional>

class QComboBox;
class QLabel;
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
    void badMenu(const BadFile& bad, QPoint position);
    void restyle();
    void showLegend();

    Style& m_style;
    std::shared_ptr<const SummarisedJob> m_job;
    RankGrouping m_grouping = RankGrouping::Role;
    bool m_groupingChosen = false;
    QString m_problem;
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
