// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/result.hpp"
#include "model/replay/figures.hpp"
#include "model/run/rank.hpp"

#include <array>
#include <string>

namespace tidemark {

/// A memory timeline's highest moment.
struct CategoryPeak {
    std::int64_t bytes = 0;
    std::int64_t timeUs = 0;
    std::array<std::int64_t, CategoryTimeline::names.size()> byCategory{};
};
CategoryPeak categoryPeak(const CategoryTimeline& timeline);

/// One file's figures as one line of JSON: the object of `info --json`. Text in it is valid UTF-8.
std::string infoJson(const std::string& path, const Rank& rank);
/// The figures of a device with events numbered as in the file, of which only a range may be open.
DeviceFigures figuresInFile(const Replay& replay);
/// The object printed for a file that cannot be read.
std::string errorJson(const std::string& path, const Error& error);

} // namespace tidemark
