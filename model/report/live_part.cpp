// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/counted.hpp"
#include "model/core/units.hpp"
#include "model/lens/call_tree.hpp"
#include "model/lens/groups.hpp"
#include "model/report/anchors.hpp"
#include "model/report/builder.hpp"

#include <algorithm>

namespace tidemark::report {

namespace {

/// Stacks shown below the table, and frames of one.
constexpr std::size_t mostStacks = 5;
constexpr std::size_t mostFrames = 64;
/// Branches of the call tree below this share of the peak are summed up.
constexpr std::uint64_t leastShare = 50;
constexpr std::uint32_t deepest = 40;

struct Rest {
    std::uint64_t groups = 0;
    std::uint64_t bytes = 0;
    std::uint64_t allocations = 0;
};

/// What is live, grouped; the rows, the rest and the total are those of `tidemark at`.
Table groupTable(const BuildContext& context, const Grouping& grouping, const std::vector<GroupRow>& rows,
    StateIndex state, std::size_t top, const char* what, const char* many)
{
    const Replay& replay = context.replay();
    const std::int64_t live = replay.timeline.requested().at(state);
    Table table;
    table.columns = {{what, Unit::None, true}, {"Live", Unit::Bytes}, {"Share", Unit::Percent},
        {"Allocations", Unit::Count}, {"Largest", Unit::Bytes}};
    Rest rest;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const GroupRow& row = rows[i];
        if (i < top) {
            table.rows.push_back({textCell(Text().code(grouping.name(row.group))), bytesCell(row.bytes),
                shareCell(row.bytes, live), countCell(row.allocations), bytesCell(row.largest)});
            continue;
        }
        ++rest.groups;
        rest.bytes += row.bytes;
        rest.allocations += row.allocations;
    }
    if (rest.groups > 0)
        table.foot.push_back({textCell(formatUnsigned(rest.groups) + " more " + many), bytesCell(rest.bytes),
            shareCell(rest.bytes, live), countCell(rest.allocations), unknownCell()});
    table.foot.push_back({textCell(Text().strong(eventOf(replay, state) < 0
                                  ? std::string("= curve before the first event")
                                  : "= curve at event " + formatCount(eventOf(replay, state)))),
        bytesCell(live), shareCell(static_cast<std::uint64_t>(std::max<std::int64_t>(live, 0)), live),
        countCell(replay.timeline.liveCountAt(state)), unknownCell()});
    return table;
}

void addStack(const BuildContext& context, AllocationId id, const std::string& site, Section& section)
{
    const Snapshot& file = context.file();
    const StackId stack = context.replay().timeline.allocations().stack[index(id)];
    if (!valid(stack) || file.stacks[stack].empty())
        return;
    Stack block;
    const std::uint64_t size = context.replay().timeline.allocations().size[index(id)];
    block.title = site + ": stack of the largest, " + formatBytes(static_cast<std::int64_t>(size));
    const auto frames = file.stacks[stack];
    for (std::size_t i = 0; i < std::min(frames.size(), mostFrames); ++i)
        block.frames.push_back(frameText(file, frames[i]));
    block.more = frames.size() - block.frames.size();
    section.blocks.emplace_back(std::move(block));
}

class TreeTable {
public:
    TreeTable(const CallTree& tree, std::size_t top)
        : m_tree(tree)
        , m_top(top)
    { }

    Table table()
    {
        m_table.id = "tree";
        m_table.sortable = false;
        m_table.columns = {{"From the root", Unit::None, true}, {"Live", Unit::Bytes},
            {"Share", Unit::Percent}, {"Allocations", Unit::Count}};
        m_all = m_tree.nodes[0].bytes;
        children(0, 0);
        m_table.foot.push_back({textCell(Text().strong("= all that is live")), bytesCell(m_all),
            shareCell(m_all, static_cast<std::int64_t>(m_all)), countCell(m_tree.nodes[0].count)});
        if (m_left > 0)
            m_table.note
                = "Branches below 2 % are summed up; what branches lack ends in the line above them.";
        return std::move(m_table);
    }

private:
    void children(std::uint32_t node, int indent)
    {
        const CallTree::Node& parent = m_tree.nodes[node];
        std::uint64_t left = 0;
        std::uint64_t leftBytes = 0;
        std::uint64_t leftCount = 0;
        for (std::uint32_t i = 0; i < parent.children; ++i) {
            const std::uint32_t child = m_tree.child(node, i);
            const CallTree::Node& each = m_tree.nodes[child];
            if (each.bytes * leastShare < m_all || m_table.rows.size() >= m_top || each.depth > deepest) {
                ++left;
                leftBytes += each.bytes;
                leftCount += each.count;
                continue;
            }
            branch(child, indent);
        }
        if (left > 0) {
            m_left += left;
            row(textCell(Text().muted(formatUnsigned(left) + " more"), indent), leftBytes, leftCount);
        }
    }

    /// A chain without forks is one line: only forks and ends tell something.
    void branch(std::uint32_t node, int indent)
    {
        std::string name = m_tree.name(node);
        std::uint32_t skipped = 0;
        while (m_tree.nodes[node].children == 1
            && m_tree.nodes[m_tree.child(node, 0)].bytes == m_tree.nodes[node].bytes
            && m_tree.nodes[node].depth < deepest) {
            node = m_tree.child(node, 0);
            ++skipped;
        }
        Text text = Text().code(std::move(name));
        if (skipped > 1)
            text.muted(" → " + std::to_string(skipped - 1) + (skipped == 2 ? " frame" : " frames"));
        if (skipped > 0)
            text.muted(" → ").code(m_tree.name(node));
        row(textCell(std::move(text), indent), m_tree.nodes[node].bytes, m_tree.nodes[node].count);
        children(node, indent + 1);
    }

    void row(Cell name, std::uint64_t bytes, std::uint64_t count)
    {
        m_table.rows.push_back({std::move(name), bytesCell(bytes),
            shareCell(bytes, static_cast<std::int64_t>(m_all)), countCell(count)});
    }

    const CallTree& m_tree;
    std::size_t m_top;
    std::uint64_t m_all = 0;
    std::uint64_t m_left = 0;
    Table m_table;
};

} // namespace

void addLive(const BuildContext& context, Section& section)
{
    if (!context.hasDevice())
        return;
    const Replay& replay = context.replay();
    const StateIndex state = context.peak();
    section.subtitle = formatBytes(replay.timeline.requested().at(state)) + " in "
        + counted(static_cast<std::uint64_t>(replay.timeline.liveCountAt(state)), "allocation", "allocations")
        + ", " + momentText(context.replay(), state);
    const auto sites = Grouping::build(replay, *context.input.rank->sites, GroupBy::Site);
    const std::vector<GroupRow> rows = groupLive(replay, *sites, state);
    Table bySite = groupTable(context, *sites, rows, state, context.wish.topRows, "Call site", "sites");
    bySite.id = "live";
    section.blocks.emplace_back(std::move(bySite));
    for (std::size_t i = 0; i < std::min({rows.size(), mostStacks, context.wish.topRows}); ++i)
        addStack(context, rows[i].largestId, sites->name(rows[i].group), section);
    const auto& diagnosis = context.input.diagnosis;
    if (!diagnosis || !diagnosis->devices[context.input.device].labels)
        return;
    const Labels* labels = diagnosis->devices[context.input.device].labels.get();
    for (const auto& [by, id, what, many] : {std::tuple(GroupBy::Role, "roles", "Purpose", "purposes"),
             std::tuple(GroupBy::Label, "modules", "Module", "modules")}) {
        const auto grouping = Grouping::build(replay, *context.input.rank->sites, by, labels);
        Table table = groupTable(
            context, *grouping, groupLive(replay, *grouping, state), state, context.wish.topRows, what, many);
        table.id = id;
        section.blocks.emplace_back(std::move(table));
    }
}

void addTree(const BuildContext& context, Section& section)
{
    if (!context.hasDevice() || context.peak() >= context.replay().states())
        return;
    CallTreeWish wish;
    wish.scope = Scope::moment(context.peak());
    const auto tree = buildCallTree(context.replay(), *context.input.rank->sites, wish, context.job);
    if (!tree || tree->nodes.empty() || tree->nodes[0].bytes == 0)
        return;
    section.subtitle = "own frames only, at the peak";
    section.blocks.emplace_back(
        TreeTable(*tree, std::max<std::size_t>(context.wish.topRows * 2, 10)).table());
}

} // namespace tidemark::report
