// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/groups.hpp"

#include "model/core/text.hpp"
#include "model/core/units.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_map>

namespace tidemark {

namespace {

constexpr std::uint32_t unset = 0xffffffffU;
/// Frames of a stack that stand in its group's name.
constexpr std::size_t namedFrames = 12;

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::array<std::uint64_t, sizeClasses> sizeFrom{
    0, 64 * kib, mib, 4 * mib, 16 * mib, 64 * mib, 256 * mib};
constexpr std::array<const char*, sizeClasses> sizeNames{"below 64 KiB", "64 KiB to 1 MiB", "1 to 4 MiB",
    "4 to 16 MiB", "16 to 64 MiB", "64 to 256 MiB", "256 MiB and more"};

} // namespace

std::uint32_t sizeClass(std::uint64_t bytes)
{
    std::uint32_t found = 0;
    while (found + 1 < sizeClasses && bytes >= sizeFrom[found + 1])
        ++found;
    return found;
}

std::pair<std::uint64_t, std::optional<std::uint64_t>> sizeClassBounds(std::uint32_t sizeClass)
{
    if (sizeClass + 1 < sizeClasses)
        return {sizeFrom[sizeClass], sizeFrom[sizeClass + 1]};
    return {sizeFrom[sizeClass], std::nullopt};
}

const char* sizeClassName(std::uint32_t sizeClass)
{
    return sizeNames[sizeClass];
}

/// Gives every allocation its group; groups are numbered in the order of first use.
class GroupingBuilder {
public:
    GroupingBuilder(const Replay& replay, const Sites& sites, GroupBy by, const Labels* labels)
        : m_replay(replay)
        , m_sites(sites)
        , m_labels(labels)
        , m_columns(replay.timeline.allocations())
        , m_out(std::make_shared<Grouping>())
    {
        m_out->m_by = by;
    }

    std::shared_ptr<const Grouping> build()
    {
        const std::size_t count = m_columns.count();
        m_out->m_group.reserve(count);
        switch (m_out->m_by) {
        case GroupBy::Site:
        case GroupBy::None:
            bySite();
            break;
        case GroupBy::Stack:
            byStack();
            break;
        case GroupBy::Size:
            m_ofKey.assign(sizeClasses, unset);
            for (std::size_t i = 0; i < count; ++i)
                m_out->m_group.push_back(ofKey(sizeClass(m_columns.size[i]),
                    [](std::uint32_t key) { return std::string(sizeClassName(key)); }));
            break;
        case GroupBy::Stream:
            m_ofKey.assign(m_replay.snapshot->streams.size(), unset);
            for (std::size_t i = 0; i < count; ++i)
                m_out->m_group.push_back(ofKey(index(m_columns.stream[i]),
                    [this](std::uint32_t key) { return streamName(*m_replay.snapshot, StreamId{key}); }));
            break;
        case GroupBy::Pool:
            m_ofKey.assign(m_replay.snapshot->pools.size(), unset);
            for (std::size_t i = 0; i < count; ++i)
                m_out->m_group.push_back(ofKey(index(m_columns.pool[i]),
                    [this](std::uint32_t key) { return poolName(*m_replay.snapshot, PoolId{key}); }));
            break;
        case GroupBy::Category:
            byCategory();
            break;
        case GroupBy::ExactSize:
            byExactSize();
            break;
        case GroupBy::Label:
            byLabel();
            break;
        case GroupBy::Role:
            byRole();
            break;
        }
        if (m_out->m_by == GroupBy::None)
            splitAll();
        return m_out;
    }

private:
    std::uint32_t add(std::string name, SiteId site, bool predating)
    {
        const auto [entry, added]
            = m_known.try_emplace(std::move(name), static_cast<std::uint32_t>(m_out->m_names.size()));
        if (added) {
            m_out->m_names.push_back(entry->first);
            m_out->m_sites.push_back(site);
            m_out->m_predating.push_back(predating);
        }
        return entry->second;
    }

    /// The group of a small number, named on first use.
    template <typename Name>
    std::uint32_t ofKey(std::size_t key, Name name)
    {
        if (m_ofKey[key] == unset)
            m_ofKey[key] = add(name(static_cast<std::uint32_t>(key)), SiteId::none, false);
        return m_ofKey[key];
    }

    /// Groups for allocations without a site of their own.
    std::uint32_t withoutSite(std::uint32_t id)
    {
        if (m_columns.origin[id] == Origin::Traced) {
            if (m_noStack == unset)
                m_noStack = add(allocationSite(m_replay, m_sites, AllocationId{id}), SiteId::none, false);
            return m_noStack;
        }
        const bool history = m_replay.device().events.count() > 1;
        return add(allocationSite(m_replay, m_sites, AllocationId{id}), SiteId::none, history);
    }

    void bySite()
    {
        m_ofKey.assign(m_sites.count(), unset);
        for (std::uint32_t i = 0; i < m_columns.count(); ++i) {
            const SiteId site = m_sites.of(m_columns.stack[i]);
            if (!valid(site)) {
                m_out->m_group.push_back(withoutSite(i));
                continue;
            }
            if (m_ofKey[index(site)] == unset)
                m_ofKey[index(site)] = add(m_sites.name(site), site, false);
            m_out->m_group.push_back(m_ofKey[index(site)]);
        }
    }

    void byStack()
    {
        m_ofKey.assign(m_replay.snapshot->stacks.size(), unset);
        for (std::uint32_t i = 0; i < m_columns.count(); ++i) {
            const StackId stack = m_columns.stack[i];
            if (!valid(m_sites.of(stack))) {
                m_out->m_group.push_back(withoutSite(i));
                continue;
            }
            if (m_ofKey[index(stack)] == unset)
                m_ofKey[index(stack)] = addStack(stack);
            m_out->m_group.push_back(m_ofKey[index(stack)]);
        }
    }

    std::uint32_t addStack(StackId stack)
    {
        const Snapshot& snapshot = *m_replay.snapshot;
        const std::span<const FrameId> frames = snapshot.stacks[stack];
        std::vector<std::uint32_t> shown = m_sites.ownFrames(snapshot, stack);
        if (m_sites.mode() == SiteMode::Raw) {
            shown.resize(frames.size());
            std::iota(shown.begin(), shown.end(), 0U);
        }
        const SiteId site = m_sites.of(stack);
        if (shown.empty())
            return add(m_sites.name(site), site, false);
        std::string whole;
        for (const std::uint32_t frame : shown)
            whole.append(whole.empty() ? "" : " ← ").append(frameText(snapshot, frames[frame]));
        const auto [entry, added] = m_wholeStacks.try_emplace(std::move(whole), unset);
        if (added)
            entry->second = add(shortened(entry->first, shown, frames), site, false);
        return entry->second;
    }

    /// A name people can read; a number keeps stacks apart that differ further out only.
    std::string shortened(
        const std::string& whole, const std::vector<std::uint32_t>& shown, std::span<const FrameId> frames)
    {
        if (shown.size() <= namedFrames)
            return whole;
        std::string text;
        for (std::size_t i = 0; i < namedFrames; ++i)
            text.append(i == 0 ? "" : " ← ").append(frameText(*m_replay.snapshot, frames[shown[i]]));
        text += " ← … " + std::to_string(shown.size() - namedFrames) + " more";
        std::string unique = text;
        for (int number = 2; m_known.count(unique) != 0; ++number)
            unique = text + " (" + std::to_string(number) + ")";
        return unique;
    }

    void byCategory()
    {
        const std::vector<StringId>& categories = m_replay.device().events.category;
        for (std::uint32_t i = 0; i < m_columns.count(); ++i) {
            StringId category = StringId::none;
            if (const auto event = m_replay.timeline.allocEvent(AllocationId{i});
                event && !categories.empty())
                category = categories[index(*event)];
            const std::size_t key = valid(category) ? index(category) : m_replay.snapshot->strings.size();
            const auto [entry, added] = m_ofCategory.try_emplace(key, unset);
            if (added)
                entry->second = add(valid(category) ? displayText(m_replay.snapshot->strings.view(category))
                                                    : std::string("no category"),
                    SiteId::none, false);
            m_out->m_group.push_back(entry->second);
        }
    }

    void byExactSize()
    {
        std::unordered_map<std::uint64_t, std::uint32_t> ofSize;
        for (const std::uint64_t size : m_columns.size) {
            const auto [entry, added] = ofSize.try_emplace(size, unset);
            if (added)
                entry->second = add(formatExactBytes(static_cast<std::int64_t>(size)), SiteId::none, false);
            m_out->m_group.push_back(entry->second);
        }
    }

    void byLabel()
    {
        const bool history = m_replay.device().events.count() > 1;
        const std::size_t modules = m_labels != nullptr ? m_labels->modules.size() : 0;
        m_ofKey.assign(modules + 2, unset);
        for (std::uint32_t i = 0; i < m_columns.count(); ++i) {
            std::size_t key = modules;
            if (m_labels != nullptr && m_labels->moduleOf[i] != Labels::unmatched)
                key = m_labels->moduleOf[i];
            else if (m_columns.origin[i] != Origin::Traced && !valid(m_sites.of(m_columns.stack[i])))
                key = modules + 1;
            if (m_ofKey[key] == unset)
                m_ofKey[key] = key < modules ? add(m_labels->modules[key], SiteId::none, false)
                    : key == modules         ? add("not labelled", SiteId::none, false)
                                             : add("before recording", SiteId::none, history);
            m_out->m_group.push_back(m_ofKey[key]);
        }
    }

    void byRole()
    {
        const bool history = m_replay.device().events.count() > 1;
        m_ofKey.assign(roles + 1, unset);
        for (std::uint32_t i = 0; i < m_columns.count(); ++i) {
            const std::size_t key
                = m_labels != nullptr ? static_cast<std::size_t>(m_labels->roleOf[i]) : roles;
            if (m_ofKey[key] == unset) {
                const Role role = static_cast<Role>(key);
                m_ofKey[key] = key == roles
                    ? add("not labelled", SiteId::none, false)
                    : add(roleName(role), SiteId::none, role == Role::Predating && history);
            }
            m_out->m_group.push_back(m_ofKey[key]);
        }
    }

    /// Every allocation its own group, named by its site.
    void splitAll()
    {
        std::vector<SiteId> sites;
        std::vector<std::uint8_t> predating;
        for (const std::uint32_t group : m_out->m_group) {
            sites.push_back(m_out->m_sites[group]);
            predating.push_back(m_out->m_predating[group]);
        }
        m_out->m_sites = std::move(sites);
        m_out->m_predating = std::move(predating);
        m_out->m_nameOf = std::move(m_out->m_group);
        m_out->m_group.resize(m_columns.count());
        std::iota(m_out->m_group.begin(), m_out->m_group.end(), 0U);
    }

    const Replay& m_replay;
    const Sites& m_sites;
    const Labels* m_labels;
    const AllocationColumns& m_columns;
    std::shared_ptr<Grouping> m_out;
    std::unordered_map<std::string, std::uint32_t> m_known;
    std::unordered_map<std::string, std::uint32_t> m_wholeStacks;
    std::unordered_map<std::size_t, std::uint32_t> m_ofCategory;
    std::vector<std::uint32_t> m_ofKey;
    std::uint32_t m_noStack = unset;
};

std::shared_ptr<const Grouping> Grouping::build(
    const Replay& replay, const Sites& sites, GroupBy by, const Labels* labels)
{
    return GroupingBuilder(replay, sites, by, labels).build();
}

std::vector<GroupRow> groupLive(const Replay& replay, const Grouping& grouping, StateIndex state)
{
    const AllocationColumns& c = replay.timeline.allocations();
    std::vector<GroupRow> rows;
    std::vector<std::uint32_t> rowOf(grouping.count(), unset);
    for (const AllocationId id : replay.timeline.liveAt(state)) {
        std::uint32_t& place = rowOf[grouping.of(id)];
        if (place == unset) {
            place = static_cast<std::uint32_t>(rows.size());
            GroupRow row;
            row.group = grouping.of(id);
            row.oldest = c.firstState[index(id)];
            rows.push_back(row);
        }
        GroupRow& row = rows[place];
        const std::uint64_t size = c.size[index(id)];
        row.bytes += size;
        ++row.allocations;
        row.blockBytes += replay.segments.blockSize(id);
        if (!valid(row.largestId) || size > row.largest) {
            row.largest = size;
            row.largestId = id;
        }
        row.oldest = std::min(row.oldest, c.firstState[index(id)]);
    }
    std::sort(rows.begin(), rows.end(), [&](const GroupRow& a, const GroupRow& b) {
        if (a.bytes != b.bytes)
            return a.bytes > b.bytes;
        if (const int order = grouping.name(a.group).compare(grouping.name(b.group)); order != 0)
            return order < 0;
        return a.group < b.group;
    });
    return rows;
}

} // namespace tidemark
