// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/label_rules.hpp"

#include "model/core/embedded.hpp"
#include "model/core/text.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <nlohmann/json.hpp>

namespace tidemark {

namespace {

using Json = nlohmann::json;

/// Rules of one file: module numbers have 16 bits, and plain modules need some of them.
constexpr std::size_t maxRules = 4096;

Error broken(std::string_view file, std::string message)
{
    return {
        ErrorCode::Malformed, "label rules " + displayText(file) + ": " + std::move(message), std::nullopt};
}

/// Turns one JSON rule into a LabelRule; the first fault is kept and names the key.
class RuleReader {
public:
    RuleReader(std::string_view file, std::size_t number, const RegexFactory& regex)
        : m_file(file)
        , m_name("rule " + std::to_string(number))
        , m_regex(regex)
    { }

    Result<LabelRule> read(const Json& json)
    {
        if (!json.is_object())
            return broken(m_file, m_name + " is no object");
        LabelRule rule;
        if (const auto id = json.find("id"); id != json.end() && id->is_string())
            m_name += " (" + displayText(id->get_ref<const std::string&>(), 40) + ")";
        for (const auto& [key, value] : json.items())
            readKey(rule, key, value);
        if (rule.id.empty() && rule.all.empty())
            fail("id", "is missing");
        if (rule.id.empty()) // a rule that stands for itself needs no name
            rule.id = m_name;
        if (m_fault.empty() && rule.label.empty())
            fail("label", "is missing");
        if (!m_fault.empty())
            return broken(m_file, m_fault);
        return rule;
    }

private:
    void fail(std::string_view key, std::string_view what)
    {
        if (m_fault.empty())
            m_fault = m_name + ": \"" + displayText(key, 40) + "\" " + std::string(what);
    }

    void readKey(LabelRule& rule, const std::string& key, const Json& value)
    {
        if (key == "id")
            readText(rule.id, key, value);
        else if (key == "label")
            readText(rule.label, key, value);
        else if (key == "all")
            readGroups(rule.all, value);
        else if (key == "none")
            readPatterns(rule.none, key, value);
        else if (key == "private_pool")
            readFlag(rule.privatePool, key, value);
        else if (key == "in_private_pool")
            readFlag(rule.inPrivatePool, key, value);
        else if (key == "innermost")
            readFlag(rule.innermost, key, value);
        else if (key == "named")
            readFlag(rule.named, key, value);
        else if (key == "match")
            readExpressions(rule.all, value);
        else if (key == "colour" || key == "color")
            readColour(rule.colour, key, value);
        else
            fail(key,
                "is no key of a rule; there are id, label, colour, match, all, none, private_pool, "
                "in_private_pool, innermost and named");
    }

    void readText(std::string& into, const std::string& key, const Json& value)
    {
        if (!value.is_string() || value.get_ref<const std::string&>().empty())
            return fail(key, "must be a text");
        into = displayText(value.get_ref<const std::string&>(), 120);
    }

    void readFlag(bool& into, const std::string& key, const Json& value)
    {
        if (!value.is_boolean())
            return fail(key, "must be true or false");
        into = value.get<bool>();
    }

    /// One regular expression, or several that must each fit some frame.
    void readExpressions(std::vector<std::vector<FramePattern>>& into, const Json& value)
    {
        const bool list = value.is_array() && !value.empty();
        if (!list && !value.is_string())
            return fail("match", "must be a regular expression or a list of them");
        if (!m_regex)
            return fail("match", "needs regular expressions, which are not known here");
        const Json one = Json::array({value});
        for (const Json& each : list ? value : one) {
            if (!each.is_string() || each.get_ref<const std::string&>().empty())
                return fail("match", "holds something that is no regular expression");
            Result<TextPredicate> test = m_regex(each.get_ref<const std::string&>());
            if (!test)
                return fail("match", "is no regular expression: " + test.error().message);
            FramePattern pattern;
            pattern.expression = std::move(*test);
            into.push_back({std::move(pattern)});
        }
    }

    void readColour(std::optional<std::uint8_t>& into, const std::string& key, const Json& value)
    {
        if (value.is_string()) {
            const auto found = std::ranges::find(paletteNames, value.get_ref<const std::string&>());
            if (found != paletteNames.end()) {
                into = static_cast<std::uint8_t>(found - paletteNames.begin());
                return;
            }
        }
        std::string names;
        for (const std::string_view name : paletteNames)
            names += (names.empty() ? "" : ", ") + std::string(name);
        fail(key, "must be one of " + names);
    }

    void readGroups(std::vector<std::vector<FramePattern>>& into, const Json& value)
    {
        if (!value.is_array() || value.empty())
            return fail("all", "must be a list of lists of frame patterns");
        for (const Json& group : value) {
            into.emplace_back();
            readPatterns(into.back(), "all", group);
        }
    }

    void readPatterns(std::vector<FramePattern>& into, const std::string& key, const Json& value)
    {
        if (!value.is_array() || value.empty())
            return fail(key,
                key == "all" ? "must be a list of lists of frame patterns"
                             : "must be a list of frame patterns");
        for (const Json& pattern : value)
            into.push_back(readPattern(key, pattern));
    }

    /// The colon before the functions: neither one of a C++ name's pairs nor that of a drive letter.
    static std::size_t separator(const std::string& text)
    {
        for (std::size_t at = text.find(':'); at != std::string::npos; at = text.find(':', at + 1)) {
            if (at + 1 < text.size() && text[at + 1] == ':' && at > 0)
                ++at; // "::" within a name
            else if (at != 1 || text.size() < 3 || (text[2] != '/' && text[2] != '\\'))
                return at;
        }
        return std::string::npos;
    }

    /// "path", "path:function,function" or ":function".
    FramePattern readPattern(const std::string& key, const Json& value)
    {
        FramePattern pattern;
        if (!value.is_string()) {
            fail(key, "holds something that is no text of the form \"path:function,function\"");
            return pattern;
        }
        const std::string& text = value.get_ref<const std::string&>();
        const std::size_t colon = separator(text);
        pattern.path = text.substr(0, colon);
        for (std::size_t from = colon; from != std::string::npos && from < text.size();) {
            const std::size_t comma = text.find(',', from + 1);
            const std::string name
                = text.substr(from + 1, comma == std::string::npos ? comma : comma - from - 1);
            if (name.empty())
                fail(key, "holds an empty function name: \"" + displayText(text, 80) + "\"");
            pattern.functions.push_back(name);
            from = comma;
        }
        if (pattern.path.empty() && pattern.functions.empty())
            fail(key, "holds an empty pattern");
        return pattern;
    }

    std::string_view m_file;
    std::string m_name;
    const RegexFactory& m_regex;
    std::string m_fault;
};

} // namespace

Result<std::vector<LabelRule>> LabelRules::parse(
    std::string_view text, std::string_view fileName, const RegexFactory& regex)
{
    const Json json = Json::parse(text, nullptr, false, true);
    if (json.is_discarded())
        return broken(fileName, "not valid JSON");
    if (!json.is_object())
        return broken(fileName, "must be an object with the key \"rules\"");
    for (const auto& [key, value] : json.items())
        if (key != "rules" && key != "about")
            return broken(fileName,
                "\"" + displayText(key, 40) + "\" is no key of the file; there are rules and about");
    const auto list = json.find("rules");
    if (list == json.end() || !list->is_array())
        return broken(fileName, "\"rules\" must be a list");
    if (list->size() > maxRules)
        return broken(fileName, "\"rules\" has more than " + std::to_string(maxRules) + " entries");
    std::vector<LabelRule> rules;
    for (std::size_t i = 0; i < list->size(); ++i) {
        Result<LabelRule> rule = RuleReader(fileName, i + 1, regex).read((*list)[i]);
        if (!rule)
            return rule.error();
        rules.push_back(std::move(*rule));
    }
    return rules;
}

std::shared_ptr<const LabelRules> LabelRules::standard()
{
    static const std::shared_ptr<const LabelRules> shared = [] {
        auto rules = std::make_shared<LabelRules>();
        Result<std::vector<LabelRule>> parsed = parse(embeddedLabelRules(), "labels.json", {});
        assert(parsed.ok()); // a test reads the built-in table
        if (parsed)
            rules->m_rules = std::move(*parsed);
        return rules;
    }();
    return shared;
}

Result<std::shared_ptr<const LabelRules>> LabelRules::withUser(
    std::string_view text, std::string_view fileName, const RegexFactory& regex)
{
    Result<std::vector<LabelRule>> own = parse(text, fileName, regex);
    if (!own)
        return own.error();
    auto rules = std::make_shared<LabelRules>();
    rules->m_rules = std::move(*own);
    rules->m_own = rules->m_rules.size();
    const std::vector<LabelRule>& builtIn = standard()->m_rules;
    rules->m_rules.insert(rules->m_rules.end(), builtIn.begin(), builtIn.end());
    return std::shared_ptr<const LabelRules>(std::move(rules));
}

std::optional<std::size_t> LabelRules::find(std::string_view id) const
{
    const auto found = std::ranges::find(m_rules, id, &LabelRule::id);
    if (found == m_rules.end())
        return std::nullopt;
    return static_cast<std::size_t>(found - m_rules.begin());
}

} // namespace tidemark
