// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/playbook/config_tree.hpp"

#include "model/core/text.hpp"

#include <nlohmann/json.hpp>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <charconv>
#include <cmath>
#include <istream>
#include <limits>
#include <streambuf>
#include <unordered_map>

namespace tidemark {

namespace {

Error lineError(std::string_view fileName, int line, const std::string& what)
{
    const std::string name = displayText(fileName, 120);
    return {ErrorCode::Malformed,
        line > 0 ? name + ", line " + std::to_string(line) + ": " + what : name + ": " + what, std::nullopt};
}

/// Ends reading from inside the parsers' callbacks.
struct Refusal {
    std::string why;
};

/// Puts nodes together as either parser reports them.
class TreeBuilder {
public:
    void open(ConfigTree::Kind kind, std::string tag, std::size_t anchor)
    {
        if (m_open.size() >= maxConfigDepth)
            throw Refusal{"nested deeper than " + std::to_string(maxConfigDepth)
                + " levels, which no run's settings are"};
        const std::size_t node = make(kind, std::move(tag));
        place(node, {});
        m_open.push_back({node, {}, false, anchor});
    }
    void close()
    {
        remember(m_open.back().anchor, m_open.back().node);
        m_open.pop_back();
    }
    void scalar(ConfigValue value, std::string_view raw, std::string tag, std::size_t anchor)
    {
        if (raw.size() > maxConfigScalar)
            throw Refusal{"a value of " + std::to_string(raw.size()) + " characters, which no setting has"};
        if (awaitsKey() && anchor == 0) {
            key(raw);
            return;
        }
        const std::size_t node = make(ConfigTree::Kind::Scalar, std::move(tag));
        m_tree.nodes[node].value = std::move(value);
        place(node, raw);
        remember(anchor, node);
    }
    void alias(std::size_t anchor)
    {
        const auto it = m_anchors.find(anchor);
        // Not there: the node it means is still open, so it holds itself.
        place(it == m_anchors.end() ? make(ConfigTree::Kind::Scalar, {}) : it->second, {});
    }
    void key(std::string_view text)
    {
        if (text.size() > maxConfigKey)
            throw Refusal{"a name of " + std::to_string(text.size()) + " characters, which no setting has"};
        m_open.back().key = text;
        m_open.back().hasKey = true;
    }
    bool empty() const { return m_tree.nodes.empty(); }
    ConfigTree take() { return std::move(m_tree); }

private:
    struct Open {
        std::size_t node;
        std::string key;
        bool hasKey;
        std::size_t anchor;
    };
    bool awaitsKey() const
    {
        return !m_open.empty() && m_tree.nodes[m_open.back().node].kind == ConfigTree::Kind::Map
            && !m_open.back().hasKey;
    }
    std::size_t make(ConfigTree::Kind kind, std::string tag)
    {
        if (m_tree.nodes.size() >= maxConfigNodes)
            throw Refusal{
                "more than " + std::to_string(maxConfigNodes) + " values, which no run's settings have"};
        m_tree.nodes.push_back({kind, {}, std::move(tag), {}});
        return m_tree.nodes.size() - 1;
    }
    void place(std::size_t node, std::string_view raw)
    {
        if (m_open.empty()) {
            m_tree.root = node;
            return;
        }
        Open& parent = m_open.back();
        if (awaitsKey()) {
            // A list or map as a key: its value is kept under a name that no setting has.
            key(raw.empty() ? "?" : raw);
            return;
        }
        if (m_tree.nodes.size() + m_mentions++ > maxConfigNodes)
            throw Refusal{
                "more than " + std::to_string(maxConfigNodes) + " values, which no run's settings have"};
        m_tree.nodes[parent.node].items.emplace_back(std::move(parent.key), node);
        parent.key.clear();
        parent.hasKey = false;
    }
    void remember(std::size_t anchor, std::size_t node)
    {
        if (anchor != 0)
            m_anchors[anchor] = node;
    }

    ConfigTree m_tree;
    std::vector<Open> m_open;
    std::unordered_map<std::size_t, std::size_t> m_anchors;
    std::size_t m_mentions = 0;
};

std::string classTag(const std::string& tag)
{
    static constexpr std::string_view prefix = "tag:yaml.org,2002:";
    return tag.starts_with(prefix) ? tag.substr(prefix.size()) : std::string();
}

class YamlEvents final : public YAML::EventHandler {
public:
    explicit YamlEvents(TreeBuilder& tree)
        : m_tree(tree)
    { }
    void OnDocumentStart(const YAML::Mark&) override { }
    void OnDocumentEnd() override { }
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override
    {
        m_mark = mark;
        m_tree.scalar({}, {}, {}, anchor);
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override
    {
        m_mark = mark;
        m_tree.alias(anchor);
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
        const std::string& value) override
    {
        m_mark = mark;
        m_tree.scalar(
            tag == "?" ? plainConfigValue(value) : ConfigValue(value), value, classTag(tag), anchor);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
        YAML::EmitterStyle::value) override
    {
        m_mark = mark;
        m_tree.open(ConfigTree::Kind::List, classTag(tag), anchor);
    }
    void OnSequenceEnd() override { m_tree.close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
        YAML::EmitterStyle::value) override
    {
        m_mark = mark;
        m_tree.open(ConfigTree::Kind::Map, classTag(tag), anchor);
    }
    void OnMapEnd() override { m_tree.close(); }
    int line() const { return m_mark.line + 1; }

private:
    TreeBuilder& m_tree;
    YAML::Mark m_mark;
};

/// The tree's own bounds hold for JSON too: its parser keeps no stack of calls.
class JsonEvents final : public nlohmann::json_sax<nlohmann::json> {
public:
    explicit JsonEvents(TreeBuilder& tree)
        : m_tree(tree)
    { }
    bool null() override { return add({}); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(std::int64_t{value}); }
    bool number_unsigned(number_unsigned_t value) override
    {
        if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
            return add(static_cast<double>(value));
        return add(static_cast<std::int64_t>(value));
    }
    bool number_float(number_float_t value, const string_t&) override { return add(value); }
    bool string(string_t& value) override
    {
        m_tree.scalar(value, value, {}, 0);
        return true;
    }
    bool binary(binary_t&) override { return true; }
    bool start_object(std::size_t) override { return open(ConfigTree::Kind::Map); }
    bool key(string_t& value) override
    {
        m_tree.key(value);
        return true;
    }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(ConfigTree::Kind::List); }
    bool end_array() override { return close(); }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override
    {
        m_errorAt = position;
        return false;
    }
    std::size_t errorAt() const { return m_errorAt; }

private:
    bool add(ConfigValue value)
    {
        m_tree.scalar(std::move(value), {}, {}, 0);
        return true;
    }
    bool open(ConfigTree::Kind kind)
    {
        m_tree.open(kind, {}, 0);
        return true;
    }
    bool close()
    {
        m_tree.close();
        return true;
    }

    TreeBuilder& m_tree;
    std::size_t m_errorAt = 0;
};

/// A text in memory as a stream, without a copy.
class ViewBuffer final : public std::streambuf {
public:
    explicit ViewBuffer(std::string_view text)
    {
        char* begin = const_cast<char*>(text.data()); // never written: there is no overflow()
        setg(begin, begin, begin + text.size());
    }
};

template <typename Number>
std::optional<Number> wholeNumber(std::string_view text, int base)
{
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<double> realNumber(std::string_view text)
{
    std::string_view bare = text;
    const bool minus = bare.starts_with('-');
    if (minus || bare.starts_with('+'))
        bare.remove_prefix(1);
    if (bare == ".inf" || bare == ".Inf" || bare == ".INF")
        return minus ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    if (bare == ".nan" || bare == ".NaN" || bare == ".NAN")
        return std::numeric_limits<double>::quiet_NaN();
    // Words such as "inf" and "nan" are numbers for from_chars, not for YAML.
    if (bare.empty() || !(bare.front() == '.' || (bare.front() >= '0' && bare.front() <= '9')))
        return std::nullopt;
    double value = 0;
    const auto [end, error] = std::from_chars(bare.data(), bare.data() + bare.size(), value);
    if (error != std::errc() || end != bare.data() + bare.size())
        return std::nullopt;
    return minus ? -value : value;
}

} // namespace

ConfigValue plainConfigValue(std::string_view word)
{
    for (const std::string_view none : {"", "~", "null", "Null", "NULL", "None"})
        if (word == none)
            return {};
    for (const std::string_view yes : {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"})
        if (word == yes)
            return true;
    for (const std::string_view no : {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"})
        if (word == no)
            return false;
    const std::string_view unsignedPart = word.starts_with('+') ? word.substr(1) : word;
    if (const auto whole = wholeNumber<std::int64_t>(unsignedPart, 10))
        return *whole;
    if (word.starts_with("0x"))
        if (const auto whole = wholeNumber<std::int64_t>(word.substr(2), 16))
            return *whole;
    if (const auto number = realNumber(word))
        return *number;
    return std::string(word);
}

Result<ConfigTree> parseYamlConfig(std::string_view text, std::string_view fileName)
{
    TreeBuilder tree;
    YamlEvents events(tree);
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    try {
        YAML::Parser parser(stream);
        parser.HandleNextDocument(events);
    } catch (const YAML::Exception& error) {
        return lineError(fileName, error.mark.line + 1, displayText(error.msg, 160) + ".");
    } catch (const Refusal& refusal) {
        return lineError(fileName, events.line(), refusal.why + ".");
    } catch (const std::exception&) {
        return lineError(fileName, events.line(), "not readable as YAML.");
    }
    if (tree.empty())
        return lineError(fileName, 0, "holds no settings.");
    return tree.take();
}

Result<ConfigTree> parseJsonConfig(std::string_view text, std::string_view fileName)
{
    TreeBuilder tree;
    JsonEvents events(tree);
    const auto lineOf = [text](std::size_t offset) {
        return 1
            + static_cast<int>(std::count(text.begin(),
                text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text.size())), '\n'));
    };
    try {
        if (!nlohmann::json::sax_parse(text.begin(), text.end(), &events))
            return lineError(fileName, lineOf(events.errorAt()), "not valid JSON.");
    } catch (const Refusal& refusal) {
        return lineError(fileName, 0, refusal.why + ".");
    }
    return tree.take();
}

} // namespace tidemark
