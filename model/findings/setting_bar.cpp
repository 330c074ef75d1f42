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

/// Whether the settings have keys that PyTorch has since 2.10 and the recorded run did not use.
bool isRecent(const AllocatorSettings& settings, const AllocatorSettings& recorded)
{
    const AllocatorSettings usual;
    return (settings.rounding.largePage != usual.rounding.largePage
               && recorded.rounding.largePage == usual.rounding.largePage)
        || (settings.memoryFraction && !recorded.memoryFraction);
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
    const bool ascend = settings.baseAlign != 0;
    if (ascend && settings.expandableSegments
        && (settings.splitLimited() || settings.garbageCollectionThreshold > 0))
        return "torch_npu refuses max_split_size_mb and garbage_collection_threshold together with "
               "expandable_segments";
    if (const auto torch = versionOf(config.text("versions.torch"));
        isRecent(settings, {}) && torch && *torch < std::pair(2, 10))
        return "large_segment_size_mb and per_process_memory_fraction are settings of PyTorch 2.10 and later";
    return {};
}

std::string settingNeeds(
    const RunConfig& config, const AllocatorSettings& settings, const AllocatorSettings& recorded)
{
    const bool known = versionOf(config.text("versions.torch")).has_value();
    return !known && isRecent(settings, recorded) ? "PyTorch 2.10" : "";
}

} // namespace tidemark
