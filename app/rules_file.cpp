// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/rules_file.hpp"

#include "model/core/text.hpp"
#include "model/playbook/config_tree.hpp"

#include <QRegularExpression>
#include <QString>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <mutex>
#include <utility>

namespace tidemark {

namespace {

/// Steps that one match may take, and how many matches may want more before the expression is given up.
constexpr const char* matchLimits = "(*LIMIT_MATCH=100000)(*LIMIT_DEPTH=10000)";
constexpr int mostTooLong = 20;

std::mutex slowMutex;
std::vector<std::string> slowExpressions;

/// `told`, where given, is put among the slow expressions with the first match that takes too long.
Result<TextPredicate> bounded(const std::string& pattern, const std::string& told)
{
    const QRegularExpression regex(QLatin1String(matchLimits) + QString::fromStdString(pattern),
        QRegularExpression::CaseInsensitiveOption);
    if (!regex.isValid())
        return Error{ErrorCode::Usage, "the expression is not complete: " + regex.errorString().toStdString(),
            std::nullopt};
    return TextPredicate([regex, told, tooLong = std::make_shared<std::atomic<int>>(0)](
                             std::string_view text) {
        if (*tooLong >= mostTooLong)
            return false;
        const auto match = regex.match(QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())));
        if (!match.isValid() && (*tooLong)++ == 0 && !told.empty()) {
            const std::lock_guard lock(slowMutex);
            slowExpressions.push_back(told);
        }
        return match.hasMatch();
    });
}

constexpr const char* blanks = " \t\r\n\xef\xbb\xbf";

/// Nothing but blanks and YAML's remarks.
bool onlyRemarks(std::string_view text)
{
    for (std::size_t first = text.find_first_not_of(blanks); first != std::string_view::npos;
         first = text.find_first_not_of(blanks)) {
        if (text[first] != '#')
            return false;
        text.remove_prefix(std::min(text.find('\n', first), text.size()));
    }
    return true;
}

} // namespace

Result<TextPredicate> makeRegex(const std::string& pattern)
{
    return bounded(pattern, {});
}

std::vector<std::string> takeSlowExpressions()
{
    const std::lock_guard lock(slowMutex);
    return std::exchange(slowExpressions, {});
}

Result<std::shared_ptr<const LabelRules>> readLabelRules(const std::filesystem::path& path)
{
    const std::string name = "label rules " + displayText(path.string());
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (error || size > maxConfigBytes)
        return Error{error ? ErrorCode::NotFound : ErrorCode::TooLarge,
            name + (error ? ": there is no such file" : ": more than 4 MiB are no label rules"),
            std::nullopt};
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file)
        return Error{ErrorCode::Io, name + ": cannot be read", std::nullopt};
    if (onlyRemarks(text))
        return Error{
            ErrorCode::Malformed, name + ": the file is empty, it needs a list \"rules\"", std::nullopt};
    const std::size_t first = text.find_first_not_of(blanks);
    if (text[first] != '{' && text[first] != '[' && text[first] != '/') {
        Result<ConfigTree> tree = parseYamlConfig(text, path.string());
        if (!tree)
            return tree.error();
        Result<std::string> json = jsonOfConfig(*tree, path.string());
        if (!json)
            return json.error();
        text = std::move(*json);
    }
    return LabelRules::withUser(text, path.string(), [&name](const std::string& pattern) {
        return bounded(pattern,
            name + ": the expression " + displayText(pattern, 60)
                + " takes too long on frames of this file, so its rule may miss some");
    });
}

} // namespace tidemark
