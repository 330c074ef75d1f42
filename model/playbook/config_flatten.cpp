// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/text.hpp"
#include "model/playbook/config_tree.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace tidemark {

namespace {

/// Characters of all keys and values together, aliases unfolded.
constexpr std::size_t maxFlatBytes = 16U << 20;

std::string_view lastName(std::string_view dotted)
{
    const auto dot = dotted.rfind('.');
    return dot == std::string_view::npos ? dotted : dotted.substr(dot + 1);
}

/// Megatron-Core's enumerations by value (megatron/core/transformer/enums.py); counting starts at 1.
constexpr std::array<std::string_view, 5> attentionBackends{"flash", "fused", "unfused", "local", "auto"};
constexpr std::array<std::string_view, 8> graphScopes{"full_iteration", "attn", "mlp", "moe", "moe_router",
    "moe_preprocess", "mamba", "full_iteration_inference"};

std::string enumName(std::string_view target, const ConfigValue& argument)
{
    if (const auto* text = std::get_if<std::string>(&argument))
        return *text;
    const auto* number = std::get_if<std::int64_t>(&argument);
    const std::string_view type = lastName(target);
    const auto named = [number](std::span<const std::string_view> names) -> std::string {
        return number && *number >= 1 && static_cast<std::size_t>(*number) <= names.size()
            ? std::string(names[static_cast<std::size_t>(*number) - 1])
            : std::string();
    };
    std::string name;
    if (type == "AttnBackend")
        name = named(attentionBackends);
    else if (type == "CudaGraphScope" || type == "CudaGraphModule")
        name = named(graphScopes);
    return name.empty() ? std::string(type) + "(" + configText(argument) + ")" : name;
}

class Flattener {
public:
    explicit Flattener(const ConfigTree& tree)
        : m_tree(tree)
    { }

    bool run()
    {
        visit(m_tree.root, {}, 0);
        return !m_tooMuch;
    }
    std::vector<std::pair<std::string, ConfigValue>> take() { return std::move(m_values); }

private:
    const ConfigTree::Node& node(std::size_t at) const { return m_tree.nodes[at]; }

    const ConfigTree::Node* item(const ConfigTree::Node& map, std::string_view name) const
    {
        for (const auto& [key, child] : map.items)
            if (key == name)
                return &node(child);
        return nullptr;
    }

    /// The value of a scalar, or of a map or tagged node that stands for one name.
    std::optional<ConfigValue> single(const ConfigTree::Node& n) const
    {
        if (n.kind == ConfigTree::Kind::Scalar) {
            if (n.tag.starts_with("python/name:"))
                return ConfigValue(n.tag.substr(12));
            return n.value;
        }
        if (n.kind == ConfigTree::Kind::List) {
            static constexpr std::string_view call = "python/object/apply:";
            if (n.tag.starts_with(call) && n.items.size() == 1)
                return ConfigValue(
                    enumName(std::string_view(n.tag).substr(call.size()), node(n.items[0].second).value));
            return std::nullopt;
        }
        return named(n);
    }

    std::optional<ConfigValue> named(const ConfigTree::Node& map) const
    {
        const ConfigTree::Node* target = item(map, "_target_");
        const auto* name = target ? std::get_if<std::string>(&target->value) : nullptr;
        if (!name)
            return std::nullopt;
        const ConfigTree::Node* call = item(map, "_call_");
        if (call && call->value == ConfigValue(false))
            return ConfigValue(*name);
        const ConfigTree::Node* arguments = item(map, "_args_");
        const bool onlyArguments
            = arguments && arguments->items.size() == 1 && map.items.size() == 2U + (call ? 1U : 0U);
        if (onlyArguments)
            return ConfigValue(enumName(*name, node(arguments->items[0].second).value));
        return std::nullopt;
    }

    void put(const std::string& key, ConfigValue value)
    {
        std::size_t bytes = key.size() + sizeof(ConfigValue);
        if (const auto* text = std::get_if<std::string>(&value))
            bytes += text->size();
        else if (const auto* list = std::get_if<std::vector<std::string>>(&value))
            for (const std::string& each : *list)
                bytes += each.size() + sizeof(std::string);
        spend(bytes);
        if (!m_tooMuch && !key.empty())
            m_values.emplace_back(key, std::move(value));
    }
    void spend(std::size_t bytes)
    {
        m_bytes += bytes;
        m_tooMuch = m_tooMuch || m_bytes > maxFlatBytes;
    }

    void visit(std::size_t at, const std::string& prefix, std::size_t depth)
    {
        spend(prefix.size() + 16);
        if (m_tooMuch || depth > 2 * maxConfigDepth)
            return;
        const ConfigTree::Node& n = node(at);
        if (auto value = single(n)) {
            put(prefix, std::move(*value));
            return;
        }
        if (n.kind == ConfigTree::Kind::List && list(n, prefix))
            return;
        std::size_t number = 0;
        for (const auto& [name, child] : n.items) {
            // A merge key: what it names belongs to this map.
            if (n.kind == ConfigTree::Kind::Map && name == "<<") {
                visit(child, prefix, depth + 1);
                continue;
            }
            const std::string part = n.kind == ConfigTree::Kind::Map ? name : std::to_string(number++);
            visit(child, prefix.empty() ? part : prefix + "." + part, depth + 1);
        }
    }

    /// A list of names and numbers; false when it holds lists or maps.
    bool list(const ConfigTree::Node& n, const std::string& prefix)
    {
        std::vector<std::string> texts;
        for (const auto& each : n.items) {
            spend(16);
            const auto value = m_tooMuch ? std::nullopt : single(node(each.second));
            if (!value)
                return m_tooMuch;
            texts.push_back(configText(*value));
            spend(texts.back().size());
        }
        put(prefix, std::move(texts));
        return true;
    }

    const ConfigTree& m_tree;
    std::vector<std::pair<std::string, ConfigValue>> m_values;
    std::size_t m_bytes = 0;
    bool m_tooMuch = false;
};

} // namespace

Result<std::vector<std::pair<std::string, ConfigValue>>> flattenConfig(
    const ConfigTree& tree, std::string_view fileName)
{
    Flattener flattener(tree);
    if (!flattener.run())
        return Error{ErrorCode::TooLarge,
            displayText(fileName, 120)
                + ": its references unfold to more text than a run's settings can have.",
            std::nullopt};
    return flattener.take();
}

} // namespace tidemark
