// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/playbook/check_view.hpp"

#include "model/core/allocator_conf.hpp"
#include "model/core/text.hpp"

#include <algorithm>
#include <cstdlib>

namespace tidemark {

namespace {

constexpr std::int64_t largestCount = 1'000'000'000'000;

/// "AttnBackend.fused" and "<AttnBackend.fused: 2>" as "fused".
std::string bareWord(std::string_view text)
{
    if (text.starts_with('<') && text.ends_with('>'))
        text
            = text.substr(1, text.find(':') == std::string_view::npos ? text.size() - 2 : text.find(':') - 1);
    const auto dot = text.rfind('.');
    return std::string(dot == std::string_view::npos ? text : text.substr(dot + 1));
}

} // namespace

Tri allOf(std::initializer_list<Tri> parts)
{
    if (std::find(parts.begin(), parts.end(), Tri(false)) != parts.end())
        return false;
    return std::find(parts.begin(), parts.end(), Tri()) != parts.end() ? Tri() : Tri(true);
}

Tri anyOf(std::initializer_list<Tri> parts)
{
    if (std::find(parts.begin(), parts.end(), Tri(true)) != parts.end())
        return true;
    return std::find(parts.begin(), parts.end(), Tri()) != parts.end() ? Tri() : Tri(false);
}

Tri notOf(Tri part)
{
    return part ? Tri(!*part) : part;
}

std::optional<Version> parseVersion(std::string_view text)
{
    const auto number = [&text]() -> std::optional<int> {
        int value = 0;
        std::size_t digits = 0;
        while (digits < text.size() && digits < 6 && text[digits] >= '0' && text[digits] <= '9')
            value = value * 10 + (text[digits++] - '0');
        text.remove_prefix(digits);
        return digits > 0 ? std::optional(value) : std::nullopt;
    };
    if (text.starts_with('v'))
        text.remove_prefix(1);
    const auto major = number();
    if (!major || !text.starts_with('.'))
        return std::nullopt;
    text.remove_prefix(1);
    const auto minor = number();
    return minor ? std::optional(Version(*major, *minor)) : std::nullopt;
}

Tri CheckView::on(std::string_view key) const
{
    const ConfigValue* value = m_config.find(key);
    if (!value)
        return {};
    struct Truth {
        bool operator()(std::monostate) const { return false; }
        bool operator()(bool flag) const { return flag; }
        bool operator()(std::int64_t whole) const { return whole != 0; }
        bool operator()(double real) const { return real != 0; }
        bool operator()(const std::string& text) const
        {
            return !text.empty() && text != "false" && text != "False" && text != "none" && text != "None";
        }
        bool operator()(const std::vector<std::string>& list) const { return !list.empty(); }
    };
    return std::visit(Truth(), *value);
}

Tri CheckView::isNull(std::string_view key) const
{
    const ConfigValue* value = m_config.find(key);
    return value ? Tri(std::holds_alternative<std::monostate>(*value)) : Tri();
}

std::optional<std::int64_t> CheckView::count(std::string_view key) const
{
    const auto number = m_config.number(key);
    return number && std::abs(*number / 2) <= largestCount / 2 ? number : std::nullopt;
}

std::optional<std::int64_t> CheckView::countOr(std::string_view key, std::int64_t nullValue) const
{
    return isNull(key) == Tri(true) ? std::optional(nullValue) : count(key);
}

std::optional<std::string> CheckView::word(std::string_view key) const
{
    const ConfigValue* value = m_config.find(key);
    if (!value)
        return std::nullopt;
    return bareWord(configText(*value));
}

Tri CheckView::wordIs(std::string_view key, std::initializer_list<std::string_view> words) const
{
    const auto text = word(key);
    return text ? Tri(std::find(words.begin(), words.end(), *text) != words.end()) : Tri();
}

std::optional<std::vector<std::string>> CheckView::words(std::string_view key) const
{
    auto list = m_config.list(key);
    if (list)
        for (std::string& each : *list)
            each = bareWord(each);
    return list;
}

Tri CheckView::listHas(std::string_view key, std::initializer_list<std::string_view> any) const
{
    const auto list = words(key);
    if (!list)
        return {};
    return std::any_of(any.begin(), any.end(), [&list](std::string_view each) {
        return std::find(list->begin(), list->end(), each) != list->end();
    });
}

std::optional<Version> CheckView::version(std::string_view product) const
{
    const auto text = m_config.text("versions." + std::string(product));
    return text ? parseVersion(*text) : std::nullopt;
}

Tri CheckView::expandableOld() const
{
    const auto conf = env("PYTORCH_CUDA_ALLOC_CONF");
    return conf ? Tri(turnsOnExpandableSegments(*conf)) : Tri();
}

Tri CheckView::expandableNew() const
{
    const auto conf = env("PYTORCH_ALLOC_CONF");
    return conf ? Tri(turnsOnExpandableSegments(*conf)) : Tri();
}

Tri CheckView::graphs() const
{
    return notOf(wordIs("model.cuda_graph_impl", {"none"}));
}

Tri CheckView::scopeHas(std::string_view part) const
{
    // Two names of one setting: a version has either.
    const Tri scope = listHas("model.cuda_graph_scope", {part});
    const Tri modules = listHas("model.cuda_graph_modules", {part});
    if (!scope || !modules)
        return scope ? scope : modules;
    return *scope || *modules;
}

Tri CheckView::recomputes(std::string_view label) const
{
    return allOf({selective(), listHas("model.recompute_modules", {label})});
}

std::optional<std::string> CheckView::adapter() const
{
    if (isNull("peft") == Tri(true))
        return std::string();
    if (const auto target = m_config.text("peft._target_"))
        return bareWord(*target);
    return m_config.isCompleteDump() ? std::optional<std::string>(std::string()) : std::nullopt;
}

std::string CheckView::say(std::string_view key) const
{
    if (key.starts_with("env.")) {
        const auto value = env(key.substr(4));
        return !value ? "unknown" : value->empty() ? "not set" : displayText(*value, 120);
    }
    if (key == "snapshot.expandable_segments")
        return !m_facts.expandableInSnapshot ? "unknown" : *m_facts.expandableInSnapshot ? "true" : "false";
    if (key == "snapshot.events")
        return m_facts.events ? std::to_string(*m_facts.events) : "unknown";
    if (key == "snapshot.failing_ranks") {
        std::string ranks;
        for (const int rank : m_facts.failedRanks())
            ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
        return ranks.empty() ? "unknown" : ranks;
    }
    const ConfigValue* value = m_config.find(key);
    return value ? displayText(configText(*value), 120) : "unknown";
}

} // namespace tidemark
