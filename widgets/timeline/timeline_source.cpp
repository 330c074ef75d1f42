// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/timeline/timeline_source.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>

namespace tidemark {

namespace {

constexpr std::size_t categoryCount = CategoryTimeline::names.size();

class ReplaySource : public TimelineSource {
public:
    explicit ReplaySource(std::shared_ptr<const Replay> replay)
        : m_replay(std::move(replay))
        , m_origin(m_replay->originUs())
    { }

    StateIndex states() const override { return m_replay->states(); }
    bool hasTimes() const override { return m_origin.has_value(); }

    double timeOf(StateIndex state) const override
    {
        const auto& times = m_replay->monotoneTimes;
        if (!hasTimes() || state == 0)
            return 0;
        const std::size_t event = std::min<std::size_t>(state, times.size()) - 1;
        return static_cast<double>(times[event] - *m_origin);
    }
    StateIndex stateAtTime(double us) const override
    {
        if (!hasTimes())
            return 0;
        return m_replay->stateAtTime(*m_origin + static_cast<std::int64_t>(std::floor(us)));
    }

    const Series& requested() const override { return m_replay->timeline.requested(); }
    const Series* reserved() const override
    {
        return m_replay->segments.reservedKnown() ? &m_replay->segments.reserved() : nullptr;
    }
    const Series* allocated() const override
    {
        return m_replay->segments.known() ? &m_replay->segments.allocated() : nullptr;
    }
    const Series* pending() const override { return &m_replay->timeline.pending(); }

    std::vector<ColumnInfo> columns(const TimelineWindow& window) const override
    {
        return timelineColumns(*m_replay, window);
    }
    std::shared_ptr<const TimelineImage> layout(const std::shared_ptr<const Colouring>& colouring,
        StackOrder order, const TimelineWindow& window, const Job& job) const override
    {
        return layoutTimeline(*m_replay, *plan(colouring, order), window, job);
    }
    std::optional<StackExtent> extent(const std::shared_ptr<const Colouring>& colouring, StackOrder order,
        AllocationId id, StateIndex state) const override
    {
        const auto current = keptPlan(colouring, order);
        return current ? stackExtent(*m_replay, *current, id, state) : std::nullopt;
    }
    std::size_t countWithin(const std::shared_ptr<const Colouring>& colouring, StackOrder order,
        StateIndex state, double low, double high) const override
    {
        const auto current = keptPlan(colouring, order);
        if (!current)
            return 0;
        const AllocationColumns& all = m_replay->timeline.allocations();
        std::vector<std::pair<std::uint64_t, AllocationId>> stack;
        for (const AllocationId id : m_replay->timeline.liveAt(state)) {
            const std::uint64_t band = all.pendingState[index(id)] <= state ? 1 : 0;
            stack.emplace_back(band << 32U | current->positionOf(id), id);
        }
        std::sort(stack.begin(), stack.end());
        std::size_t count = 0;
        double at = 0;
        for (const auto& [place, id] : stack) {
            const double next = at + static_cast<double>(all.size[index(id)]);
            count += next > low && at < high ? 1 : 0;
            at = next;
        }
        return count;
    }
    std::uint32_t predatingCount() const override
    {
        const Predating& p = m_replay->timeline.predating();
        return static_cast<std::uint32_t>(p.freedInTrace + p.aliveAtEnd);
    }

private:
    // The order of the stack is the same for every window, so the last one is kept. Null before a picture was
    // laid out with it: the GUI thread asks about what a picture shows and does not wait for the next one's.
    std::shared_ptr<const StackPlan> keptPlan(
        const std::shared_ptr<const Colouring>& colouring, StackOrder order) const
    {
        const std::lock_guard lock(m_mutex);
        const KeptPlan& kept = m_plans[order == StackOrder::Age ? 0 : 1];
        return order == StackOrder::Age || kept.colouring == colouring ? kept.plan : nullptr;
    }
    std::shared_ptr<const StackPlan> plan(
        const std::shared_ptr<const Colouring>& colouring, StackOrder order) const
    {
        if (auto kept = keptPlan(colouring, order))
            return kept;
        auto made = StackPlan::build(*m_replay, *colouring, order);
        const std::lock_guard lock(m_mutex);
        m_plans[order == StackOrder::Age ? 0 : 1] = {colouring, made};
        return made;
    }

    struct KeptPlan {
        std::shared_ptr<const Colouring> colouring;
        std::shared_ptr<const StackPlan> plan;
    };
    std::shared_ptr<const Replay> m_replay;
    std::optional<std::int64_t> m_origin;
    mutable std::mutex m_mutex;
    mutable std::array<KeptPlan, 2> m_plans;
};

class CategorySource : public TimelineSource {
public:
    explicit CategorySource(std::shared_ptr<const Snapshot> snapshot)
        : m_snapshot(std::move(snapshot))
        , m_rows(*m_snapshot->categories)
        , m_total(sum(0))
    {
        const std::size_t rows = m_rows.timesUs.size();
        for (std::size_t row = 0; row < rows; ++row)
            m_total.set(static_cast<StateIndex>(row), sum(row));
        m_total.build(states());
    }

    StateIndex states() const override { return static_cast<StateIndex>(m_rows.timesUs.size()); }
    bool hasTimes() const override { return true; }
    double timeOf(StateIndex state) const override
    {
        const std::size_t row = std::min<std::size_t>(state, m_rows.timesUs.size() - 1);
        return static_cast<double>(m_rows.timesUs[row] - m_rows.timesUs.front());
    }
    StateIndex stateAtTime(double us) const override
    {
        const std::int64_t time = m_rows.timesUs.front() + static_cast<std::int64_t>(std::floor(us));
        const auto after = std::upper_bound(m_rows.timesUs.begin(), m_rows.timesUs.end(), time);
        return static_cast<StateIndex>(std::max<std::ptrdiff_t>(1, after - m_rows.timesUs.begin()) - 1);
    }

    const Series& requested() const override { return m_total; }
    const Series* reserved() const override { return nullptr; }
    const Series* allocated() const override { return nullptr; }
    const Series* pending() const override { return nullptr; }
    std::uint32_t predatingCount() const override { return 0; }

    std::vector<ColumnInfo> columns(const TimelineWindow& window) const override
    {
        std::vector<ColumnInfo> result(static_cast<std::size_t>(window.width));
        const double step = (window.right - window.left) / window.width;
        for (std::size_t i = 0; i < result.size(); ++i) {
            const double from = window.left + step * static_cast<double>(i);
            ColumnInfo& column = result[i];
            column.first = stateAtTime(from);
            column.last = std::max(column.first, stateAtTime(std::ceil(from + step) - 1));
            const Series::Extremes extremes = m_total.extremes(column.first, column.last);
            column.shown = std::clamp(extremes.maxState, column.first, column.last);
            column.max = extremes.max;
            column.min = extremes.min;
        }
        return result;
    }

    std::optional<StackExtent> extent(
        const std::shared_ptr<const Colouring>&, StackOrder, AllocationId, StateIndex) const override
    {
        return std::nullopt;
    }
    std::size_t countWithin(
        const std::shared_ptr<const Colouring>&, StackOrder, StateIndex, double, double) const override
    {
        return 0;
    }

    std::shared_ptr<const TimelineImage> layout(const std::shared_ptr<const Colouring>&, StackOrder order,
        const TimelineWindow& window, const Job& job) const override
    {
        auto result = std::make_shared<TimelineImage>();
        result->window = window;
        result->columns = columns(window);
        result->image.width = window.width;
        result->image.height = window.height;
        const auto pixels = static_cast<std::size_t>(window.width) * static_cast<std::size_t>(window.height);
        result->image.ids.assign(pixels, pixel::empty);
        result->image.waiting.assign(pixels, 0);
        const auto bottomUp = stackOrder(order);
        for (int x = 0; x < window.width; ++x)
            drawColumn(
                result->image, x, result->columns[static_cast<std::size_t>(x)].shown, bottomUp, window);
        return job.stopped() ? nullptr : result;
    }

private:
    std::int64_t sum(std::size_t row) const
    {
        std::int64_t total = 0;
        for (std::size_t c = 0; c < categoryCount; ++c)
            total += value(c, row);
        return total;
    }
    std::int64_t value(std::size_t category, std::size_t row) const
    {
        const auto& column = m_rows.bytes[category];
        return row < column.size() ? std::max<std::int64_t>(0, column[row]) : 0;
    }
    // Group order puts what is largest at its own maximum at the bottom; age order keeps the file's order.
    std::array<std::size_t, categoryCount> stackOrder(StackOrder order) const
    {
        std::array<std::size_t, categoryCount> result{};
        std::array<std::int64_t, categoryCount> most{};
        for (std::size_t c = 0; c < categoryCount; ++c) {
            result[c] = c;
            for (const std::int64_t v : m_rows.bytes[c])
                most[c] = std::max(most[c], v);
        }
        if (order == StackOrder::Group)
            std::stable_sort(result.begin(), result.end(),
                [&](std::size_t a, std::size_t b) { return most[a] > most[b]; });
        return result;
    }
    void drawColumn(IdImage& image, int x, StateIndex row,
        const std::array<std::size_t, categoryCount>& order, const TimelineWindow& window) const
    {
        const double perRow = (window.top - window.bottom) / window.height;
        std::size_t next = 0;
        double covered = 0;
        for (int r = 0; r < window.height; ++r) {
            const double byte = window.bottom + (r + 0.5) * perRow;
            while (next < categoryCount && covered + static_cast<double>(value(order[next], row)) <= byte)
                covered += static_cast<double>(value(order[next++], row));
            if (next == categoryCount)
                return;
            const auto y = static_cast<std::size_t>(window.height - 1 - r);
            image.ids[y * static_cast<std::size_t>(window.width) + static_cast<std::size_t>(x)]
                = static_cast<std::uint32_t>(order[next]);
        }
    }

    std::shared_ptr<const Snapshot> m_snapshot;
    const CategoryTimeline& m_rows;
    Series m_total;
};

} // namespace

std::shared_ptr<const TimelineSource> replaySource(std::shared_ptr<const Replay> replay)
{
    return replay ? std::make_shared<ReplaySource>(std::move(replay)) : nullptr;
}

std::shared_ptr<const TimelineSource> categorySource(std::shared_ptr<const Snapshot> snapshot)
{
    if (!snapshot || !snapshot->categories || snapshot->categories->timesUs.empty())
        return nullptr;
    return std::make_shared<CategorySource>(std::move(snapshot));
}

std::string categoryTitle(std::size_t category)
{
    std::string title = CategoryTimeline::names.at(category);
    std::replace(title.begin(), title.end(), '_', ' ');
    return title;
}

std::shared_ptr<const Colouring> categoryColouring(const CategoryTimeline& categories)
{
    // Roles have fixed colours (help/window.md): parameters sky, optimizer indigo, inputs green, temporaries
    // straw, activations teal, gradients rust, autograd detail ochre.
    constexpr std::array<std::uint8_t, categoryCount> slotOfCategory{5, 2, 6, 3, 0, 4, 9, colourSlot::other};
    auto result = std::make_shared<Colouring>();
    result->by = ColourBy::Category;
    result->slotOf.assign(slotOfCategory.begin(), slotOfCategory.end());
    for (std::size_t c = 0; c < categoryCount; ++c) {
        const auto& column = categories.bytes[c];
        if (std::any_of(column.begin(), column.end(), [](std::int64_t v) { return v > 0; }))
            result->legend.push_back({slotOfCategory[c], categoryTitle(c), static_cast<std::uint32_t>(c)});
    }
    return result;
}

} // namespace tidemark
