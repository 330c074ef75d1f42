// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/colouring.hpp"
#include "model/lens/sites.hpp"
#include "model/replay/replay.hpp"

#include <QAbstractTableModel>

#include <memory>
#include <vector>

namespace tidemark {

/// All events of a device, or some of them, as rows that are made when they are looked at. GUI thread.
class EventsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Event, Time, Action, Size, Live, Reserved, Address, Stream, Pool, Site, columns };
    /// Rows of a table: by row the event; null: every event.
    using Rows = std::shared_ptr<const std::vector<std::uint32_t>>;

    using QAbstractTableModel::QAbstractTableModel;

    void show(std::shared_ptr<const Replay> replay, std::shared_ptr<const Sites> sites,
        std::shared_ptr<const Colouring> colouring, Rows rows);
    const Replay* replay() const { return m_replay.get(); }
    std::size_t events() const;
    std::uint32_t event(int row) const;
    /// The row of an event, or of the last one before it; −1 before the first row.
    int rowOf(std::uint32_t event) const;
    QString line(int row) const;
    static QString header();

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& = {}) const override { return columns; }
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QString text(std::uint32_t event, int column) const;

    std::shared_ptr<const Replay> m_replay;
    std::shared_ptr<const Sites> m_sites;
    std::shared_ptr<const Colouring> m_colouring;
    Rows m_rows;
};

/// The events about allocations that match: made by, or ending one of them. Cost: a pass over the events.
/// Null when stopped. Any thread.
EventsModel::Rows matchingEvents(
    const Replay& replay, const std::vector<std::uint8_t>& matches, const Job& job);

} // namespace tidemark
