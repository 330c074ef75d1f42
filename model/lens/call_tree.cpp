// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/call_tree.hpp"

#include "model/core/counted.hpp"
#include "model/core/text.hpp"
#include "model/core/units.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace tidemark {

namespace {

constexpr std::uint32_t hidden = 0xffffffffU;
constexpr std::size_t longestName = 200;

/// "torch.nn.modules.linear" of ".../site-packages/torch/nn/modules/linear.py".
std::string moduleOfFile(std::string_view file)
{
    std::string path(file);
    std::replace(path.begin(), path.end(), '\\', '/');
    std::size_t from = std::string::npos;
    for (const char* folder : {"site-packages/", "dist-packages/"})
        if (const std::size_t at = path.rfind(folder); at != std::string::npos)
            from = at + std::string_view(folder).size();
    path = from == std::string::npos ? path.substr(path.rfind('/') + 1) : path.substr(from);
    if (path.ends_with(".py"))
        path.resize(path.size() - 3);
    std::replace(path.begin(), path.end(), '/', '.');
    return path;
}

/// What the allocations of one stack, or of one kind without a stack, add up to.
struct Sum {
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;
    double byteTime = 0;
    std::uint64_t matchedBytes = 0;
    std::uint64_t matchedCount = 0;
    AllocationId largest = AllocationId::none;
    std::uint64_t largestBytes = 0;
};

class TreeBuilder {
public:
    TreeBuilder(const Replay& replay, const Sites& sites, const CallTreeWish& wish, const Job& job)
        : m_replay(replay)
        , m_snapshot(*replay.snapshot)
        , m_sites(sites)
        , m_wish(wish)
        , m_job(job)
        , m_frameName(m_snapshot.frames.size(), unknown)
        , m_sums(m_snapshot.stacks.size())
        , m_paths(m_snapshot.stacks.size())
    {
        m_out.direction = wish.direction;
        m_out.weight = wish.weight;
        m_out.scope = wish.scope;
        m_out.part = wish.part;
        m_out.filtered = wish.matches != nullptr;
    }

    std::optional<CallTree> build()
    {
        m_out.ids = allocationsIn(m_replay, m_wish.scope, m_wish.part, m_job);
        m_out.placeOf.reserve(m_out.ids.size());
        std::uint32_t done = 0;
        for (const AllocationId id : m_out.ids) {
            if (done++ % pollInterval == 0 && m_job.stopped())
                return std::nullopt;
            add(id);
        }
        CallTree::Node root;
        root.name = nameId("all");
        m_out.nodes.push_back(root);
        m_leaves.assign(m_sums.size(), 0);
        for (std::uint32_t place = 0; place < m_sums.size(); ++place) {
            if (place % pollInterval == 0 && m_job.stopped())
                return std::nullopt;
            if (m_sums[place].count > 0)
                insert(place);
        }
        arrange();
        return std::move(m_out);
    }

private:
    static constexpr std::uint32_t unknown = 0xfffffffeU;

    std::uint32_t nameId(const std::string& name)
    {
        const auto [entry, added]
            = m_nameIds.try_emplace(name, static_cast<std::uint32_t>(m_out.names.size()));
        if (added)
            m_out.names.push_back(name);
        return entry->second;
    }

    std::string keyOf(FrameId id) const
    {
        const Frame& frame = m_snapshot.frames[id];
        const std::string_view file = m_snapshot.strings.view(frame.file);
        switch (m_wish.key) {
        case FrameKey::Line:
            return frameText(m_snapshot, id);
        case FrameKey::Function:
            return displayText(m_snapshot.strings.view(frame.name), longestName);
        case FrameKey::File:
            return file.empty() ? "no file" : displayText(file, longestName);
        case FrameKey::Module:
            return file.empty() ? "no file" : displayText(moduleOfFile(file), longestName);
        }
        return {};
    }

    std::uint32_t nameOf(FrameId frame)
    {
        std::uint32_t& known = m_frameName[index(frame)];
        if (known == unknown)
            known = m_wish.ownFramesOnly && m_sites.isFramework(frame) ? hidden : nameId(keyOf(frame));
        return known;
    }

    /// Names of a stack from its root; frames that are one under the key and follow each other are one.
    std::vector<std::uint32_t> pathOf(StackId stack)
    {
        std::vector<std::uint32_t> path;
        const std::span<const FrameId> frames = m_snapshot.stacks[stack];
        for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
            const std::uint32_t name = nameOf(*frame);
            const bool again = m_wish.key != FrameKey::Line && !path.empty() && path.back() == name;
            if (name != hidden && !again)
                path.push_back(name);
        }
        if (path.empty()) {
            const SiteId site = m_sites.of(stack);
            path.push_back(nameId(valid(site) ? m_sites.name(site) : "no stack"));
        }
        return path;
    }

    /// Place of an allocation without a stack: one for each name.
    std::uint32_t placeWithout(AllocationId id)
    {
        const std::string name = allocationSite(m_replay, m_sites, id);
        const auto [entry, added] = m_without.try_emplace(name, static_cast<std::uint32_t>(m_sums.size()));
        if (!added)
            return entry->second;
        m_sums.emplace_back();
        static constexpr std::string_view before = "before recording → ";
        std::vector<std::uint32_t> path;
        if (name.starts_with(before)) {
            path.push_back(nameId("before recording"));
            const std::string rest = name.substr(before.size());
            path.push_back(nameId(rest == "end" ? "alive at the end"
                    : rest == "freed"           ? "freed in the trace"
                                                : "freed by " + rest));
        } else {
            path.push_back(nameId(name));
        }
        m_paths.push_back(std::move(path));
        m_predating.insert(entry->second);
        return entry->second;
    }

    void add(AllocationId id)
    {
        const AllocationColumns& all = m_replay.timeline.allocations();
        const StackId stack = all.stack[index(id)];
        const bool has = valid(stack) && !m_snapshot.stacks[stack].empty();
        const std::uint32_t place = has ? static_cast<std::uint32_t>(index(stack)) : placeWithout(id);
        m_out.placeOf.push_back(place);
        Sum& sum = m_sums[place];
        const std::uint64_t bytes = all.size[index(id)];
        sum.bytes += bytes;
        ++sum.count;
        sum.byteTime += static_cast<double>(bytes) * livesWithin(m_replay, m_wish.scope, id);
        if (m_wish.matches && (*m_wish.matches)[index(id)] != 0) {
            sum.matchedBytes += bytes;
            ++sum.matchedCount;
        }
        if (!valid(sum.largest) || bytes > sum.largestBytes) {
            sum.largest = id;
            sum.largestBytes = bytes;
        }
    }

    std::uint32_t childOf(std::uint32_t parent, std::uint32_t name)
    {
        const std::uint64_t key = std::uint64_t{parent} << 32 | name;
        const auto [entry, added]
            = m_children.try_emplace(key, static_cast<std::uint32_t>(m_out.nodes.size()));
        if (added) {
            CallTree::Node node;
            node.name = name;
            node.parent = parent;
            node.depth = m_out.nodes[parent].depth + 1;
            m_out.nodes.push_back(node);
        }
        return entry->second;
    }

    void insert(std::uint32_t place)
    {
        if (m_paths[place].empty())
            m_paths[place] = pathOf(StackId{place});
        std::vector<std::uint32_t>& path = m_paths[place];
        if (m_wish.direction == TreeDirection::FromLeaf)
            std::reverse(path.begin(), path.end());
        const bool predating = m_predating.contains(place)
            && m_out.names[m_wish.direction == TreeDirection::FromRoot ? path.front() : path.back()]
                == "before recording";
        std::uint32_t node = 0;
        gain(node, m_sums[place]);
        for (const std::uint32_t name : path) {
            node = childOf(node, name);
            gain(node, m_sums[place]);
            m_out.nodes[node].predating = predating;
        }
        m_leaves[place] = node;
    }

    void gain(std::uint32_t at, const Sum& sum)
    {
        CallTree::Node& node = m_out.nodes[at];
        node.bytes += sum.bytes;
        node.count += sum.count;
        node.byteTime += sum.byteTime;
        node.matchedBytes += sum.matchedBytes;
        node.matchedCount += sum.matchedCount;
        const auto& size = m_replay.timeline.allocations().size;
        if (!valid(node.largest) || size[index(node.largest)] < sum.largestBytes)
            node.largest = sum.largest;
    }

    /// Depth-first order, heaviest first.
    void arrange()
    {
        const std::vector<CallTree::Node> made = std::move(m_out.nodes);
        std::vector<std::vector<std::uint32_t>> below(made.size());
        for (std::uint32_t i = 1; i < made.size(); ++i)
            below[made[i].parent].push_back(i);
        m_out.nodes = {};
        m_out.nodes.reserve(made.size());
        std::vector<std::uint32_t> placed(made.size(), 0);
        std::vector<std::uint32_t> open{0};
        while (!open.empty()) {
            const std::uint32_t old = open.back();
            open.pop_back();
            const auto here = static_cast<std::uint32_t>(m_out.nodes.size());
            placed[old] = here;
            CallTree::Node node = made[old];
            if (node.parent != CallTree::none)
                node.parent = placed[node.parent];
            node.children = static_cast<std::uint32_t>(below[old].size());
            m_out.nodes.push_back(node);
            order(made, below[old]);
            open.insert(open.end(), below[old].rbegin(), below[old].rend());
        }
        for (std::uint32_t i = static_cast<std::uint32_t>(m_out.nodes.size()); i-- > 0;) {
            CallTree::Node& node = m_out.nodes[i];
            node.end = std::max(node.end, i + 1);
            if (node.parent != CallTree::none)
                m_out.nodes[node.parent].end = std::max(m_out.nodes[node.parent].end, node.end);
        }
        for (std::uint32_t i = 0; i < m_out.nodes.size(); ++i) {
            m_out.nodes[i].firstChild = static_cast<std::uint32_t>(m_out.childList.size());
            for (std::uint32_t child = i + 1; child < m_out.nodes[i].end; child = m_out.nodes[child].end) {
                m_out.nodes[child].row
                    = static_cast<std::uint32_t>(m_out.childList.size()) - m_out.nodes[i].firstChild;
                m_out.childList.push_back(child);
            }
        }
        m_out.leafOf.reserve(m_leaves.size());
        for (const std::uint32_t leaf : m_leaves)
            m_out.leafOf.push_back(placed[leaf]);
    }

    void order(const std::vector<CallTree::Node>& made, std::vector<std::uint32_t>& nodes) const
    {
        const auto value = [&](std::uint32_t i) {
            switch (m_wish.weight) {
            case TreeWeight::Bytes:
                return static_cast<double>(made[i].bytes);
            case TreeWeight::BytesTime:
                return made[i].byteTime;
            case TreeWeight::Count:
                break;
            }
            return static_cast<double>(made[i].count);
        };
        std::sort(nodes.begin(), nodes.end(), [&](std::uint32_t a, std::uint32_t b) {
            const double left = value(a);
            const double right = value(b);
            return left != right ? left > right : m_out.names[made[a].name] < m_out.names[made[b].name];
        });
    }

    const Replay& m_replay;
    const Snapshot& m_snapshot;
    const Sites& m_sites;
    const CallTreeWish& m_wish;
    const Job& m_job;
    CallTree m_out;
    std::unordered_map<std::string, std::uint32_t> m_nameIds;
    std::vector<std::uint32_t> m_frameName;
    std::vector<Sum> m_sums;
    std::vector<std::vector<std::uint32_t>> m_paths;
    std::unordered_map<std::string, std::uint32_t> m_without;
    std::unordered_set<std::uint32_t> m_predating;
    std::unordered_map<std::uint64_t, std::uint32_t> m_children;
    std::vector<std::uint32_t> m_leaves;
};

} // namespace

double CallTree::value(std::uint32_t node, TreeWeight by) const
{
    switch (by) {
    case TreeWeight::Bytes:
        return static_cast<double>(nodes[node].bytes);
    case TreeWeight::BytesTime:
        return nodes[node].byteTime;
    case TreeWeight::Count:
        break;
    }
    return static_cast<double>(nodes[node].count);
}

std::vector<AllocationId> CallTree::allocations(std::uint32_t node) const
{
    std::vector<AllocationId> out;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const std::uint32_t leaf = leafOf[placeOf[i]];
        if (leaf >= node && leaf < nodes[node].end)
            out.push_back(ids[i]);
    }
    return out;
}

std::string CallTree::folded() const
{
    std::string out;
    std::vector<std::uint32_t> path;
    for (std::uint32_t i = 1; i < nodes.size(); ++i) {
        double own = value(i);
        for (std::uint32_t row = 0; row < nodes[i].children; ++row)
            own -= value(child(i, row));
        if (weight == TreeWeight::BytesTime)
            own /= 1e6;
        const auto number = static_cast<std::uint64_t>(std::max(0.0, own + 0.5));
        if (number == 0)
            continue;
        path.clear();
        for (std::uint32_t at = i; at != 0; at = nodes[at].parent)
            path.push_back(at);
        if (direction == TreeDirection::FromRoot)
            std::reverse(path.begin(), path.end());
        for (std::size_t k = 0; k < path.size(); ++k) {
            std::string frame = name(path[k]);
            std::replace(frame.begin(), frame.end(), ';', ',');
            out += (k > 0 ? ";" : "") + frame;
        }
        out += ' ' + std::to_string(number) + '\n';
    }
    return out;
}

std::string CallTree::text(std::uint32_t node) const
{
    std::string out;
    const double least = value(node) / 1000;
    const std::uint32_t top = nodes[node].depth;
    std::uint32_t left = 0;
    for (std::uint32_t i = node; i < nodes[node].end;) {
        const Node& n = nodes[i];
        if (value(i) < least) {
            ++left;
            i = n.end;
            continue;
        }
        out += std::string(2 * (n.depth - top), ' ') + name(i) + '\t'
            + formatBytes(static_cast<std::int64_t>(n.bytes)) + '\t'
            + formatCount(static_cast<std::int64_t>(n.count)) + '\n';
        ++i;
    }
    if (left > 0)
        out += "(" + counted(static_cast<std::uint64_t>(left), "branch", "branches")
            + " below 1/1000 left out)\n";
    return out;
}

std::optional<CallTree> buildCallTree(
    const Replay& replay, const Sites& sites, const CallTreeWish& wish, const Job& job)
{
    return TreeBuilder(replay, sites, wish, job).build();
}

} // namespace tidemark
