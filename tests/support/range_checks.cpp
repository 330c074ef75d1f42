// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/range_checks.hpp"

#include "model/snapshot/outside_range.hpp"
#include "tests/support/made_up_program.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace tidemark::test {

namespace {

std::string at(const char* what, StateIndex state, std::int64_t whole, std::int64_t part)
{
    return std::string(what) + " in state " + std::to_string(state) + " of the range: " + std::to_string(part)
        + ", in the whole file " + std::to_string(whole);
}

std::string differenceOfSeries(
    const char* what, const Series& whole, const Series& part, StateIndex first, StateIndex states)
{
    for (StateIndex s = 0; s < states; ++s)
        if (whole.at(first + s) != part.at(s))
            return at(what, s, whole.at(first + s), part.at(s));
    return {};
}

/// Address and size of all that is live at a state.
std::vector<std::pair<std::uint64_t, std::uint64_t>> liveAt(const Timeline& timeline, StateIndex state)
{
    std::vector<std::pair<std::uint64_t, std::uint64_t>> live;
    for (const AllocationId id : timeline.liveAt(state))
        live.emplace_back(timeline.allocations().address[index(id)], timeline.allocations().size[index(id)]);
    std::ranges::sort(live);
    return live;
}

std::string differenceOfState(
    const Replay& whole, const Replay& part, StateIndex first, StateIndex state, bool sameSegments)
{
    const auto live = liveAt(part.timeline, state);
    if (live != liveAt(whole.timeline, first + state))
        return "another set of live allocations in state " + std::to_string(state);
    std::int64_t sum = 0;
    for (const auto& [address, size] : live)
        sum += static_cast<std::int64_t>(size);
    if (sum != part.timeline.requested().at(state))
        return at("the sum of what is live", state, part.timeline.requested().at(state), sum);
    if (!part.segments.known() || !sameSegments)
        return {};
    const SegmentState map = part.segments.stateAt(state, part.timeline);
    const SegmentState all = whole.segments.stateAt(first + state, whole.timeline);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> here;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> there;
    for (const SegmentView& view : map.segments)
        here.emplace_back(view.address, view.size);
    for (const SegmentView& view : all.segments)
        there.emplace_back(view.address, view.size);
    if (here != there)
        return "another map of segments in state " + std::to_string(state);
    std::uint64_t pieces = 0;
    for (const Piece& piece : map.pieces)
        pieces += piece.size;
    if (pieces != map.reserved)
        return "the pieces of the map do not cover its segments in state " + std::to_string(state);
    return {};
}

std::string differenceOfDevice(const Replay& whole, const Replay& part, const ReadOptions& options)
{
    const std::uint64_t count = whole.device().events.count();
    const auto [wantedFirst, wantedLast] = rangeOf(options, count);
    const std::uint64_t first = std::min(wantedFirst, count);
    const std::uint64_t kept = wantedLast < first
        ? 0
        : std::min(count - first, wantedLast - first < count ? wantedLast - first + 1 : count);
    if (part.device().events.count() != kept)
        return std::to_string(part.device().events.count()) + " events, where " + std::to_string(kept)
            + " were asked for";
    if (part.device().outside == nullptr || part.device().outside->eventsInFile != count)
        return "the range does not know how many events the file has";
    for (std::uint64_t i = 0; i < kept; ++i)
        if (part.device().events.address[i] != whole.device().events.address[first + i]
            || part.device().events.action[i] != whole.device().events.action[first + i])
            return "event " + std::to_string(i) + " is another one";
    const auto from = static_cast<StateIndex>(first);
    const auto states = static_cast<StateIndex>(kept + 1);
    for (const auto& [what, a, b] :
        {std::tuple("live memory", &whole.timeline.requested(), &part.timeline.requested()),
            std::tuple("memory that waits", &whole.timeline.pending(), &part.timeline.pending())})
        if (auto different = differenceOfSeries(what, *a, *b, from, states); !different.empty())
            return different;
    if (whole.segments.reservedKnown() != part.segments.reservedKnown())
        return "reserved memory is known in one of them only";
    if (whole.segments.reservedKnown())
        if (auto different = differenceOfSeries(
                "reserved memory", whole.segments.reserved(), part.segments.reserved(), from, states);
            !different.empty())
            return different;
    const bool sameSegments = whole.segments.misfits() == 0;
    for (const StateIndex state : {StateIndex{0}, states / 3, states / 2, states - 1})
        if (auto different = differenceOfState(whole, part, from, state, sameSegments); !different.empty())
            return different;
    if (!part.segments.known())
        return {};
    std::uint64_t blocks = 0;
    for (const Segment& segment : part.device().segments)
        for (std::uint32_t i = 0; i < segment.blockCount; ++i)
            blocks += sane(part.device().blocks[segment.firstBlock + i].size);
    const SegmentState end = part.segments.stateAt(states - 1, part.timeline);
    if (sameSegments && part.device().outside->eventsAfter > 0 && blocks != end.reserved)
        return "the blocks at the end sum to " + std::to_string(blocks) + " of "
            + std::to_string(end.reserved) + " reserved bytes";
    return {};
}

} // namespace

std::vector<ReadOptions> rangesToTry(std::uint64_t events, std::size_t count, std::uint64_t seed)
{
    std::vector<ReadOptions> all;
    const auto add = [&](std::uint64_t first, std::uint64_t last) {
        ReadOptions options;
        options.events = std::pair(first, last);
        all.push_back(options);
    };
    add(0, ~std::uint64_t{0});
    add(0, 0);
    add(events / 2, events / 2);
    if (events > 0)
        add(events - 1, ~std::uint64_t{0});
    add(events, events + 5);
    for (const std::uint64_t last : {std::uint64_t{1}, events / 3 + 1, events + 1}) {
        ReadOptions options;
        options.lastEvents = last;
        all.push_back(options);
    }
    SeededNumbers numbers(seed);
    for (std::size_t i = 0; i < count && events > 0; ++i) {
        const std::uint64_t a = numbers.below(events);
        const std::uint64_t b = numbers.below(events);
        add(std::min(a, b), std::max(a, b));
    }
    return all;
}

std::string differenceOfRange(
    const Rank& whole, const std::filesystem::path& file, const ReadOptions& options)
{
    const auto part = openRank(file, options, {});
    const std::string name = options.events
        ? "events " + std::to_string(options.events->first) + " to " + std::to_string(options.events->second)
        : "the last " + std::to_string(options.lastEvents.value_or(0)) + " events";
    if (!part)
        return name + ": " + part.error().message;
    if ((*part)->devices.size() != whole.devices.size())
        return name + ": another number of devices";
    for (std::size_t i = 0; i < whole.devices.size(); ++i) {
        if (whole.devices[i]->device().events.count() == 0)
            continue;
        const std::string different = differenceOfDevice(*whole.devices[i], *(*part)->devices[i], options);
        if (!different.empty())
            return name + ", " + deviceName(whole.devices[i]->device().ordinal) + ": " + different;
    }
    return {};
}

} // namespace tidemark::test
