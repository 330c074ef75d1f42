// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/table.hpp"

#include "model/core/byte_sum.hpp"
#include "model/core/units.hpp"

#include <algorithm>

namespace tidemark::compare {

namespace {

constexpr std::array<const char*, 5> statusNames{"grew", "shrank", "new", "gone", "same"};
constexpr std::uint32_t unset = 0xffffffffU;

std::uint64_t magnitude(std::int64_t value)
{
    return value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value)
                     : static_cast<std::uint64_t>(value);
}

RowStatus statusOf(const Row& row)
{
    if (row.allocationsA == 0)
        return row.allocationsB == 0 ? RowStatus::Same : RowStatus::New;
    if (row.allocationsB == 0)
        return RowStatus::Gone;
    return row.delta > 0 ? RowStatus::Grew : row.delta < 0 ? RowStatus::Shrank : RowStatus::Same;
}

class TableBuilder {
public:
    TableBuilder(const Side& a, const Side& b, const Matching& matching)
        : m_a(a)
        , m_b(b)
        , m_matching(matching)
        , m_rowOf(matching.groups.size(), unset)
    { }

    Table build(Scope scopeA, Scope scopeB, const std::vector<AllocationId>& idsA,
        const std::vector<AllocationId>& idsB)
    {
        m_out.scopeA = scopeA;
        m_out.scopeB = scopeB;
        m_out.oneRun = sameRun(m_a, m_b);
        const AllocationColumns& columnsA = m_a.replay().timeline.allocations();
        const AllocationColumns& columnsB = m_b.replay().timeline.allocations();
        for (const AllocationId id : idsA) {
            Row& row = rowOf(m_matching.commonOfA[m_matching.groupingA->of(id)]);
            const std::uint64_t size = columnsA.size[index(id)];
            row.bytesA += size;
            ++row.allocationsA;
            if (!valid(row.largestA) || size > columnsA.size[index(row.largestA)])
                row.largestA = id;
        }
        for (const AllocationId id : idsB) {
            Row& row = rowOf(m_matching.commonOfB[m_matching.groupingB->of(id)]);
            const std::uint64_t size = columnsB.size[index(id)];
            row.bytesB += size;
            ++row.allocationsB;
            if (!valid(row.largestB) || size > columnsB.size[index(row.largestB)])
                row.largestB = id;
        }
        if (m_out.oneRun)
            survivors(idsA, idsB, columnsA);
        finish();
        return std::move(m_out);
    }

private:
    Row& rowOf(std::uint32_t group)
    {
        if (m_rowOf[group] == unset) {
            m_rowOf[group] = static_cast<std::uint32_t>(m_out.rows.size());
            m_out.rows.emplace_back().group = group;
        }
        return m_out.rows[m_rowOf[group]];
    }

    /// Both lists ascend.
    void survivors(const std::vector<AllocationId>& idsA, const std::vector<AllocationId>& idsB,
        const AllocationColumns& columns)
    {
        std::vector<AllocationId> both;
        std::set_intersection(idsA.begin(), idsA.end(), idsB.begin(), idsB.end(), std::back_inserter(both));
        for (const AllocationId id : both) {
            Row& row = rowOf(m_matching.commonOfA[m_matching.groupingA->of(id)]);
            row.bytesSurvived += columns.size[index(id)];
            ++row.allocationsSurvived;
        }
    }

    void finish()
    {
        for (Row& row : m_out.rows) {
            row.delta = wrappingSubtract(
                static_cast<std::int64_t>(row.bytesB), static_cast<std::int64_t>(row.bytesA));
            row.status = statusOf(row);
            m_out.bytesA += row.bytesA;
            m_out.bytesB += row.bytesB;
            m_out.allocationsA += row.allocationsA;
            m_out.allocationsB += row.allocationsB;
            m_out.bytesSurvived += row.bytesSurvived;
            m_out.allocationsSurvived += row.allocationsSurvived;
            const auto kind = static_cast<std::size_t>(m_matching.groups[row.group].kind);
            m_out.matchedA.bytes[kind] += row.bytesA;
            m_out.matchedB.bytes[kind] += row.bytesB;
            if (!hasSite(m_matching.groups[row.group])) {
                m_out.matchedA.withoutSite += row.bytesA;
                m_out.matchedB.withoutSite += row.bytesB;
            }
        }
        m_out.matchedA.total = m_out.bytesA;
        m_out.matchedB.total = m_out.bytesB;
        m_out.delta = wrappingSubtract(
            static_cast<std::int64_t>(m_out.bytesB), static_cast<std::int64_t>(m_out.bytesA));
        std::sort(m_out.rows.begin(), m_out.rows.end(), [this](const Row& x, const Row& y) {
            const std::uint64_t a = magnitude(x.delta);
            const std::uint64_t b = magnitude(y.delta);
            return a != b ? a > b : m_matching.groups[x.group].name < m_matching.groups[y.group].name;
        });
    }

    bool hasSite(const CommonGroup& group) const
    {
        if (m_matching.by != GroupBy::Site && m_matching.by != GroupBy::Stack)
            return true;
        return group.groupA != CommonGroup::none ? valid(m_matching.groupingA->site(group.groupA))
                                                 : valid(m_matching.groupingB->site(group.groupB));
    }

    const Side& m_a;
    const Side& m_b;
    const Matching& m_matching;
    std::vector<std::uint32_t> m_rowOf;
    Table m_out;
};

std::string sharesOf(const MatchedShare& share, const char* whose, MatchKind only)
{
    std::string text = formatPercent(share.share(MatchKind::Exact)) + " of " + whose + " bytes exactly";
    const auto more = [&](MatchKind kind, const char* how) {
        if (share.bytes[static_cast<std::size_t>(kind)] > 0)
            text += ", " + formatPercent(share.share(kind)) + how;
    };
    more(MatchKind::LineDrift, " with moved lines");
    more(MatchKind::BySize, " by function and size");
    more(only, " without a partner");
    if (share.withoutSite > 0)
        text += " ("
            + formatPercent(static_cast<double>(share.withoutSite) / static_cast<double>(share.total))
            + " have no call stack)";
    return text;
}

} // namespace

const char* statusName(RowStatus status)
{
    return statusNames[static_cast<std::size_t>(status)];
}

double MatchedShare::share(MatchKind kind) const
{
    const std::uint64_t own = bytes[static_cast<std::size_t>(kind)];
    if (total == 0)
        return kind == MatchKind::Exact ? 1 : 0;
    return static_cast<double>(own) / static_cast<double>(total);
}

std::string Table::matchedText() const
{
    return "Matched: " + sharesOf(matchedA, "A's", MatchKind::OnlyA) + "; "
        + sharesOf(matchedB, "B's", MatchKind::OnlyB) + ".";
}

Table tableAt(const Side& a, const Side& b, const Matching& matching, StateIndex stateA, StateIndex stateB)
{
    return TableBuilder(a, b, matching)
        .build(Scope::moment(stateA), Scope::moment(stateB), a.replay().timeline.liveAt(stateA),
            b.replay().timeline.liveAt(stateB));
}

Table tableOver(const Side& a, const Side& b, const Matching& matching, const Scope& scopeA,
    const Scope& scopeB, ScopePart part, const Job& job)
{
    return TableBuilder(a, b, matching)
        .build(scopeA, scopeB, allocationsIn(a.replay(), scopeA, part, job),
            allocationsIn(b.replay(), scopeB, part, job));
}

} // namespace tidemark::compare
