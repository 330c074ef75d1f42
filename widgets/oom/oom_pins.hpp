// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/oom_scene.hpp"

#include <QAbstractTableModel>

#include <memory>

namespace tidemark {

/// Who holds the holes open: a row for each site, the one that holds most first. Roles as LiveTableModel's,
/// so that its delegate draws both. GUI thread.
class OomPinsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Site, Blocks, Size, HoldsFree, Leverage, columns };

    using QAbstractTableModel::QAbstractTableModel;
    void setScene(std::shared_ptr<const OomScene> scene);
    const PinGroup& pins(int row) const { return m_scene->pins[static_cast<std::size_t>(row)]; }
    /// −1 when the group holds nothing.
    int rowOf(std::uint32_t group) const;
    /// All rows tab-separated, bytes exact.
    QString copyText() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QString text(const PinGroup& pins, Column column) const;
    QString tip(const PinGroup& pins, Column column) const;
    std::shared_ptr<const OomScene> m_scene;
};

} // namespace tidemark
