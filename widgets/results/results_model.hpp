// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"
#include "model/lens/colouring.hpp"
#include "model/lens/sites.hpp"
#include "model/replay/replay.hpp"

#include <QAbstractTableModel>

#include <memory>
#include <vector>

namespace tidemark {

/// The allocations a filter matches, as rows that are made when they are looked at. GUI thread.
class ResultsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Made, Freed, Life, Size, Address, Stream, Site, columns };
    struct Rows {
        std::vector<AllocationId> ids;
        std::vector<std::uint32_t> rowOf; ///< by AllocationId; ~0 for none
        std::uint64_t bytes = 0; ///< Σ requested sizes
    };

    using QAbstractTableModel::QAbstractTableModel;

    void show(std::shared_ptr<const Replay> replay, std::shared_ptr<const Sites> sites,
        std::shared_ptr<const Colouring> colouring, std::shared_ptr<const Rows> rows);
    const Replay* replay() const { return m_replay.get(); }
    const Rows* rows() const { return m_rows.get(); }
    AllocationId id(int row) const { return m_rows->ids[static_cast<std::size_t>(row)]; }
    /// −1 when it is no match.
    int rowOf(AllocationId id) const;
    QString line(int row) const;
    static QString header();

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& = {}) const override { return columns; }
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QString text(AllocationId id, int column) const;

    std::shared_ptr<const Replay> m_replay;
    std::shared_ptr<const Sites> m_sites;
    std::shared_ptr<const Colouring> m_colouring;
    std::shared_ptr<const Rows> m_rows;
};

/// The matches in the order of a column; equal ones in that of their making. Cost: a pass over the
/// allocations and one sort. Null when stopped. Any thread.
std::shared_ptr<const ResultsModel::Rows> resultRows(const Replay& replay, const Sites& sites,
    const std::vector<std::uint8_t>& matches, int column, bool descending, const Job& job);

} // namespace tidemark
