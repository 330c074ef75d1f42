// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/groups.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tidemark {

enum class ColourBy { Site, Size, Age, Stream, Pool, Category, SegmentKind, Label, Role };

/// Which colour an allocation gets, as a small number a theme turns into a colour. 0…11 are the category
/// slots (or the 7 steps of a sequential scale for Size and Age), then the special ones.
namespace colourSlot {
inline constexpr std::uint8_t other = 12;
inline constexpr std::uint8_t predatingStays = 13;
inline constexpr std::uint8_t predatingFreed = 14;
inline constexpr std::uint8_t waiting = 15;
inline constexpr std::uint8_t count = 16;
} // namespace colourSlot

struct LegendItem {
    std::uint8_t slot = 0;
    std::string text;
    /// Group (under Grouping of the same kind) it stands for; ~0 for "n other sites".
    std::uint32_t group = 0xffffffffU;
};

/// Colours of one device's allocations. Site: the 12 sites with the largest own maximum over the trace get
/// slots in that order, the rest are "other"; predating memory is grey with hatch in Site mode
/// (help/window.md). Assigned once, so zoom or cursor never change a colour.
struct Colouring {
    ColourBy by{};
    /// The slots are steps of the sequential scale instead of categories.
    bool sequential = false;
    std::vector<std::uint8_t> slotOf; ///< by AllocationId
    std::vector<LegendItem> legend;

    /// `labels` as for Grouping::build.
    static std::shared_ptr<const Colouring> build(
        const Replay& replay, const Sites& sites, ColourBy by, const Labels* labels = nullptr);
};

} // namespace tidemark
