// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/session_json.hpp"

#include "model/core/text.hpp"

#include <algorithm>
#include <limits>

namespace tidemark::report {

namespace {

/// Looking a key up is a walk over the object.
constexpr std::size_t mostKeys = 4096;

/// Builds what there is until the text breaks off.
class PartialBuilder : public nlohmann::json_sax<SessionJson> {
public:
    SessionJson take() { return std::move(m_root); }
    const std::string& fault() const { return m_fault; }

    bool null() override { return value(nullptr); }
    bool boolean(bool v) override { return value(v); }
    bool number_integer(number_integer_t v) override { return value(v); }
    bool number_unsigned(number_unsigned_t v) override { return value(v); }
    bool number_float(number_float_t v, const string_t&) override { return value(v); }
    bool string(string_t& v) override { return value(std::move(v)); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(SessionJson::object()); }
    bool start_array(std::size_t) override { return open(SessionJson::array()); }
    bool key(string_t& v) override
    {
        m_key = std::move(v);
        return true;
    }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override
    {
        m_fault = "the file is damaged at byte " + std::to_string(position);
        return false;
    }

private:
    SessionJson* add(SessionJson v)
    {
        if (m_open.empty()) {
            m_root = std::move(v);
            return &m_root;
        }
        SessionJson& parent = *m_open.back();
        if (parent.is_array()) {
            parent.push_back(std::move(v));
            return &parent.back();
        }
        if (parent.size() >= mostKeys) {
            m_fault = "an object of the file has too many keys";
            return nullptr;
        }
        SessionJson& place = parent[m_key];
        place = std::move(v);
        return &place;
    }
    bool value(SessionJson v) { return add(std::move(v)) != nullptr; }
    bool open(SessionJson v)
    {
        if (m_open.size() >= static_cast<std::size_t>(maxSessionDepth)) {
            m_fault = "the file nests deeper than " + std::to_string(maxSessionDepth) + " levels";
            return false;
        }
        // Only the innermost open value grows, so the places of the others stay.
        SessionJson* const place = add(std::move(v));
        if (place != nullptr)
            m_open.push_back(place);
        return place != nullptr;
    }
    bool close()
    {
        m_open.pop_back();
        return true;
    }

    SessionJson m_root;
    std::vector<SessionJson*> m_open;
    std::string m_key;
    std::string m_fault;
};

} // namespace

LenientJson parseLeniently(std::string_view text)
{
    PartialBuilder builder;
    const bool whole = SessionJson::sax_parse(text.begin(), text.end(), &builder);
    LenientJson out{builder.take(), builder.fault()};
    if (!whole && out.fault.empty())
        out.fault = "the file is damaged";
    return out;
}

SessionJson salvageLines(std::string_view text)
{
    SessionJson out = SessionJson::object();
    std::string list; ///< key of the open list
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t end = std::min(text.find('\n', from), text.size());
        std::string_view line = text.substr(from, end - from);
        from = end + 1;
        while (line.ends_with(',') || line.ends_with('\r') || line.ends_with(' '))
            line.remove_suffix(1);
        const bool opens = line.ends_with(": [");
        const std::string whole = "{" + std::string(line) + (opens ? "]}" : "}");
        if (line.starts_with('"')) {
            const LenientJson pair = parseLeniently(whole);
            if (pair.fault.empty() && pair.json.size() == 1) {
                const auto one = pair.json.begin();
                list = opens ? one.key() : std::string();
                if (!out.contains(one.key()))
                    out[one.key()] = one.value();
                continue;
            }
        }
        if (line == "]")
            list.clear();
        else if (!list.empty())
            if (LenientJson item = parseLeniently(line); item.fault.empty() && !item.json.is_null())
                out[list].push_back(std::move(item.json));
    }
    return out;
}

const SessionJson* KeyReader::find(const char* key)
{
    m_known.emplace_back(key);
    if (!m_object.is_object())
        return nullptr;
    const auto found = m_object.find(key);
    return found == m_object.end() || found->is_null() ? nullptr : &*found;
}

void KeyReader::wrong(const char* key, const char* what)
{
    if (m_problems.size() < 200)
        m_problems.push_back(m_where + '"' + key + "\" is left out: " + what + '.');
}

void KeyReader::read(const char* key, std::string& value)
{
    std::optional<std::string> text;
    read(key, text);
    if (text)
        value = std::move(*text);
}

void KeyReader::read(const char* key, std::optional<std::string>& value)
{
    const SessionJson* json = find(key);
    if (json == nullptr)
        return;
    if (!json->is_string())
        return wrong(key, "it is no text");
    const auto& text = json->get_ref<const std::string&>();
    if (text.size() > maxSessionText)
        return wrong(key, "the text is longer than 1 MiB");
    value = text;
}

template <typename Number>
bool KeyReader::whole(const SessionJson& json, Number& value) const
{
    if (json.is_number_unsigned()) {
        const auto number = json.get<std::uint64_t>();
        if (number > static_cast<std::uint64_t>(std::numeric_limits<Number>::max()))
            return false;
        value = static_cast<Number>(number);
        return true;
    }
    if (!json.is_number_integer())
        return false;
    const auto number = json.get<std::int64_t>();
    if (number < 0 && std::is_unsigned_v<Number>)
        return false;
    if (number < static_cast<std::int64_t>(std::numeric_limits<Number>::min())
        || (number > 0
            && static_cast<std::uint64_t>(number)
                > static_cast<std::uint64_t>(std::numeric_limits<Number>::max())))
        return false;
    value = static_cast<Number>(number);
    return true;
}

void KeyReader::read(const char* key, std::uint64_t& value)
{
    if (const SessionJson* json = find(key); json != nullptr && !whole(*json, value))
        wrong(key, "it is no whole number of 0 or more");
}

void KeyReader::read(const char* key, std::uint32_t& value)
{
    if (const SessionJson* json = find(key); json != nullptr && !whole(*json, value))
        wrong(key, "it is no whole number of 0 or more");
}

void KeyReader::read(const char* key, std::int32_t& value)
{
    if (const SessionJson* json = find(key); json != nullptr && !whole(*json, value))
        wrong(key, "it is no whole number");
}

void KeyReader::read(const char* key, double& value)
{
    const SessionJson* json = find(key);
    if (json == nullptr)
        return;
    if (!json->is_number())
        return wrong(key, "it is no number");
    value = json->get<double>();
}

void KeyReader::read(const char* key, std::optional<std::int64_t>& value)
{
    std::int64_t number = 0;
    const SessionJson* json = find(key);
    if (json == nullptr)
        return;
    if (!whole(*json, number))
        return wrong(key, "it is no whole number");
    value = number;
}

void KeyReader::read(const char* key, std::optional<std::uint64_t>& value)
{
    std::uint64_t number = 0;
    const SessionJson* json = find(key);
    if (json == nullptr)
        return;
    if (!whole(*json, number))
        return wrong(key, "it is no whole number of 0 or more");
    value = number;
}

void KeyReader::read(const char* key, std::optional<std::pair<std::int64_t, std::int64_t>>& value)
{
    const SessionJson* json = find(key);
    if (json == nullptr)
        return;
    std::pair<std::int64_t, std::int64_t> pair;
    if (!json->is_array() || json->size() != 2 || !whole((*json)[0], pair.first)
        || !whole((*json)[1], pair.second) || pair.first > pair.second)
        return wrong(key, "it is not two events in order");
    value = pair;
}

void KeyReader::read(const char* key, std::vector<std::string>& value)
{
    const SessionJson* items = list(key);
    if (items == nullptr)
        return;
    for (const SessionJson& each : *items)
        if (each.is_string() && each.get_ref<const std::string&>().size() <= maxSessionText)
            value.push_back(each.get<std::string>());
        else
            wrong(key, "one of its items is no text");
}

const SessionJson* KeyReader::list(const char* key)
{
    const SessionJson* json = find(key);
    if (json == nullptr)
        return nullptr;
    if (json->is_array() && json->size() <= maxSessionItems)
        return json;
    wrong(key, json->is_array() ? "the list is too long" : "it is no list");
    return nullptr;
}

const SessionJson* KeyReader::object(const char* key)
{
    const SessionJson* json = find(key);
    if (json == nullptr || json->is_object())
        return json;
    wrong(key, "it is no object");
    return nullptr;
}

std::string KeyReader::extra() const
{
    SessionJson rest = SessionJson::object();
    if (m_object.is_object())
        for (const auto& [key, value] : m_object.items())
            if (std::find(m_known.begin(), m_known.end(), key) == m_known.end())
                rest[key] = value;
    return rest.empty() ? std::string() : rest.dump(-1, ' ', false, SessionJson::error_handler_t::replace);
}

void addExtra(SessionJson& json, const std::string& extra)
{
    if (extra.empty())
        return;
    const LenientJson parsed = parseLeniently(extra);
    if (!parsed.json.is_object())
        return;
    for (const auto& [key, value] : parsed.json.items())
        if (!json.contains(key))
            json[key] = value;
}

} // namespace tidemark::report
