// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/rules_file.hpp"

#include "model/core/text.hpp"
#include "model/playbook/config_tree.hpp"

#include <QRegularExpression>
#include <QString>

#include <fstream>
#include <iterator>

namespace tidemark {

Result<TextPredicate> makeRegex(const std::string& pattern)
{
    const QRegularExpression regex(
        QString::fromStdString(pattern), QRegularExpression::CaseInsensitiveOption);
    if (!regex.isValid())
        return Error{ErrorCode::Usage, "the expression is not complete: " + regex.errorString().toStdString(),
            std::nullopt};
    return TextPredicate([regex](std::string_view text) {
        return regex.match(QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()))).hasMatch();
    });
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
    const std::size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
    if (first != std::string::npos && text[first] != '{' && text[first] != '[' && text[first] != '/') {
        Result<ConfigTree> tree = parseYamlConfig(text, path.string());
        if (!tree)
            return tree.error();
        Result<std::string> json = jsonOfConfig(*tree, path.string());
        if (!json)
            return json.error();
        text = std::move(*json);
    }
    return LabelRules::withUser(text, path.string(), makeRegex);
}

} // namespace tidemark
