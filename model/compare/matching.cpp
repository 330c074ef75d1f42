// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/matching.hpp"

#include "model/compare/group_facts.hpp"
#include "model/compare/site_key.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

namespace tidemark::compare {

namespace {

constexpr std::uint32_t none = CommonGroup::none;
constexpr std::size_t categorySlots = 12;
constexpr std::array<const char*, matchKinds> kindNames{"exact", "line-drift", "by-size", "only-a", "only-b"};

/// Groups of one side with what is compared of them.
struct OneSide {
    std::shared_ptr<const Grouping> grouping;
    std::vector<GroupFacts> facts;
    std::vector<SiteKey> keys; ///< empty where names say all
    std::vector<std::uint32_t> partner;
    std::vector<MatchKind> kind;
};

OneSide sideOf(const Side& side, GroupBy by, const Job& job)
{
    OneSide out;
    out.grouping = Grouping::build(side.replay(), side.sites(), by, side.labels.get());
    out.facts = groupFacts(side, *out.grouping, job);
    out.partner.assign(out.grouping->count(), none);
    out.kind.assign(out.grouping->count(), MatchKind::Exact);
    if (by == GroupBy::Site || by == GroupBy::Stack)
        for (std::uint32_t g = 0; g < out.grouping->count(); ++g)
            out.keys.push_back(siteKey(out.grouping->name(g)));
    return out;
}

/// Matches what is left of both sides, one rule after the other.
class Matcher {
public:
    Matcher(OneSide& a, OneSide& b)
        : m_a(a)
        , m_b(b)
    { }

    void run()
    {
        equalNames();
        if (m_a.keys.empty() && m_b.keys.empty())
            return;
        inBuckets([](const SiteKey& key) { return key.lines.empty() ? std::string() : key.place; },
            [this](Bucket& bucket) { drifted(bucket); });
        inBuckets(
            [](const SiteKey& key) { return key.function; }, [this](Bucket& bucket) { bySize(bucket); });
    }

private:
    struct Bucket {
        std::vector<std::uint32_t> a;
        std::vector<std::uint32_t> b;
    };

    void equalNames()
    {
        std::unordered_map<std::string_view, std::uint32_t> ofName;
        for (std::uint32_t g = 0; g < m_a.grouping->count(); ++g)
            ofName.emplace(m_a.grouping->name(g), g);
        for (std::uint32_t g = 0; g < m_b.grouping->count(); ++g)
            if (const auto found = ofName.find(m_b.grouping->name(g)); found != ofName.end())
                match(found->second, g, MatchKind::Exact);
    }

    void match(std::uint32_t a, std::uint32_t b, MatchKind kind)
    {
        m_a.partner[a] = b;
        m_b.partner[b] = a;
        m_a.kind[a] = m_b.kind[b] = kind;
    }

    template <typename Key, typename Use>
    void inBuckets(Key key, Use use)
    {
        std::map<std::string, Bucket> buckets;
        for (std::uint32_t g = 0; g < m_a.keys.size(); ++g)
            if (m_a.partner[g] == none)
                buckets[key(m_a.keys[g])].a.push_back(g);
        for (std::uint32_t g = 0; g < m_b.keys.size(); ++g)
            if (m_b.partner[g] == none)
                buckets[key(m_b.keys[g])].b.push_back(g);
        for (auto& [name, bucket] : buckets)
            if (!name.empty() && !bucket.a.empty() && !bucket.b.empty())
                use(bucket);
    }

    /// Equal function and file. As many lines on both sides: the n-th with the n-th, since code above them
    /// moves them all. Else those of equal size first, then the nearest.
    void drifted(Bucket& bucket)
    {
        const auto byLines = [](const OneSide& side) {
            return [&side](std::uint32_t x, std::uint32_t y) {
                return side.keys[x].lines != side.keys[y].lines
                    ? side.keys[x].lines < side.keys[y].lines
                    : side.grouping->name(x) < side.grouping->name(y);
            };
        };
        std::sort(bucket.a.begin(), bucket.a.end(), byLines(m_a));
        std::sort(bucket.b.begin(), bucket.b.end(), byLines(m_b));
        if (bucket.a.size() == bucket.b.size()) {
            for (std::size_t i = 0; i < bucket.a.size(); ++i)
                match(bucket.a[i], bucket.b[i], MatchKind::LineDrift);
            return;
        }
        best(bucket, MatchKind::LineDrift, [this](std::uint32_t a, std::uint32_t b) {
            return std::optional(Cost{m_a.facts[a].largest != m_b.facts[b].largest,
                std::size_t{64} - std::min<std::size_t>(64, commonTail(m_a.facts[a].path, m_b.facts[b].path)),
                lineDistance(m_a.keys[a].lines, m_b.keys[b].lines)});
        });
    }

    /// Equal function elsewhere: only where the sizes say that it is the same.
    void bySize(Bucket& bucket)
    {
        best(bucket, MatchKind::BySize, [this](std::uint32_t a, std::uint32_t b) -> std::optional<Cost> {
            const GroupFacts& x = m_a.facts[a];
            const GroupFacts& y = m_b.facts[b];
            if (x.largest != y.largest || x.largest == 0)
                return std::nullopt;
            return Cost{x.count != y.count,
                std::size_t{64} - std::min<std::size_t>(64, commonTail(x.path, y.path)),
                x.count > y.count ? x.count - y.count : y.count - x.count};
        });
    }

    struct Cost {
        bool differs;
        std::size_t elsewhere;
        std::uint64_t distance;
        auto operator<=>(const Cost&) const = default;
    };

    /// Takes the cheapest pair again and again; the same pairs whichever side is A.
    template <typename CostOf>
    void best(const Bucket& bucket, MatchKind kind, CostOf costOf)
    {
        struct Candidate {
            Cost cost;
            std::uint32_t a;
            std::uint32_t b;
        };
        // A function with thousands of places on both sides is generated code: no telling them apart.
        constexpr std::size_t most = 1'000'000;
        if (bucket.a.size() * bucket.b.size() > most)
            return;
        std::vector<Candidate> candidates;
        for (const std::uint32_t a : bucket.a)
            for (const std::uint32_t b : bucket.b)
                if (const std::optional<Cost> cost = costOf(a, b))
                    candidates.push_back({*cost, a, b});
        const auto names = [this](const Candidate& c) {
            const std::string& x = m_a.grouping->name(c.a);
            const std::string& y = m_b.grouping->name(c.b);
            return std::pair<const std::string&, const std::string&>(std::min(x, y), std::max(x, y));
        };
        std::sort(candidates.begin(), candidates.end(), [&](const Candidate& x, const Candidate& y) {
            return x.cost != y.cost ? x.cost < y.cost : names(x) < names(y);
        });
        for (const Candidate& each : candidates)
            if (m_a.partner[each.a] == none && m_b.partner[each.b] == none)
                match(each.a, each.b, kind);
    }

    OneSide& m_a;
    OneSide& m_b;
};

/// All groups of both sides, paired, those with most bytes first.
void collect(Matching& out, const OneSide& a, const OneSide& b)
{
    for (std::uint32_t g = 0; g < a.grouping->count(); ++g) {
        CommonGroup group{a.grouping->name(g), g, a.partner[g],
            a.partner[g] == none ? MatchKind::OnlyA : a.kind[g], a.grouping->predating(g), a.facts[g].highest,
            0};
        if (group.groupB != none) {
            group.predating = group.predating || b.grouping->predating(group.groupB);
            group.highestB = b.facts[group.groupB].highest;
        }
        out.groups.push_back(std::move(group));
    }
    for (std::uint32_t g = 0; g < b.grouping->count(); ++g)
        if (b.partner[g] == none)
            out.groups.push_back({b.grouping->name(g), none, g, MatchKind::OnlyB, b.grouping->predating(g), 0,
                b.facts[g].highest});
    const auto most = [](const CommonGroup& group) { return std::max(group.highestA, group.highestB); };
    std::sort(out.groups.begin(), out.groups.end(), [&](const CommonGroup& x, const CommonGroup& y) {
        return most(x) != most(y) ? most(x) > most(y) : x.name < y.name;
    });
    out.commonOfA.assign(a.grouping->count(), none);
    out.commonOfB.assign(b.grouping->count(), none);
    for (std::uint32_t i = 0; i < out.groups.size(); ++i) {
        if (out.groups[i].groupA != none)
            out.commonOfA[out.groups[i].groupA] = i;
        if (out.groups[i].groupB != none)
            out.commonOfB[out.groups[i].groupB] = i;
    }
}

} // namespace

const char* matchKindName(MatchKind kind)
{
    return kindNames[static_cast<std::size_t>(kind)];
}

std::string Matching::rule() const
{
    switch (by) {
    case GroupBy::Site:
        return "Same site: same function, file and line (folders do not count); a moved line, or an equal "
               "function with allocations of the same size, counts as the same.";
    case GroupBy::Stack:
        return "Same stack: the same functions, files and lines from the innermost frame on (folders do not "
               "count); moved lines count as the same.";
    default:
        return "Groups are the same by name.";
    }
}

std::shared_ptr<const Matching> Matching::build(const Side& a, const Side& b, GroupBy by, const Job& job)
{
    auto out = std::make_shared<Matching>();
    out->by = by == GroupBy::None ? GroupBy::Site : by;
    OneSide one = sideOf(a, out->by, job);
    if (sameRun(a, b)) {
        OneSide same = one;
        std::iota(one.partner.begin(), one.partner.end(), 0U);
        same.partner = one.partner;
        collect(*out, one, same);
        out->groupingA = out->groupingB = one.grouping;
        return job.stopped() ? nullptr : out;
    }
    OneSide other = sideOf(b, out->by, job);
    if (job.stopped())
        return nullptr;
    Matcher(one, other).run();
    collect(*out, one, other);
    out->groupingA = one.grouping;
    out->groupingB = other.grouping;
    return out;
}

std::shared_ptr<const Colouring> commonColouring(const Matching& matching, const Side& side, Which which)
{
    const AllocationColumns& c = side.replay().timeline.allocations();
    const Grouping& grouping = which == Which::A ? *matching.groupingA : *matching.groupingB;
    const std::vector<std::uint32_t>& common = which == Which::A ? matching.commonOfA : matching.commonOfB;
    std::vector<std::uint8_t> slots(matching.groups.size(), colourSlot::other);
    auto out = std::make_shared<Colouring>();
    out->by = matching.by == GroupBy::Label ? ColourBy::Label
        : matching.by == GroupBy::Role      ? ColourBy::Role
                                            : ColourBy::Site;
    std::uint8_t next = 0;
    for (std::uint32_t i = 0; i < matching.groups.size() && next < categorySlots; ++i)
        if (!matching.groups[i].predating) {
            out->legend.push_back({next, matching.groups[i].name, i});
            slots[i] = next++;
        }
    out->slotOf.resize(c.count());
    for (std::uint32_t id = 0; id < c.count(); ++id) {
        const std::uint32_t group = grouping.of(AllocationId{id});
        out->slotOf[id] = !grouping.predating(group)   ? slots[common[group]]
            : c.endState[id] == side.replay().states() ? colourSlot::predatingStays
                                                       : colourSlot::predatingFreed;
    }
    return out;
}

} // namespace tidemark::compare
