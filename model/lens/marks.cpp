// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/marks.hpp"

#include "model/core/text.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace tidemark {

namespace {

/// Depths told apart; unpaired marks of a broken file would otherwise nest without end.
constexpr std::size_t maxDepth = 64;

constexpr std::int64_t beforeAll = -1;
constexpr std::int64_t afterAll = std::numeric_limits<std::int64_t>::max();

/// A range between two places in the list of annotations, whose order is that of time.
struct Span {
    const Annotation* start = nullptr;
    const Annotation* end = nullptr;
    std::int64_t begin = beforeAll;
    std::int64_t close = afterAll;
};

bool concerns(const Annotation& annotation, const Snapshot& snapshot, int ordinal)
{
    if (annotation.device == ordinal || annotation.device == everyDevice)
        return true;
    // A range names the device its thread had chosen; when nothing was traced there, it still tells the time.
    return std::ranges::find(snapshot.devices, annotation.device, &DeviceTrace::ordinal)
        == snapshot.devices.end();
}

std::vector<const Annotation*> inOrder(const Snapshot& snapshot, int ordinal)
{
    std::vector<const Annotation*> list;
    for (const Annotation& annotation : snapshot.annotations)
        if (concerns(annotation, snapshot, ordinal))
            list.push_back(&annotation);
    const bool timed
        = std::ranges::all_of(list, [](const Annotation* a) { return a->timeUs != noTime && !a->event; });
    if (timed)
        std::ranges::stable_sort(list, {}, &Annotation::timeUs);
    return list;
}

std::vector<Span> pair(const std::vector<const Annotation*>& list)
{
    std::vector<Span> spans;
    std::unordered_map<StringId, std::vector<std::size_t>> open;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const auto place = static_cast<std::int64_t>(i);
        std::vector<std::size_t>& stack = open[list[i]->name];
        if (list[i]->start) {
            stack.push_back(spans.size());
            spans.push_back({list[i], nullptr, place, afterAll});
        } else if (!stack.empty()) {
            spans[stack.back()].end = list[i];
            spans[stack.back()].close = place;
            stack.pop_back();
        } else {
            spans.push_back({nullptr, list[i], beforeAll, place});
        }
    }
    // Of those that were open when recording began, the last to end is the outermost.
    std::ranges::stable_sort(spans, [](const Span& a, const Span& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.close > b.close;
    });
    return spans;
}

/// Lowest free level below all ranges that contain the next one.
class Levels {
public:
    int place(const Span& span)
    {
        std::size_t level = 0;
        for (std::size_t i = 0; i < m_closes.size(); ++i)
            if (m_closes[i] > span.begin && m_closes[i] >= span.close)
                level = i + 1;
        while (level < m_closes.size() && m_closes[level] > span.begin)
            ++level;
        level = std::min(level, maxDepth - 1);
        if (level == m_closes.size())
            m_closes.push_back(span.close);
        else
            m_closes[level] = span.close;
        return static_cast<int>(level);
    }

private:
    std::vector<std::int64_t> m_closes;
};

/// State a mark stands at; absent when the trace has no time to find it by.
std::optional<StateIndex> stateOfMark(const Replay& replay, const Annotation* annotation)
{
    if (!annotation)
        return std::nullopt;
    const StateIndex last = replay.states() - 1;
    if (annotation->event)
        return std::min(stateOf(static_cast<Moment>(index(*annotation->event))), last);
    if (last == 0)
        return StateIndex{0};
    if (annotation->timeUs == noTime || replay.monotoneTimes.empty())
        return std::nullopt;
    return std::min(replay.stateAtTime(annotation->timeUs), last);
}

std::optional<std::int64_t> timeOf(const Annotation* annotation)
{
    return annotation && annotation->timeUs != noTime ? std::optional(annotation->timeUs) : std::nullopt;
}

} // namespace

std::vector<Mark> pairMarks(const Replay& replay)
{
    const Snapshot& snapshot = *replay.snapshot;
    std::vector<Mark> marks;
    Levels levels;
    for (const Span& span : pair(inOrder(snapshot, replay.device().ordinal))) {
        const int depth = levels.place(span);
        const auto first = stateOfMark(replay, span.start);
        const auto last = stateOfMark(replay, span.end);
        if (!first && !last)
            continue;
        const std::string_view name = snapshot.strings.view((span.start ? span.start : span.end)->name);
        Mark mark;
        mark.name = displayText(name);
        mark.first = first.value_or(0);
        mark.last = std::max(last.value_or(replay.states() - 1), mark.first);
        mark.startUs = timeOf(span.start);
        mark.endUs = timeOf(span.end);
        mark.depth = depth;
        mark.step = name.starts_with("ProfilerStep#");
        mark.open = !span.start || !span.end;
        marks.push_back(std::move(mark));
    }
    return marks;
}

} // namespace tidemark
