// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/redaction.hpp"

#include "model/core/text.hpp"
#include "model/report/escape.hpp"
#include "model/report/redaction_words.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace tidemark::report {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t noSecret = 0xffffffffU;
constexpr const char* hiddenText = "hidden";
constexpr std::string_view ellipsis = "…";

/// The word boundary that `mentions` asks for.
bool standsAlone(std::string_view text, std::size_t at, std::string_view word)
{
    const std::size_t end = at + word.size();
    return (at == 0 || !isWordChar(word.front()) || !isWordChar(text[at - 1]))
        && (end >= text.size() || !isWordChar(word.back()) || !isWordChar(text[end]));
}

/// Names of users and hosts go wherever they stand, inside other words too, unless they are short words.
bool goesAnywhere(std::string_view secret, Replacement::Kind kind)
{
    return (kind == Replacement::Kind::User || kind == Replacement::Kind::Host)
        && (secret.size() >= 6 || !isPlainWord(secret));
}

bool endsPath(char c)
{
    return static_cast<unsigned char>(c) <= ' '
        || std::string_view("\"'`<>|,;)]}*").find(c) != std::string_view::npos;
}

bool isSeparator(char c)
{
    return c == '/' || c == '\\';
}

bool isLetter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Length of what looks like an absolute path at a position, 0 for none. "/tmp" alone is none.
std::size_t pathLength(std::string_view text, std::size_t at)
{
    if (at > 0 && (isWordChar(text[at - 1]) || text[at - 1] == '.' || isSeparator(text[at - 1])))
        return 0;
    std::string_view rest = text.substr(at);
    const bool drive = rest.size() > 3 && isLetter(rest[0]) && rest[1] == ':' && isSeparator(rest[2]);
    const bool home = rest.starts_with("~/");
    const bool server = rest.starts_with("\\\\");
    if (!drive && !home && !server && (rest.size() < 2 || rest[0] != '/' || rest[1] == '/'))
        return 0;
    if (at > 0 && text[at - 1] == ':'
        && (text.substr(0, at).ends_with("http:") || text.substr(0, at).ends_with("https:")))
        return 0;
    std::size_t end = drive ? 3 : 1;
    std::size_t separators = drive || home || server ? 2 : 1;
    for (; end < rest.size() && !endsPath(rest[end]) && !(rest[end] == ':' && end > 1); ++end)
        separators += isSeparator(rest[end]);
    while (end > 1 && (rest[end - 1] == '.' || isSeparator(rest[end - 1])))
        --end;
    return separators >= 2 && end > 2 ? end : 0;
}

/// Visits every text of a JSON value; keys of objects too.
template <typename Change>
Json changed(const Json& json, const Change& change)
{
    if (json.is_string())
        return change(json.get_ref<const std::string&>());
    if (json.is_array()) {
        Json out = Json::array();
        for (const Json& each : json)
            out.push_back(changed(each, change));
        return out;
    }
    if (!json.is_object())
        return json;
    Json out = Json::object();
    for (const auto& [key, value] : json.items())
        out[change(key)] = changed(value, change);
    return out;
}

} // namespace

const char* replacementKindName(Replacement::Kind kind)
{
    constexpr std::array names{"path", "file", "function", "user", "host", "setting", "metadata"};
    return names[static_cast<std::size_t>(kind)];
}

bool mentions(std::string_view text, std::string_view secret)
{
    if (secret.empty())
        return false;
    for (std::size_t at = text.find(secret); at != std::string_view::npos; at = text.find(secret, at + 1))
        if (standsAlone(text, at, secret))
            return true;
    return false;
}

/// The longest secret that stands at a position. Secrets are sorted, so all that the text begins with are
/// the last one before it or shorter ones of the same beginning.
const Redactor::Secret* Redactor::at(std::string_view text, std::size_t position) const
{
    const std::string_view rest = text.substr(position);
    const auto behind = std::upper_bound(m_secrets.begin(), m_secrets.end(), rest,
        [](std::string_view r, const Secret& secret) { return r < secret.before; });
    if (behind == m_secrets.begin())
        return nullptr;
    for (auto i = static_cast<std::uint32_t>(behind - m_secrets.begin() - 1); i != noSecret;
         i = m_secrets[i].shorter) {
        const Secret& secret = m_secrets[i];
        if (rest.starts_with(secret.before)
            && (goesAnywhere(secret.before, secret.kind) || standsAlone(text, position, secret.before)))
            return &secret;
    }
    return nullptr;
}

/// A long name is shown shortened, "begin…end", to whatever length there was room for.
const Redactor::Secret* Redactor::cutAt(
    std::string_view text, std::size_t position, std::size_t& length) const
{
    if (position > 0 && isWordChar(text[position - 1]))
        return nullptr;
    std::size_t end = position;
    while (end < text.size() && isWordChar(text[end]))
        ++end;
    if (end - position < 6 || !text.substr(end).starts_with(ellipsis))
        return nullptr;
    const std::string_view begin = text.substr(position, end - position);
    const auto found = std::lower_bound(m_secrets.begin(), m_secrets.end(), begin,
        [](const Secret& secret, std::string_view b) { return std::string_view(secret.before) < b; });
    if (found == m_secrets.end() || !found->before.starts_with(begin))
        return nullptr;
    end += ellipsis.size();
    while (end < text.size() && isWordChar(text[end]))
        ++end;
    length = end - position;
    return &*found;
}

std::string Redactor::text(std::string_view text) const
{
    if (!active())
        return std::string(text);
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        const bool first = !m_first.empty() && m_first[static_cast<unsigned char>(text[i])] != 0;
        if (first) {
            if (const Secret* secret = at(text, i)) {
                out += secret->after;
                i += secret->before.size();
                continue;
            }
            std::size_t length = 0;
            if (const Secret* secret = cutAt(text, i, length)) {
                out += secret->after;
                i += length;
                continue;
            }
        }
        if (m_redaction.paths != Redaction::Paths::Keep
            && (isSeparator(text[i]) || text[i] == '~' || isLetter(text[i])))
            if (const std::size_t length = pathLength(text, i)) {
                out += path(text.substr(i, length));
                i += length;
                continue;
            }
        out.push_back(text[i++]);
    }
    return out;
}

std::string Redactor::path(std::string_view path) const
{
    if (m_redaction.paths == Redaction::Paths::Keep)
        return text(path);
    while (path.size() > 1 && isSeparator(path.back()))
        path.remove_suffix(1);
    const std::string_view base = baseName(path);
    const std::string_view parent
        = baseName(path.substr(0, path.size() - base.size() - (base.size() < path.size())));
    if (parent == "home" || parent == "Users")
        return "~";
    return text(base);
}

std::string Redactor::setting(std::string_view key, std::string_view value) const
{
    if (!m_redaction.identities || isPublicSetting(key) || isPublicValue(value))
        return text(value);
    return hiddenText;
}

std::string Redactor::json(const std::string& text) const
{
    if (!active())
        return text;
    const Json parsed = Json::parse(text, nullptr, false);
    if (parsed.is_discarded())
        return "null";
    return changed(parsed, [this](const std::string& each) {
        return this->text(each);
    }).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Redactor::svg(std::string_view svg) const
{
    if (!active())
        return std::string(svg);
    std::string out;
    std::size_t from = 0;
    while (from < svg.size()) {
        const std::size_t tag = std::min(svg.find('<', from), svg.size());
        out += escapeHtml(text(unescapeHtml(svg.substr(from, tag - from))));
        const std::size_t end = svg.find('>', tag);
        const std::size_t next = end == std::string_view::npos ? svg.size() : end + 1;
        out += svg.substr(tag, next - tag);
        from = next;
    }
    return out;
}

std::vector<Replacement> Redactor::replacements() const
{
    std::vector<Replacement> out;
    for (const Secret& secret : m_secrets)
        out.push_back({secret.kind, secret.before, secret.after});
    std::stable_sort(
        out.begin(), out.end(), [](const Replacement& a, const Replacement& b) { return a.kind < b.kind; });
    return out;
}

std::vector<std::string> redactedStrings(const RedactionInput& input, const Redaction& redaction)
{
    std::vector<std::string> out;
    for (const Replacement& each : Redactor::build(input, redaction).replacements())
        out.push_back(each.before);
    return out;
}

} // namespace tidemark::report
