// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/layout/flame_layout.hpp"

#include <algorithm>

namespace tidemark {

namespace {

class FlameLayout {
public:
    FlameLayout(const CallTree& tree, std::uint32_t zoomed, double width, double least)
        : m_tree(tree)
        , m_zoomed(zoomed)
        , m_width(width)
        , m_least(least)
    { }

    std::vector<FlameBox> layout()
    {
        if (m_tree.nodes.empty() || m_width <= 0)
            return {};
        std::vector<std::uint32_t> above;
        for (std::uint32_t at = m_zoomed; at != CallTree::none; at = m_tree.nodes[at].parent)
            above.push_back(at);
        for (auto at = above.rbegin(); at != above.rend(); ++at)
            add(*at, 0, m_width, 1);
        const double all = m_tree.value(m_zoomed);
        if (all <= 0)
            return std::move(m_out);
        m_scale = m_width / all;
        m_open.push_back({m_zoomed, 0});
        while (!m_open.empty()) {
            const Open next = m_open.back();
            m_open.pop_back();
            children(next);
        }
        return std::move(m_out);
    }

private:
    struct Open {
        std::uint32_t node;
        double x;
    };

    void add(std::uint32_t node, double x, double width, std::uint32_t merged)
    {
        const CallTree::Node& first = m_tree.nodes[node];
        FlameBox box{node, first.depth, static_cast<float>(x), static_cast<float>(width), merged};
        for (std::uint32_t i = 0; i < merged; ++i) {
            const CallTree::Node& each
                = m_tree.nodes[merged == 1 ? node : m_tree.child(first.parent, first.row + i)];
            box.bytes += each.bytes;
            box.count += each.count;
            box.matchedCount += each.matchedCount;
        }
        m_out.push_back(box);
    }

    /// Children stand side by side, heaviest first: once one is too narrow, so are those behind it.
    void children(const Open& parent)
    {
        double x = parent.x;
        const CallTree::Node& node = m_tree.nodes[parent.node];
        for (std::uint32_t row = 0; row < node.children; ++row) {
            const std::uint32_t child = m_tree.child(parent.node, row);
            const double width = m_tree.value(child) * m_scale;
            if (width < m_least) {
                sliver(parent, row, x);
                return;
            }
            add(child, x, width, 1);
            m_open.push_back({child, x});
            x += width;
        }
    }

    void sliver(const Open& parent, std::uint32_t row, double x)
    {
        const CallTree::Node& node = m_tree.nodes[parent.node];
        double width = 0;
        for (std::uint32_t i = row; i < node.children; ++i)
            width += m_tree.value(m_tree.child(parent.node, i)) * m_scale;
        if (width > 0)
            add(m_tree.child(parent.node, row), x, width, node.children - row);
    }

    const CallTree& m_tree;
    std::uint32_t m_zoomed;
    double m_width;
    double m_least;
    double m_scale = 0;
    std::vector<Open> m_open;
    std::vector<FlameBox> m_out;
};

} // namespace

std::vector<FlameBox> layoutFlame(const CallTree& tree, std::uint32_t zoomed, double width, double least)
{
    return FlameLayout(tree, zoomed, width, least).layout();
}

} // namespace tidemark
