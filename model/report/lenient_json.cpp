// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/session_json.hpp"

#include <algorithm>

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

} // namespace tidemark::report
