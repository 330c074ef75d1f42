// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/text.hpp"
#include "model/playbook/config_tree.hpp"

#include <nlohmann/json.hpp>

namespace tidemark {

namespace {

/// Copies a node; aliases are copied where they stand, within a budget of nodes and depth.
class JsonOfTree {
public:
    explicit JsonOfTree(const ConfigTree& tree)
        : m_tree(tree)
    { }
    /// False when the budget does not do.
    bool copy(std::size_t node, nlohmann::json& into, std::size_t depth = 0)
    {
        if (depth > maxConfigDepth || ++m_made > maxConfigNodes)
            return false;
        const ConfigTree::Node& from = m_tree.nodes[node];
        if (from.kind == ConfigTree::Kind::Scalar) {
            std::visit([&](const auto& value) { set(into, value); }, from.value);
            return true;
        }
        const bool map = from.kind == ConfigTree::Kind::Map;
        into = map ? nlohmann::json::object() : nlohmann::json::array();
        for (const auto& [name, item] : from.items) {
            nlohmann::json value;
            if (!copy(item, value, depth + 1))
                return false;
            if (map)
                into[name] = std::move(value);
            else
                into.push_back(std::move(value));
        }
        return true;
    }

private:
    template <typename T>
    static void set(nlohmann::json& into, const T& value)
    {
        into = value;
    }
    static void set(nlohmann::json& into, std::monostate) { into = nullptr; }

    const ConfigTree& m_tree;
    std::size_t m_made = 0;
};

} // namespace

Result<std::string> jsonOfConfig(const ConfigTree& tree, std::string_view fileName)
{
    nlohmann::json json;
    if (tree.nodes.empty() || !JsonOfTree(tree).copy(tree.root, json))
        return Error{ErrorCode::TooLarge,
            displayText(fileName, 120) + ": its references unfold to more than such a file can hold",
            std::nullopt};
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace tidemark
