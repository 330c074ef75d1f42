// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/style/theme.hpp"
#include "widgets/timeline/timeline_source.hpp"

#include <QImage>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace tidemark {

/// Colours of the stack's pixels, taken from a theme once per picture.
struct StackInk {
    std::array<QRgb, colourSlot::count> fill{};
    std::array<QRgb, colourSlot::count> faded{};
    QRgb plot = 0;
    QRgb hatch = 0;
    QRgb halo = 0;
    QRgb ink = 0;
    double ratio = 1; ///< device pixels per logical pixel

    static StackInk of(const Theme& theme, bool sequential, double ratio);
    bool operator==(const StackInk&) const = default;
};

/// Flags by AllocationId; null = everything.
using KeepFlags = std::shared_ptr<const std::vector<std::uint8_t>>;

/// Everything that decides how the stack looks.
struct StackRequest {
    std::shared_ptr<const TimelineSource> source;
    std::shared_ptr<const Colouring> colouring;
    StackOrder order = StackOrder::Age;
    TimelineWindow window;
    StackInk ink;
    /// What keeps its colour; the rest is faded.
    KeepFlags keep;
    /// The kept ones are search hits, underlined where there is room.
    bool underline = false;
    /// Allocations of the finding shown: striped, so that colour does not stand alone.
    KeepFlags striped;

    /// Same ids under the same pixels; colours may differ.
    bool sameLayout(const StackRequest& other) const;
    bool operator==(const StackRequest& other) const;
};

/// The stack as ids and as colours. Pixels without memory are transparent.
struct StackPicture {
    StackRequest request;
    std::shared_ptr<const TimelineImage> layout;
    QImage pixels;
};

/// Lays out and colours; takes the layout of `last` over when it fits. Cost: layoutTimeline + 3 ns a pixel.
/// Any thread. Null when stopped.
std::shared_ptr<const StackPicture> drawStack(
    const StackRequest& request, const std::shared_ptr<const StackPicture>& last, const Job& job);

/// The colour stage alone.
QImage colourStack(const TimelineImage& layout, const StackRequest& request, const Job& job);

} // namespace tidemark
