// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/growth.hpp"

#include <algorithm>
#include <numeric>

namespace tidemark {

namespace {

constexpr std::size_t mostSteps = 64;
constexpr std::size_t fewestSteps = 3;

std::vector<Step> stepsIn(const Scope& scope, const Phases* phases)
{
    std::vector<Step> out;
    if (!phases)
        return out;
    for (const Step& step : phases->steps)
        if (step.complete && step.first >= scope.first && step.last <= scope.last)
            out.push_back(step);
    if (out.size() > mostSteps)
        out.erase(out.begin(), out.end() - static_cast<std::ptrdiff_t>(mostSteps));
    return out;
}

class GrowthBuilder {
public:
    GrowthBuilder(const Replay& replay, const Grouping& grouping, const Scope& scope, const Phases* phases,
        const std::vector<std::uint8_t>* matches)
        : m_all(replay.timeline.allocations())
        , m_grouping(grouping)
        , m_matches(matches)
    {
        m_out.scope = scope.kind == Scope::Kind::Instant ? Scope::trace(replay) : scope;
        m_out.by = grouping.by();
        m_out.filtered = matches != nullptr;
        m_out.steps = stepsIn(m_out.scope, phases);
        m_rowOf.assign(grouping.count(), none);
        m_out.sum.atSteps.assign(m_out.steps.size(), 0);
    }

    std::optional<GrowthTable> build(const Job& job)
    {
        for (std::uint32_t i = 0; i < m_all.count(); ++i) {
            if (i % pollInterval == 0 && job.stopped())
                return std::nullopt;
            add(AllocationId{i});
        }
        for (GrowthRow& row : m_out.rows) {
            std::partial_sum(row.atSteps.begin(), row.atSteps.end(), row.atSteps.begin());
            row.trend = trendOf(row.atSteps);
            for (std::size_t step = 0; step < row.atSteps.size(); ++step)
                m_out.sum.atSteps[step] += row.atSteps[step];
        }
        m_out.sum.trend = trendOf(m_out.sum.atSteps);
        std::stable_sort(m_out.rows.begin(), m_out.rows.end(), [](const GrowthRow& a, const GrowthRow& b) {
            return std::max(a.allocatedBytes, a.freedBytes) > std::max(b.allocatedBytes, b.freedBytes);
        });
        return std::move(m_out);
    }

private:
    static constexpr std::uint32_t none = 0xffffffffU;

    void add(AllocationId id)
    {
        const Scope& scope = m_out.scope;
        const StateIndex first = m_all.firstState[index(id)];
        const StateIndex end = m_all.endState[index(id)];
        const std::uint64_t bytes = m_all.size[index(id)];
        const bool born = first > scope.first && first <= scope.last;
        const bool died = end > scope.first && end <= scope.last;
        // Those that lived before and live on count in the steps only.
        if (!born && !died && !(first <= scope.first && end > scope.last && !m_out.steps.empty()))
            return;
        GrowthRow& row = rowOf(id);
        const bool matched = m_matches && (*m_matches)[index(id)] != 0;
        for (GrowthRow* each : {&row, &m_out.sum}) {
            if (born) {
                ++each->allocated;
                each->allocatedBytes += bytes;
                each->matchedBytes += matched ? bytes : 0;
            }
            if (died) {
                ++each->freed;
                each->freedBytes += bytes;
            }
            if (born && !died) {
                ++each->kept;
                each->keptBytes += bytes;
            }
        }
        if (!valid(row.largest) || m_all.size[index(row.largest)] < bytes)
            row.largest = id;
        count(row, first, end, static_cast<std::int64_t>(bytes));
    }

    GrowthRow& rowOf(AllocationId id)
    {
        std::uint32_t& at = m_rowOf[m_grouping.of(id)];
        if (at == none) {
            at = static_cast<std::uint32_t>(m_out.rows.size());
            m_out.rows.emplace_back();
            m_out.rows.back().group = m_grouping.of(id);
            m_out.rows.back().atSteps.assign(m_out.steps.size(), 0);
        }
        return m_out.rows[at];
    }

    /// Notes at which step ends it comes and goes; the sums follow.
    void count(GrowthRow& row, StateIndex first, StateIndex end, std::int64_t bytes)
    {
        const auto stepFrom = [&](StateIndex state) {
            return std::lower_bound(m_out.steps.begin(), m_out.steps.end(), state,
                       [](const Step& step, StateIndex s) { return step.last < s; })
                - m_out.steps.begin();
        };
        const auto begin = static_cast<std::size_t>(stepFrom(first));
        const auto behind = static_cast<std::size_t>(stepFrom(end));
        if (begin >= behind)
            return;
        row.atSteps[begin] += bytes;
        if (behind < row.atSteps.size())
            row.atSteps[behind] -= bytes;
    }

    const AllocationColumns& m_all;
    const Grouping& m_grouping;
    const std::vector<std::uint8_t>* m_matches;
    GrowthTable m_out;
    std::vector<std::uint32_t> m_rowOf;
};

} // namespace

const char* trendName(Trend trend)
{
    switch (trend) {
    case Trend::Unknown:
        return "";
    case Trend::Steady:
        return "steady";
    case Trend::Grows:
        return "grows";
    case Trend::Plateau:
        return "plateau";
    case Trend::Periodic:
        return "periodic";
    case Trend::Shrinks:
        return "shrinks";
    case Trend::Mixed:
        return "mixed";
    }
    return "";
}

Trend trendOf(const std::vector<std::int64_t>& bytes)
{
    if (bytes.size() < fewestSteps)
        return Trend::Unknown;
    const std::int64_t most = *std::max_element(bytes.begin(), bytes.end());
    if (most <= 0) // never there when a step ends
        return Trend::Unknown;
    const std::int64_t least = most / 100;
    std::size_t up = 0;
    std::size_t down = 0;
    std::size_t turns = 0;
    std::size_t lastChange = 0;
    int before = 0;
    for (std::size_t i = 1; i < bytes.size(); ++i) {
        const std::int64_t change = bytes[i] - bytes[i - 1];
        const int sign = change > least ? 1 : change < -least ? -1 : 0;
        up += sign > 0 ? 1 : 0;
        down += sign < 0 ? 1 : 0;
        turns += sign != 0 && before != 0 && sign != before ? 1 : 0;
        before = sign != 0 ? sign : before;
        lastChange = sign != 0 ? i : lastChange;
    }
    const std::size_t changes = bytes.size() - 1;
    if (up + down == 0)
        return Trend::Steady;
    if (down == 0)
        return up * 2 > changes && lastChange == changes ? Trend::Grows
            : lastChange * 2 <= changes                  ? Trend::Plateau
            : up * 2 > changes                           ? Trend::Grows
                                                         : Trend::Mixed;
    if (up == 0)
        return Trend::Shrinks;
    return turns * 2 >= changes - 1 ? Trend::Periodic : Trend::Mixed;
}

std::optional<GrowthTable> buildGrowth(const Replay& replay, const Grouping& grouping, const Scope& scope,
    const Phases* phases, const std::vector<std::uint8_t>* matches, const Job& job)
{
    return GrowthBuilder(replay, grouping, scope, phases, matches).build(job);
}

std::vector<AllocationId> keptIn(
    const Replay& replay, const Grouping& grouping, std::uint32_t group, const Scope& scope)
{
    const Scope whole = scope.kind == Scope::Kind::Instant ? Scope::trace(replay) : scope;
    const AllocationColumns& all = replay.timeline.allocations();
    std::vector<AllocationId> out;
    for (std::uint32_t i = 0; i < all.count(); ++i)
        if (all.firstState[i] > whole.first && all.firstState[i] <= whole.last && all.endState[i] > whole.last
            && grouping.of(AllocationId{i}) == group)
            out.push_back(AllocationId{i});
    return out;
}

} // namespace tidemark
