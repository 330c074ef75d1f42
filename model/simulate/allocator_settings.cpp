// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/simulate/allocator_settings.hpp"

#include "model/core/allocator_conf.hpp"
#include "model/core/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace tidemark {

namespace {

constexpr std::uint64_t mib = 1ULL << 20;

Error refused(const std::string& key, const std::string& value, const std::string& wanted)
{
    return {ErrorCode::Usage,
        displayText(key, 80) + " cannot be \"" + displayText(value, 80) + "\": " + wanted + ".",
        std::nullopt};
}

Error noSetting(const std::string& key)
{
    return {ErrorCode::Usage, "The allocator has no setting \"" + displayText(key, 80) + "\".", std::nullopt};
}

std::optional<std::uint64_t> wholeNumber(const std::string& text)
{
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool all = error == std::errc() && end == text.data() + text.size();
    return all && value < (1ULL << 40) ? std::optional(value) : std::nullopt;
}

std::optional<double> fraction(const std::string& text)
{
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool all = error == std::errc() && end == text.data() + text.size();
    return all && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// "4", or "[256:1,512:2,>:8]": every number 0 or a power of two.
bool areDivisions(const std::string& value)
{
    const auto power = [](const std::string& text) {
        const auto number = wholeNumber(text);
        return number && *number <= 64 && (*number & (*number - 1)) == 0;
    };
    if (!value.starts_with('['))
        return power(value);
    if (!value.ends_with(']') || value.size() < 3)
        return false;
    const auto items = allocatorOptions(std::string_view(value).substr(1, value.size() - 2));
    return !items.empty() && std::all_of(items.begin(), items.end(), [&](const auto& item) {
        const auto start = item.first == ">" ? std::optional<std::uint64_t>(1) : wholeNumber(item.first);
        return start && *start > 0 && (*start & (*start - 1)) == 0 && power(item.second);
    });
}

Result<void> setMebibytes(std::uint64_t& target, const std::string& key, const std::string& value,
    std::uint64_t least, const std::string& wanted)
{
    const auto number = wholeNumber(value);
    if (!number || *number < least)
        return refused(key, value, wanted);
    target = *number * mib;
    return {};
}

bool ignored(const std::string& key)
{
    constexpr std::array names{"backend", "release_lock_on_cudamalloc", "release_lock_on_hipmalloc",
        "graph_capture_record_stream_reuse", "throw_on_cudamalloc_oom", "use_async_allocator"};
    return key.starts_with("pinned_")
        || std::any_of(names.begin(), names.end(), [&](const char* name) { return key == name; });
}

Result<void> applyOne(AllocatorSettings& s, const std::string& key, const std::string& value)
{
    if (key == "expandable_segments") {
        if (value != "True" && value != "False")
            return refused(key, value, "PyTorch takes True or False");
        s.expandableSegments = value == "True";
    } else if (key == "max_split_size_mb") {
        return setMebibytes(s.rounding.maxSplitSize, key, value, 20, "it is a number of MiB of at least 20");
    } else if (key == "max_non_split_rounding_mb") {
        return setMebibytes(s.maxNonSplitRounding, key, value, 20, "it is a number of MiB of at least 20");
    } else if (key == "large_segment_size_mb") {
        const auto number = wholeNumber(value);
        if (!number || !BlockRules::isLargePage(*number) || *number % 2 != 0)
            return refused(key, value, "it is an even number of MiB above 10 and below 1 TiB");
        s.rounding.largePage = *number * mib;
    } else if (key == "garbage_collection_threshold") {
        const auto share = fraction(value);
        if (!share || *share <= 0 || *share >= 1)
            return refused(key, value, "it lies between 0 and 1");
        s.garbageCollectionThreshold = *share;
    } else if (key == "per_process_memory_fraction") {
        const auto share = fraction(value);
        if (!share || *share <= 0 || *share > 1)
            return refused(key, value, "it lies above 0 and is at most 1");
        s.memoryFraction = *share;
    } else if (key == "roundup_power2_divisions") {
        if (!areDivisions(value))
            return refused(key, value, "it is a power of two, or a list like [256:1,512:2,>:8]");
        s.rounding.divisions.fill(0);
        s.rounding.readDivisions(value);
    } else if (!ignored(key)) {
        return noSetting(key);
    }
    return {};
}

std::string divisionsText(const std::array<std::uint32_t, 16>& divisions)
{
    if (std::all_of(divisions.begin(), divisions.end(), [&](auto d) { return d == divisions[0]; }))
        return std::to_string(divisions[0]);
    std::string text = "[";
    for (std::size_t i = 0; i < divisions.size(); ++i)
        text += std::to_string(1U << i) + ':' + std::to_string(divisions[i])
            + (i + 1 < divisions.size() ? "," : "]");
    return text;
}

std::string shortNumber(double value)
{
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    return {text.data(), end};
}

constexpr std::array placementKeys{"expandable_segments", "max_split_size_mb", "max_non_split_rounding_mb",
    "large_segment_size_mb", "garbage_collection_threshold", "per_process_memory_fraction",
    "roundup_power2_divisions"};

/// The recorded variable and its text; both empty when the file has none.
std::pair<std::string, std::string> recordedConf(const Snapshot& snapshot)
{
    for (const Setting& s : snapshot.settings)
        if (const auto* text = std::get_if<std::string>(&s.value); text && s.key.ends_with("ALLOC_CONF"))
            return {s.key, *text};
    return {};
}

/// Names and values go into a shell unquoted.
bool isPlain(const std::string& text)
{
    return std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
            || std::string_view("_-.:,[]").find(c) != std::string_view::npos;
    });
}

} // namespace

bool AllocatorSettings::operator==(const AllocatorSettings& o) const
{
    return expandableSegments == o.expandableSegments && rounding.exactRequests == o.rounding.exactRequests
        && rounding.padding == o.rounding.padding && rounding.maxSplitSize == o.rounding.maxSplitSize
        && rounding.divisions == o.rounding.divisions && maxNonSplitRounding == o.maxNonSplitRounding
        && rounding.largePage == o.rounding.largePage
        && garbageCollectionThreshold == o.garbageCollectionThreshold && memoryFraction == o.memoryFraction
        && expandablePrivatePools == o.expandablePrivatePools && baseAlign == o.baseAlign;
}

AllocatorSettings AllocatorSettings::of(const Snapshot& snapshot, const DeviceTrace& device)
{
    AllocatorSettings s;
    s.rounding = BlockRules::of(snapshot, device);
    const BlockRules stated = s.rounding;
    // Item by item: one that PyTorch took but we do not know must not hide the others.
    for (const auto& [key, value] : allocatorOptions(recordedConf(snapshot).second))
        static_cast<void>(applyOne(s, key, value).ok());
    s.rounding = stated;
    for (const Setting& setting : snapshot.settings) {
        if (const auto* on = std::get_if<bool>(&setting.value); on && setting.key == "expandable_segments")
            s.expandableSegments = *on;
        if (const auto* share = std::get_if<double>(&setting.value);
            share && setting.key == "garbage_collection_threshold")
            s.garbageCollectionThreshold = *share;
    }
    // Settings can be switched during a run: what is there counts more than what was stated at its end.
    const auto& actions = device.events.action;
    s.expandableSegments = s.expandableSegments
        || std::any_of(
            device.segments.begin(), device.segments.end(), [](const Segment& g) { return g.expandable; })
        || std::find(actions.begin(), actions.end(), Action::SegmentMap) != actions.end();
    s.baseAlign = s.rounding.padding == 32 ? 16U << 10 : 0;
    return s;
}

Result<void> AllocatorSettings::apply(std::string_view conf)
{
    AllocatorSettings changed = *this;
    for (const auto& [key, value] : allocatorOptions(conf))
        if (const Result<void> done = applyOne(changed, key, value); !done)
            return done.error();
    if (changed.rounding.maxSplitSize < changed.rounding.largePage)
        return Error{ErrorCode::Usage,
            "max_split_size_mb cannot be below large_segment_size_mb: PyTorch refuses that.", std::nullopt};
    *this = changed;
    return {};
}

Result<AllocatorSettings> AllocatorSettings::withConf(std::string_view conf) const
{
    AllocatorSettings out = *this;
    for (const char* key : placementKeys)
        static_cast<void>(out.reset(key).ok());
    if (const Result<void> done = out.apply(conf); !done)
        return done.error();
    return out;
}

Result<void> AllocatorSettings::reset(std::string_view key)
{
    const AllocatorSettings usual;
    if (key == "expandable_segments")
        expandableSegments = false;
    else if (key == "max_split_size_mb")
        rounding.maxSplitSize = usual.rounding.maxSplitSize;
    else if (key == "max_non_split_rounding_mb")
        maxNonSplitRounding = usual.maxNonSplitRounding;
    else if (key == "large_segment_size_mb")
        rounding.largePage = usual.rounding.largePage;
    else if (key == "garbage_collection_threshold")
        garbageCollectionThreshold = 0;
    else if (key == "per_process_memory_fraction")
        memoryFraction.reset();
    else if (key == "roundup_power2_divisions")
        rounding.divisions = usual.rounding.divisions;
    else if (!ignored(std::string(key)))
        return noSetting(std::string(key));
    return {};
}

std::string AllocatorSettings::conf() const
{
    const AllocatorSettings usual;
    std::string text;
    const auto add = [&](const char* key, const std::string& value) {
        text += (text.empty() ? "" : ",") + std::string(key) + ':' + value;
    };
    if (expandableSegments)
        add("expandable_segments", "True");
    if (splitLimited())
        add("max_split_size_mb", std::to_string(rounding.maxSplitSize / mib));
    if (rounding.divisions != usual.rounding.divisions)
        add("roundup_power2_divisions", divisionsText(rounding.divisions));
    if (garbageCollectionThreshold > 0)
        add("garbage_collection_threshold", shortNumber(garbageCollectionThreshold));
    if (maxNonSplitRounding != usual.maxNonSplitRounding)
        add("max_non_split_rounding_mb", std::to_string(maxNonSplitRounding / mib));
    if (rounding.largePage != usual.rounding.largePage)
        add("large_segment_size_mb", std::to_string(rounding.largePage / mib));
    if (memoryFraction)
        add("per_process_memory_fraction", shortNumber(*memoryFraction));
    return text;
}

std::string settingsVariable(const Snapshot& snapshot, const AllocatorSettings& settings)
{
    if (settings.baseAlign != 0)
        return "PYTORCH_NPU_ALLOC_CONF";
    const std::string recorded(recordedConf(snapshot).first);
    return recorded.starts_with("PYTORCH_") && isPlain(recorded) ? recorded : "PYTORCH_CUDA_ALLOC_CONF";
}

std::string settingsLine(const Snapshot& snapshot, const AllocatorSettings& settings)
{
    const auto [recorded, text] = recordedConf(snapshot);
    const std::string name = settingsVariable(snapshot, settings);
    std::string conf = settings.conf();
    for (const auto& [key, value] : allocatorOptions(text)) {
        const bool placed = std::find(placementKeys.begin(), placementKeys.end(), key) != placementKeys.end();
        if (!placed && !key.empty() && isPlain(key) && isPlain(value))
            conf += (conf.empty() ? "" : ",") + key + ':' + value;
    }
    return conf.empty() ? "unset " + name : name + '=' + conf;
}

} // namespace tidemark
