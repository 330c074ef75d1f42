// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/labels.hpp"
#include "model/lens/sites.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tidemark {

enum class GroupBy {
    Site,
    Stack,
    Size, ///< the size classes of the colours
    Stream,
    Pool,
    Category,
    ExactSize, ///< one group per requested size, named "104,857,600 B"
    None, ///< every allocation
    Label, ///< the module, by the label rules
    Role, ///< what it is for, by its life
};

/// The size classes of tables and colours (help/window.md), smallest first.
inline constexpr std::size_t sizeClasses = 7;
/// 0 below 64 KiB, then from 64 KiB, 1, 4, 16, 64 and 256 MiB.
std::uint32_t sizeClass(std::uint64_t bytes);
/// Its smallest size, and the smallest of the next class; absent for the last one.
std::pair<std::uint64_t, std::optional<std::uint64_t>> sizeClassBounds(std::uint32_t sizeClass);
/// "below 64 KiB", "64 KiB to 1 MiB", …, "256 MiB and more".
const char* sizeClassName(std::uint32_t sizeClass);

/// Keys of all allocations of a device under one grouping, computed once and kept: allocation → group number.
/// Names are distinct. Stacks that differ in framework frames only are one group, unless the sites are raw.
class Grouping {
public:
    /// Cost: one pass, and one text a distinct stack. `labels`: of this device, for Label and Role; without
    /// them these know one group, "not labelled".
    static std::shared_ptr<const Grouping> build(
        const Replay& replay, const Sites& sites, GroupBy by, const Labels* labels = nullptr);

    GroupBy by() const { return m_by; }
    std::uint32_t of(AllocationId id) const { return m_group[index(id)]; }
    std::size_t count() const { return m_sites.size(); }
    /// Shown name of a group: a site, a stack's frames, a size class, a stream, …; under GroupBy::None, where
    /// every allocation is a group, its site.
    const std::string& name(std::uint32_t group) const
    {
        return m_names[m_nameOf.empty() ? group : m_nameOf[group]];
    }
    /// The site a group stands for (Site and Stack), else SiteId::none.
    SiteId site(std::uint32_t group) const { return m_sites[group]; }
    /// Members are older than the recording: drawn hatched.
    bool predating(std::uint32_t group) const { return m_predating[group] != 0; }

private:
    friend class GroupingBuilder;
    GroupBy m_by{};
    std::vector<std::uint32_t> m_group;
    std::vector<std::string> m_names;
    /// Place in m_names by group, where many groups share a name; else empty.
    std::vector<std::uint32_t> m_nameOf;
    std::vector<SiteId> m_sites;
    std::vector<std::uint8_t> m_predating;
};

/// One row of the live table.
struct GroupRow {
    std::uint32_t group = 0;
    std::uint64_t bytes = 0;
    std::uint64_t allocations = 0;
    std::uint64_t largest = 0;
    AllocationId largestId = AllocationId::none;
    /// First state of the oldest member.
    StateIndex oldest = 0;
    /// Σ block sizes, for waste; inferred.
    std::uint64_t blockBytes = 0;
};

/// What is live at a state, grouped, largest first (ties by name). Σ bytes = requested().at(state).
std::vector<GroupRow> groupLive(const Replay& replay, const Grouping& grouping, StateIndex state);

} // namespace tidemark
