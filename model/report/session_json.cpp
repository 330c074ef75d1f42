// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/session_json.hpp"

#include <algorithm>
#include <limits>

namespace tidemark::report {

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
