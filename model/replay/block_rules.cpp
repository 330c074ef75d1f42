// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/block_rules.hpp"

#include "model/core/allocator_conf.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark {

namespace {

std::optional<std::int64_t> number(std::string_view text)
{
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
}

/// Class of a size or of an interval's start: floor(log2) from 1 MiB to 32 GiB.
std::size_t sizeClass(std::uint64_t bytes)
{
    const int log2 = static_cast<int>(std::bit_width(bytes)) - 1;
    return static_cast<std::size_t>(std::clamp(log2 - 20, 0, 15));
}

void readSettings(const Snapshot& snapshot, BlockRules& rules)
{
    constexpr std::string_view divisionKey = "roundup_power2_divisions.";
    std::string config;
    bool listed = false;
    for (const Setting& s : snapshot.settings) {
        if (const auto* text = std::get_if<std::string>(&s.value); text && s.key.ends_with("ALLOC_CONF"))
            config = *text;
        const auto* value = std::get_if<std::int64_t>(&s.value);
        if (!value)
            continue;
        if (s.key == "max_split_size" && *value > 0)
            rules.maxSplitSize = static_cast<std::uint64_t>(*value);
        if (s.key.starts_with(divisionKey)) {
            listed = true;
            const auto mib = number(std::string_view(s.key).substr(divisionKey.size()));
            if (mib && *mib > 0 && *value >= 0)
                rules.divisions[sizeClass(static_cast<std::uint64_t>(*mib) << 20)]
                    = static_cast<std::uint32_t>(*value);
        }
    }
    if (!listed) {
        if (const auto value = allocatorOption(config, "roundup_power2_divisions"))
            rules.readDivisions(*value);
    }
    if (const auto mib = number(allocatorOption(config, "large_segment_size_mb").value_or(""));
        mib && *mib > 0 && BlockRules::isLargePage(static_cast<std::uint64_t>(*mib)))
        rules.largePage = static_cast<std::uint64_t>(*mib) << 20;
    if (rules.maxSplitSize == ~std::uint64_t{0}) {
        const auto mib = number(allocatorOption(config, "max_split_size_mb").value_or(""));
        if (mib && *mib > 0)
            rules.maxSplitSize = static_cast<std::uint64_t>(*mib) << 20;
    }
}

/// The file's own live blocks say how requests were rounded. Only blocks on which the candidates differ have
/// a vote; without a majority the usual rule stays.
void readBlocks(const DeviceTrace& device, BlockRules& rules)
{
    BlockRules padded = rules;
    padded.padding = 32;
    std::int64_t forPadding = 0;
    std::int64_t forUnrounded = 0;
    for (const Block& b : device.blocks) {
        const std::uint64_t size = sane(b.size);
        const std::uint64_t requested = sane(b.requested);
        if ((b.state != BlockState::Allocated && b.state != BlockState::Pending) || requested == 0
            || size > BlockRules::smallLimit)
            continue;
        const std::uint64_t plain = rules.roundSize(requested);
        const std::uint64_t wide = padded.roundSize(requested);
        if (plain != wide)
            forPadding += (size == wide) - (size == plain);
        if (plain != requested)
            forUnrounded += (size == requested) - (size == plain || size == wide);
    }
    rules.exactRequests = forUnrounded > 0;
    rules.padding = forPadding > 0 && !rules.exactRequests ? 32 : 0;
}

} // namespace

BlockRules BlockRules::of(const Snapshot& snapshot, const DeviceTrace& device)
{
    BlockRules rules;
    if (device.ordinal < 0 || snapshot.source.kind != SourceKind::Snapshot) {
        rules.exactRequests = true;
        return rules;
    }
    readSettings(snapshot, rules);
    readBlocks(device, rules);
    return rules;
}

void BlockRules::readDivisions(std::string_view value)
{
    if (value.empty() || value.front() != '[') {
        divisions.fill(static_cast<std::uint32_t>(std::max<std::int64_t>(0, number(value).value_or(0))));
        return;
    }
    value.remove_prefix(1);
    std::size_t filled = 0;
    while (!value.empty() && value.front() != ']') {
        const std::size_t end = std::min(value.find_first_of(",]"), value.size());
        const std::string_view item = value.substr(0, end);
        value.remove_prefix(
            std::min(end + (end < value.size() && value[end] == ',' ? 1U : 0U), value.size()));
        const std::size_t colon = item.find(':');
        if (colon == std::string_view::npos)
            continue;
        const auto count = static_cast<std::uint32_t>(
            std::max<std::int64_t>(0, number(item.substr(colon + 1)).value_or(0)));
        if (item.front() == '>') {
            std::fill(divisions.begin() + static_cast<std::ptrdiff_t>(filled), divisions.end(), count);
            return;
        }
        const auto mib = static_cast<std::uint64_t>(std::max<std::int64_t>(1, number(item).value_or(1)));
        const std::size_t cls = sizeClass(std::min<std::uint64_t>(mib, 1U << 20) << 20);
        for (std::size_t c = filled == 0 ? 0 : cls; c <= cls; ++c)
            divisions[c] = count;
        filled = std::max(filled, cls + 1);
    }
}

std::uint64_t BlockRules::roundSize(std::uint64_t requested) const
{
    if (exactRequests || requested == 0 || requested > (1ULL << 62))
        return requested;
    const std::uint64_t size = requested + padding;
    if (size < minBlock)
        return minBlock;
    const std::uint32_t parts = divisions[sizeClass(size)];
    if (parts > 1 && size > minBlock * parts) {
        const std::uint64_t floor = std::bit_floor(size);
        if (floor == size)
            return size;
        const std::uint64_t step = floor >> (std::bit_width(parts) - 1);
        return step == 0 ? floor * 2 : (size + step - 1) / step * step;
    }
    return (size + minBlock - 1) / minBlock * minBlock;
}

std::uint64_t BlockRules::largestRest(std::uint64_t rounded, SegmentKind kind, bool rigid) const
{
    if (exactRequests)
        return 0;
    if (!rigid || kind != SegmentKind::Large)
        return minBlock - 1;
    return rounded < maxSplitSize ? smallLimit : ~std::uint64_t{0};
}

} // namespace tidemark
