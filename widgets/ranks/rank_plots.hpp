// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/job/summarise.hpp"
#include "widgets/style/style.hpp"

#include <QWidget>

#include <memory>
#include <vector>

namespace tidemark {

/// Peaks as dots, a line a role; failing ranks with a line to what was reserved. GUI thread.
class RoleDots : public QWidget {
    Q_OBJECT
public:
    RoleDots(Style& style, QWidget* parent = nullptr);
    void setJob(std::shared_ptr<const SummarisedJob> job);
    void setSelected(std::vector<std::size_t> ranks);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {0, 0}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Style& m_style;
    std::shared_ptr<const SummarisedJob> m_job;
    std::vector<std::size_t> m_selected;
};

/// Live memory of chosen ranks over one axis, a line each with its name at the end. GUI thread.
class RankCurves : public QWidget {
    Q_OBJECT
public:
    enum class Along { Events, Time, Steps };

    RankCurves(Style& style, QWidget* parent = nullptr);
    void setRanks(std::shared_ptr<const SummarisedJob> job, std::vector<std::size_t> ranks);
    void setAlong(Along along);
    Along along() const { return m_along; }
    bool canAlong(Along along) const;
    /// Largest live bytes of a rank within a share [from, to) of the axis; for tests and tooltips.
    std::int64_t highest(std::size_t rank, double from, double to) const;
    static constexpr std::size_t most = 8; ///< ranks drawn at once
    QSize minimumSizeHint() const override { return {0, 0}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Line {
        std::size_t rank = 0;
        std::vector<std::pair<double, std::int64_t>> points; ///< x of the axis, highest live bytes from there
        double end = 0;
    };
    void build();

    Style& m_style;
    std::shared_ptr<const SummarisedJob> m_job;
    std::vector<std::size_t> m_ranks;
    Along m_along = Along::Events;
    std::vector<Line> m_lines;
    double m_extent = 1;
    std::int64_t m_highest = 1;
};

/// Segments of chosen ranks side by side, one a row, at each one's peak or at the end. GUI thread.
class RankMaps : public QWidget {
    Q_OBJECT
public:
    enum class Moment { Peak, End };

    RankMaps(Style& style, QWidget* parent = nullptr);
    void setRanks(std::shared_ptr<const SummarisedJob> job, std::vector<std::size_t> ranks);
    void setMoment(Moment moment);
    Moment moment() const { return m_moment; }
    static constexpr std::size_t most = 4;
    QSize minimumSizeHint() const override { return {0, 0}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Style& m_style;
    std::shared_ptr<const SummarisedJob> m_job;
    std::vector<std::size_t> m_ranks;
    Moment m_moment = Moment::Peak;
};

} // namespace tidemark
