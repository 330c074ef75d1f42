// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/job/run_diagnosis.hpp"
#include "widgets/style/style.hpp"

#include <QColor>
#include <QPainter>
#include <QRectF>
#include <QString>

#include <cstdint>
#include <utility>
#include <vector>

namespace tidemark {

/// Parts of a rank's peak: parameters, gradients and optimizer state by role, the rest by label. Σ = live
/// peak; what has no label is "".
std::vector<std::pair<std::string, std::uint64_t>> peakParts(const RankSummary& rank);
/// Colour of a part, the same in every run; grey for what the table does not name.
QColor partColour(const Theme& theme, std::string_view part);

/// Peak of a rank as a bar: what is live by label, then what is reserved beyond it, hatched. Bytes 0 …
/// `scale` span the box.
void paintPeakBar(QPainter& painter, const Style& style, const RankSummary& rank, const QRectF& box,
    std::int64_t scale, double ratio);
/// The same for one step, of which the parts are not known.
void paintStepBar(QPainter& painter, const Style& style, const StepPeak& peak, const QRectF& box,
    std::int64_t scale, double ratio);
/// The limit through a row.
void paintLimit(
    QPainter& painter, const Style& style, const QRectF& box, std::int64_t limit, std::int64_t scale);
/// Live memory over the recording as an area, reserved above it, the limit, steps, and the failure.
void paintSparkline(QPainter& painter, const Style& style, const RankSummary& rank,
    const RankStanding& standing, const QRectF& box, std::int64_t scale);

/// Parts of the bars of a job with the bytes of all ranks, largest first; the rest last under "".
std::vector<std::pair<std::string, std::uint64_t>> partsOfBars(const std::vector<RankSummary>& ranks);

} // namespace tidemark
