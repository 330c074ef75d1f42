// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/several.hpp"
#include "widgets/style/style.hpp"

#include <QWidget>

#include <vector>

namespace tidemark {

/// Peaks of several runs as bars to one scale, with what each needs more or less than the base. A click makes
/// a run the base, a double click asks for its comparison with the base. GUI thread.
class PeakBars : public QWidget {
    Q_OBJECT
public:
    PeakBars(Style& style, QWidget* parent = nullptr);

    /// At most compare::maxRuns; deltas are made here, against the base.
    void setBars(std::vector<compare::PeakBar> bars);
    const std::vector<compare::PeakBar>& bars() const { return m_bars; }
    void setBase(std::size_t base);
    std::size_t base() const { return m_base; }
    /// "run-b  22.54 GiB  +1.20 GiB": a row as text.
    QString rowText(std::size_t row) const;
    QRect rowRect(std::size_t row) const;
    QString copyText() const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

signals:
    void baseChanged();
    void compareRequested(std::size_t row);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    std::optional<std::size_t> rowAt(const QPoint& at) const;
    QString deltaOf(std::size_t row) const;

    Style& m_style;
    std::vector<compare::PeakBar> m_bars;
    std::size_t m_base = 0;
    std::size_t m_before = 0; ///< the base before the last click
};

} // namespace tidemark
