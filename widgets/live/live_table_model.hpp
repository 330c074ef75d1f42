// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/live_table.hpp"

#include <QAbstractTableModel>

#include <memory>
#include <optional>
#include <vector>

namespace tidemark {

/// A table as it was worked out for one moment; shared between model and worker.
struct LiveRows {
    std::shared_ptr<const Replay> replay;
    std::shared_ptr<const Grouping> grouping; ///< that of the table; of sites under GroupBy::None
    std::shared_ptr<const Colouring> colouring;
    std::shared_ptr<const std::vector<std::uint8_t>> matches; ///< null without a search
    std::shared_ptr<const LiveTable> table;
    std::vector<std::uint32_t> order;
    /// What shares are of: all the allocator could use; absent: what is live.
    std::optional<std::uint64_t> usable;
};

/// The rows of the live table for a view: in sorted order, the tail folded into one last row with its sum.
/// All texts are made when asked for, so that a million rows cost nothing until they are looked at. GUI
/// thread.
class LiveTableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Role {
        SlotRole = Qt::UserRole, ///< colour slot, or colourSlot::count for several; invalid: no swatch
        BarRole, ///< share of the largest row, 0…1
        SecondRole, ///< secondary text behind the display text
        FadedRole, ///< no member matches the search
        FoldRole, ///< the row stands for the folded tail
    };
    static constexpr int columns = 11;

    explicit LiveTableModel(QObject* parent = nullptr);

    void setRows(LiveRows rows);
    void clear();
    const LiveRows& rows() const { return m_rows; }
    bool isEmpty() const { return !m_rows.table; }

    /// Rows shown before the fold; absent: all of them.
    void setLimit(std::optional<std::size_t> limit);
    bool folds() const { return m_shown < total(); }
    /// Rows behind the fold.
    std::size_t folded() const { return total() - m_shown; }
    std::size_t total() const { return m_rows.order.size(); }

    /// Figures of a row; absent for the fold.
    std::optional<LiveFigures> figures(int row) const;
    bool isFold(int row) const;
    /// Shown row of a group (or allocation under GroupBy::None); the fold's when it is in the tail; −1 when
    /// it is not live. Cost: O(rows).
    int rowOf(std::uint32_t group) const;
    /// Name as in the file's data, before shortening.
    QString nameOf(const LiveFigures& figures) const;
    /// Σ bytes and allocations of a row, the fold's included.
    LiveFigures sumOf(int row) const;
    /// One row as tab-separated text of these columns, bytes exact.
    QString copyLine(int row, const std::vector<int>& columnList) const;
    static QString copyHeader(const std::vector<int>& columnList, GroupBy by);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

    static QString columnTitle(LiveColumn column, GroupBy by);
    static bool isText(LiveColumn column);

private:
    bool isFaded(const LiveFigures& figures) const;
    QString text(LiveColumn column, const LiveFigures& figures) const;
    QString exactText(LiveColumn column, const LiveFigures& figures) const;
    QString toolTip(LiveColumn column, const LiveFigures& figures) const;
    QVariant foldData(LiveColumn column, int role) const;
    void refold();

    LiveRows m_rows;
    std::optional<std::size_t> m_limit;
    std::size_t m_shown = 0;
    LiveFigures m_fold;
    std::uint64_t m_largestRow = 0;
};

/// "site" → "15 more sites": what the rows of a grouping are called.
QString rowNoun(GroupBy by, std::size_t count);
/// "1.20 of 22.54 GiB"; with both units when they differ.
QString partText(std::uint64_t part, std::uint64_t whole);

} // namespace tidemark
