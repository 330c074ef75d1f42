// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/parallel.hpp"
#include "model/layout/id_image.hpp"
#include "model/layout/live_tree.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace tidemark {

namespace {

/// Bytes of the allocation at a position of the stack.
struct BytesAt {
    const StackPlan& plan;

    std::uint64_t operator()(std::uint32_t position) const { return plan.bytesAt(position); }
};

/// The stack at one state after another, in ascending order: one tree of what lives, one of what waits.
class Stack {
public:
    Stack(const Replay& replay, const StackPlan& plan, StateIndex state)
        : m_timeline(replay.timeline)
        , m_a(replay.timeline.allocations())
        , m_plan(plan)
        , m_bytesAt{plan}
        , m_anyWaits(replay.timeline.delayedFrees() > 0)
        , m_live(static_cast<std::uint32_t>(m_a.count()))
        , m_waiting(static_cast<std::uint32_t>(m_a.count()))
        , m_state(state)
        , m_started(startedBy(state))
    {
        for (const AllocationId id : m_timeline.liveAt(state))
            settle(id);
        const auto& silent = plan.silentEnds();
        m_silent = std::upper_bound(
            silent.begin(), silent.end(), state, [](StateIndex s, const auto& end) { return s < end.first; });
    }

    /// Only what outlives a step is touched: of what starts and ends between two columns nothing is seen.
    void moveTo(StateIndex state)
    {
        const std::uint32_t old = m_started;
        const StateIndex from = m_state;
        m_state = state;
        m_started = startedBy(state);
        // What is older than the step may have ended or begun to wait: its events tell. Names are gathered
        // first so that their rows can be fetched ahead; "none" is above every id.
        m_touched.clear();
        AllocationId last = AllocationId::none;
        for (StateIndex s = from; s < state; ++s) {
            const AllocationId id = m_timeline.allocationOf(EventIndex{s});
            if (index(id) < old && id != last)
                m_touched.push_back(id);
            last = id;
        }
        constexpr std::size_t ahead = 12;
        for (std::size_t i = 0; i < m_touched.size(); ++i) {
            if (i + ahead < m_touched.size())
                fetch(m_touched[i + ahead]);
            settle(m_touched[i]);
        }
        const auto& silent = m_plan.silentEnds();
        for (; m_silent != silent.end() && m_silent->first <= state; ++m_silent) {
            if (index(m_silent->second) < old)
                settle(m_silent->second);
        }
        for (std::uint32_t i = old; i < m_started; ++i) {
            if (m_a.endState[i] > state)
                settle(AllocationId{i});
        }
    }

    /// Lowest offset at which the stack differs from what it was at the last call; the whole stack at first.
    std::uint64_t takeChangedOffset()
    {
        const std::uint32_t position = std::exchange(m_lowestChanged, nothing);
        const bool waitingChanged = std::exchange(m_waitingChanged, false);
        if (position != nothing)
            return m_live.below(position, m_bytesAt);
        return waitingChanged ? m_live.total() : ~std::uint64_t{0};
    }

    /// Calls fill(id, waits, end) from the bottom for all that covers a wanted offset; it returns the next
    /// one.
    template <typename Fill>
    void walk(std::uint64_t wanted, const Fill& fill) const
    {
        std::uint64_t next = wanted;
        m_live.walk(0, wanted, m_bytesAt, [&](std::uint32_t position, std::uint64_t end) {
            return next = fill(m_plan.at(position), false, end);
        });
        m_waiting.walk(m_live.total(), next, m_bytesAt,
            [&](std::uint32_t position, std::uint64_t end) { return fill(m_plan.at(position), true, end); });
    }

private:
    static constexpr std::uint32_t nothing = 0xffffffffU;

    std::uint32_t startedBy(StateIndex state) const
    {
        return static_cast<std::uint32_t>(
            std::upper_bound(m_a.firstState.begin(), m_a.firstState.end(), state) - m_a.firstState.begin());
    }

    /// Brings into the cache what settle will look at.
    void fetch(AllocationId id) const
    {
        const std::uint32_t position = m_plan.positionOf(id);
        __builtin_prefetch(&m_a.endState[index(id)]);
        m_plan.fetch(position);
        m_live.fetch(position);
    }

    /// Puts an allocation where it belongs at m_state.
    void settle(AllocationId id)
    {
        const std::size_t i = index(id);
        const std::uint32_t position = m_plan.positionOf(id);
        const bool lives = m_a.endState[i] > m_state;
        const bool waits = m_anyWaits && lives && m_a.pendingState[i] <= m_state;
        if (m_live.contains(position) != (lives && !waits)) {
            if (lives && !waits)
                m_live.insert(position, m_bytesAt(position));
            else
                m_live.erase(position, m_bytesAt(position));
            m_lowestChanged = std::min(m_lowestChanged, position);
        }
        if (m_anyWaits && m_waiting.contains(position) != waits) {
            if (waits)
                m_waiting.insert(position, m_bytesAt(position));
            else
                m_waiting.erase(position, m_bytesAt(position));
            m_waitingChanged = true;
        }
    }

    const Timeline& m_timeline;
    const AllocationColumns& m_a;
    const StackPlan& m_plan;
    BytesAt m_bytesAt;
    bool m_anyWaits;
    LiveTree m_live;
    LiveTree m_waiting;
    StateIndex m_state;
    /// Number of allocations that have started by m_state: they are the ids below it.
    std::uint32_t m_started;
    std::vector<std::pair<StateIndex, AllocationId>>::const_iterator m_silent;
    std::vector<AllocationId> m_touched;
    std::uint32_t m_lowestChanged = 0;
    bool m_waitingChanged = true;
};

/// Draws columns into a strip a few pixels wide whose columns are contiguous, and copies full strips to the
/// image: a column of the image itself would touch one cache line a pixel.
class Painter {
public:
    static constexpr int stripWidth = 32;

    /// Draws the columns from `first` on, up to `end`; both are multiples of stripWidth or the last column.
    Painter(TimelineImage& target, int first, int end)
        : m_image(target.image)
        , m_first(first)
        , m_end(end)
        , m_height(static_cast<std::size_t>(target.image.height))
        , m_ids(m_height * stripWidth, pixel::empty)
        , m_waits(m_height * stripWidth, 0)
    {
        // Offsets of the row centres from the bottom row up; rows below 0 show nothing.
        const TimelineWindow& w = target.window;
        const double perRow = (w.top - w.bottom) / w.height;
        for (std::size_t r = 0; r < m_height; ++r) {
            const double centre = w.bottom + (static_cast<double>(r) + 0.5) * perRow;
            if (centre < 0)
                ++m_firstRow;
            m_centres.push_back(centre < 0 ? 0
                    : centre >= 0x1p63     ? ~std::uint64_t{0} - 1
                                           : static_cast<std::uint64_t>(centre));
        }
        m_centres.push_back(~std::uint64_t{0});
    }

    /// Draws column x; rows whose centre lies below `unchanged` are those of the column before.
    void draw(int x, const Stack& stack, std::uint64_t unchanged)
    {
        std::uint32_t* const ids = column(m_ids, x);
        std::uint8_t* const waits = column(m_waits, x);
        std::size_t row = m_firstRow;
        if (x > m_first) {
            row = static_cast<std::size_t>(
                std::lower_bound(m_centres.begin() + static_cast<std::ptrdiff_t>(m_firstRow),
                    m_centres.end() - 1, unchanged)
                - m_centres.begin());
            std::copy_n(column(m_ids, x - 1), row, ids);
            std::copy_n(column(m_waits, x - 1), row, waits);
        }
        if (row < m_height) {
            stack.walk(m_centres[row], [&](AllocationId id, bool waiting, std::uint64_t end) {
                m_anyWaits = m_anyWaits || waiting;
                for (; m_centres[row] < end; ++row) {
                    ids[row] = static_cast<std::uint32_t>(index(id));
                    waits[row] = waiting ? 1 : 0;
                }
                return m_centres[row];
            });
        }
        clear(x, row);
        flush(x);
    }

    void drawNothing(int x)
    {
        clear(x, 0);
        flush(x);
    }

private:
    template <typename T>
    T* column(std::vector<T>& strip, int x)
    {
        return strip.data() + static_cast<std::size_t>(x % stripWidth) * m_height;
    }

    void clear(int x, std::size_t fromRow)
    {
        std::fill(column(m_ids, x) + fromRow, column(m_ids, x) + m_height, pixel::empty);
        std::fill(column(m_waits, x) + fromRow, column(m_waits, x) + m_height, std::uint8_t{0});
    }

    void flush(int x)
    {
        if (x % stripWidth != stripWidth - 1 && x != m_end - 1)
            return;
        const auto first = static_cast<std::size_t>(x / stripWidth * stripWidth);
        const std::size_t count = static_cast<std::size_t>(x) - first + 1;
        for (std::size_t row = 0; row < m_height; ++row) {
            const std::size_t to = (m_height - 1 - row) * static_cast<std::size_t>(m_image.width) + first;
            for (std::size_t i = 0; i < count; ++i)
                m_image.ids[to + i] = m_ids[i * m_height + row];
            for (std::size_t i = 0; m_anyWaits && i < count; ++i)
                m_image.waiting[to + i] = m_waits[i * m_height + row];
        }
    }

    IdImage& m_image;
    int m_first;
    int m_end;
    std::size_t m_height;
    std::size_t m_firstRow = 0;
    std::vector<std::uint64_t> m_centres;
    std::vector<std::uint32_t> m_ids;
    std::vector<std::uint8_t> m_waits;
    /// Something waits somewhere; until then the image's zeros are right.
    bool m_anyWaits = false;
};

/// States of a window from which on several threads draw it, and how many at most.
constexpr StateIndex worthAThread = 100000;
constexpr std::size_t mostThreads = 4;

/// Draws some columns of an image. False when stopped.
bool drawColumns(
    const Replay& replay, const StackPlan& plan, TimelineImage& image, int first, int end, const Job& job)
{
    Painter painter(image, first, end);
    std::optional<Stack> stack;
    constexpr int columnsBetweenPolls = 8;
    for (int x = first; x < end; ++x) {
        if (x % columnsBetweenPolls == 0 && job.stopped())
            return false;
        const ColumnInfo& column = image.columns[static_cast<std::size_t>(x)];
        if (column.outside) {
            painter.drawNothing(x);
            continue;
        }
        const bool fresh = !stack;
        if (fresh)
            stack.emplace(replay, plan, column.shown);
        else
            stack->moveTo(column.shown);
        const std::uint64_t unchanged = stack->takeChangedOffset();
        painter.draw(x, *stack, fresh ? 0 : unchanged);
    }
    return true;
}

} // namespace

std::shared_ptr<const TimelineImage> layoutTimeline(
    const Replay& replay, const StackPlan& plan, const TimelineWindow& window, const Job& job)
{
    auto result = std::make_shared<TimelineImage>();
    result->window = window;
    result->columns = timelineColumns(replay, window);
    result->image.width = std::max(0, window.width);
    result->image.height = std::max(0, window.height);
    const std::size_t pixels
        = static_cast<std::size_t>(result->image.width) * static_cast<std::size_t>(result->image.height);
    result->image.ids.resize(pixels);
    result->image.waiting.resize(pixels);
    if (pixels == 0)
        return result;
    // Every part begins with the state of its own first column, which pays where many events follow.
    const StateIndex states = result->columns.back().last - result->columns.front().first;
    const std::size_t parts = states < worthAThread ? 1 : mostThreads;
    std::atomic<bool> stopped = false;
    inParts(result->columns.size(), Painter::stripWidth, parts, [&](std::size_t first, std::size_t end) {
        if (!drawColumns(replay, plan, *result, static_cast<int>(first), static_cast<int>(end), job))
            stopped = true;
    });
    return stopped ? nullptr : result;
}

std::shared_ptr<const TimelineImage> layoutTimeline(const Replay& replay, const Colouring& colouring,
    StackOrder order, const TimelineWindow& window, const Job& job)
{
    const auto plan = StackPlan::build(replay, colouring, order);
    return job.stopped() ? nullptr : layoutTimeline(replay, *plan, window, job);
}

} // namespace tidemark
