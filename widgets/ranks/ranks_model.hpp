// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/job/same_step.hpp"
#include "model/job/summarise.hpp"
#include "widgets/style/style.hpp"

#include <QAbstractItemModel>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace tidemark {

/// By what ranks stand under one heading.
enum class RankGrouping { None, Role, Data, Tensor, Expert };

/// A row of the overview: a rank with its figures, one that left no file, or a file that cannot be read.
struct RankRow {
    enum class Kind { Rank, Missing, Bad };
    Kind kind = Kind::Rank;
    std::size_t summary = 0; ///< into SummarisedJob::ranks
    std::optional<int> rank;
    std::size_t bad = 0; ///< into DiscoveredJob::bad
};

/// Ranks of a job as rows under headings. Item roles below give what the delegate paints. GUI thread.
class RanksModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Column { Name, Place, Bar, Live, Held, Room, Curve, Found, ColumnCount };
    enum ItemRole {
        SortRole = Qt::UserRole, ///< what rows are sorted by
        ErrorRole, ///< sentence of a row without figures
    };

    RanksModel(Style& style, QObject* parent = nullptr);

    /// Null: nothing.
    void setJob(std::shared_ptr<const SummarisedJob> job, RankGrouping grouping);
    const SummarisedJob* job() const { return m_job.get(); }
    /// Which groupings tell ranks of this job apart.
    static std::vector<RankGrouping> useful(const SummarisedJob& job);

    bool isHeading(const QModelIndex& at) const { return at.isValid() && at.internalId() == heading; }
    /// Null for headings.
    const RankRow* row(const QModelIndex& at) const;
    const RankSummary* summary(const QModelIndex& at) const;
    const RankStanding* standing(const QModelIndex& at) const;
    /// Row of a summary; invalid when it has none.
    QModelIndex indexOf(std::size_t summary) const;
    /// The step at which ranks are compared instead of each one's peak; "" for none.
    void setStep(const std::string& step);
    const std::string& step() const { return m_step; }
    /// Peaks of a rank inside of it; null where they are not known.
    const StepPeak* stepOf(const RankSummary& summary) const;
    /// Other files of the rank's row that are not shown, a sentence each.
    QStringList others(const QModelIndex& at) const;
    /// Right end of the bars: everything fits, the limit too.
    std::int64_t scale() const { return m_scale; }
    /// "median peak live 66.80 GiB" of a heading.
    QString headingNote(const QModelIndex& at) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& at, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    void sort(int column, Qt::SortOrder order) override;

private:
    static constexpr quintptr heading = ~quintptr{0};
    struct Group {
        QString title;
        std::vector<RankRow> rows;
    };
    void build(RankGrouping grouping);
    void sortRows();
    std::optional<std::int64_t> sortKey(const RankRow& row, int column) const;
    QVariant text(const RankRow& row, int column) const;

    Style& m_style;
    std::shared_ptr<const SummarisedJob> m_job;
    std::vector<Group> m_groups;
    std::int64_t m_scale = 1;
    int m_sortColumn = Name;
    Qt::SortOrder m_order = Qt::AscendingOrder;
    std::string m_step;
};

} // namespace tidemark
