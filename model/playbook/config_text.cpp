// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/playbook/config_text.hpp"

#include "model/core/text.hpp"
#include "model/playbook/config_tree.hpp"
#include "model/playbook/flat_names.hpp"

#include <algorithm>

namespace tidemark {

namespace {

/// Lines looked at to tell the form: a log prints its arguments early.
constexpr std::size_t maxSniffedLines = 200000;

std::string_view trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string_view takeLine(std::string_view& rest)
{
    const auto end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    return line;
}

bool isNameCharacter(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (!first && c >= '0' && c <= '9');
}

/// Length of the identifier a text starts with; dashes count where `dashes` says so.
std::size_t nameLength(std::string_view text, bool dashes)
{
    std::size_t n = 0;
    while (n < text.size() && (isNameCharacter(text[n], n == 0) || (dashes && text[n] == '-')))
        ++n;
    return n;
}

std::optional<std::pair<std::string_view, std::string_view>> variableLine(std::string_view line)
{
    line = trimmed(line);
    for (const std::string_view word : {"export ", "declare -x ", "typeset -x "})
        if (line.starts_with(word))
            line = trimmed(line.substr(word.size()));
    const std::size_t n = nameLength(line, false);
    if (n == 0 || n >= line.size() || line[n] != '=')
        return std::nullopt;
    return std::pair(line.substr(0, n), line.substr(n + 1));
}

/// "[default0]:  name ....... value", with or without what a launcher puts in front.
std::optional<std::pair<std::string_view, std::string_view>> argumentLine(std::string_view line)
{
    const auto dots = line.find(" ..");
    if (dots == std::string_view::npos)
        return std::nullopt;
    const std::string_view before = trimmed(line.substr(0, dots));
    const auto blank = before.find_last_of(" \t:]");
    const std::string_view name = blank == std::string_view::npos ? before : before.substr(blank + 1);
    if (name.empty() || nameLength(name, true) != name.size())
        return std::nullopt;
    const auto value = line.find_first_not_of('.', dots + 1);
    if (value == std::string_view::npos || line[value] != ' ')
        return std::nullopt;
    return std::pair(name, trimmed(line.substr(value)));
}

std::string unquoted(std::string_view value)
{
    value = trimmed(value);
    if (value.starts_with("$'"))
        value.remove_prefix(1);
    if (value.size() < 2 || (value.front() != '"' && value.front() != '\'') || value.back() != value.front())
        return std::string(value);
    const bool escapes = value.front() == '"';
    std::string text;
    value = value.substr(1, value.size() - 2);
    for (std::size_t i = 0; i < value.size(); ++i) {
        if (escapes && value[i] == '\\' && i + 1 < value.size())
            ++i;
        text += value[i];
    }
    return text;
}

/// A printed Python value: a list in brackets, an enumeration's repr, or a plain word.
ConfigValue printedValue(std::string_view text)
{
    if (text.starts_with('[') || text.starts_with('('))
        return listOfWords(text);
    if (text.size() >= 2 && (text.front() == '\'' || text.front() == '"') && text.back() == text.front())
        return std::string(text.substr(1, text.size() - 2));
    return plainConfigValue(text);
}

} // namespace

ConfigForm configForm(std::string_view text, std::string_view fileName)
{
    if (text.size() > maxLogBytes)
        return ConfigForm::TooLarge;
    const std::string_view all = trimmed(text);
    if (all.empty())
        return baseName(fileName).starts_with("env") ? ConfigForm::Environment : ConfigForm::Empty;
    if (text.find('\0') != std::string_view::npos)
        return ConfigForm::Binary;
    std::size_t variables = 0;
    std::size_t others = 0;
    std::string_view rest = text;
    for (std::size_t lines = 0; !rest.empty() && lines < maxSniffedLines; ++lines) {
        const std::string_view line = takeLine(rest);
        const std::string_view bare = trimmed(line);
        if (bare.empty() || bare.starts_with('#'))
            continue;
        if (argumentLine(line))
            return ConfigForm::Arguments;
        // A variable may have lines of its own that look like anything: the first one decides.
        variableLine(line) && others == 0 ? ++variables : ++others;
    }
    if (variables > 0)
        return ConfigForm::Environment;
    if (!isValidUtf8(text))
        return ConfigForm::Binary;
    if (text.size() > maxConfigBytes)
        return ConfigForm::TooLarge;
    return all.starts_with('{') ? ConfigForm::Json : ConfigForm::Yaml;
}

std::vector<std::pair<std::string, std::string>> environmentLines(std::string_view text)
{
    std::vector<std::pair<std::string, std::string>> variables;
    while (!text.empty())
        if (const auto variable = variableLine(takeLine(text)))
            variables.emplace_back(
                std::string(variable->first), displayText(unquoted(variable->second.substr(0, 65536))));
    return variables;
}

std::vector<std::pair<std::string, ConfigValue>> printedArguments(std::string_view text)
{
    std::vector<std::pair<std::string, ConfigValue>> arguments;
    while (!text.empty() && arguments.size() < maxConfigNodes)
        if (const auto line = argumentLine(takeLine(text))) {
            const ConfigValue value = printedValue(line->second.substr(0, maxConfigScalar));
            for (std::string& key : dottedKeys(line->first.substr(0, maxConfigKey)))
                arguments.emplace_back(std::move(key), value);
        }
    return arguments;
}

std::vector<std::string> listOfWords(std::string_view text)
{
    text = trimmed(text);
    if (text.size() >= 2 && (text.front() == '[' || text.front() == '('))
        text = text.substr(1, text.size() - 2);
    std::vector<std::string> words;
    while (!text.empty()) {
        const auto comma = text.find(',');
        std::string_view word = trimmed(text.substr(0, comma));
        if (word.size() >= 2 && (word.front() == '\'' || word.front() == '"') && word.back() == word.front())
            word = word.substr(1, word.size() - 2);
        if (!word.empty())
            words.emplace_back(word);
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
    return words;
}

} // namespace tidemark
