// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/setting_bar.hpp"

#include <charconv>
#include <optional>
#include <utility>

namespace tidemark {

namespace {

/// Major and minor of "2.10.0a0+git"; absent when it is no version.
std::optional<std::pair<int, int>> versionOf(const std::optional<std::string>& text)
{
    if (!text)
        return std::nullopt;
    std::pair<int, int> version{0, 0};
    const char* const end = text->data() + text->size();
    const auto major = std::from_chars(text->data(), end, version.first);
    if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.')
        return std::nullopt;
    if (std::from_chars(major.ptr + 1, end, version.second).ec != std::errc{})
        return std::nullopt;
    return version;
}

} // namespace

std::string expandableBarred(const RunConfig& config)
{
    if (config.flag("ddp.nccl_ub") != true)
        return {};
    const auto torch = versionOf(config.text("versions.torch"));
    if (!torch)
        return "ddp.nccl_ub is on, which PyTorch before 2.11 refuses together with expandable segments, and "
               "the version is not known";
    if (*torch < std::pair(2, 11))
        return "ddp.nccl_ub is on, which PyTorch before 2.11 refuses together with expandable segments";
    return {};
}

std::string settingBarred(const RunConfig& config, const AllocatorSettings& settings)
{
    if (settings.expandableSegments)
        if (std::string reason = expandableBarred(config); !reason.empty())
            return reason;
    const bool recent
        = settings.rounding.largePage != AllocatorSettings().rounding.largePage || settings.memoryFraction;
    if (const auto torch = versionOf(config.text("versions.torch"));
        recent && torch && *torch < std::pair(2, 10))
        return "large_segment_size_mb and per_process_memory_fraction are settings of PyTorch 2.10 and later";
    return {};
}

} // namespace tidemark
