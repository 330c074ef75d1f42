// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/shared_cases.hpp"

#include "tests/support/shared_paths.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <regex>

namespace tidemark::test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

std::string lower(std::string text)
{
    std::ranges::transform(text, text.begin(),
        [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    return text;
}

} // namespace

fs::path casesFolder()
{
    return sharedFolder() / "cases";
}

std::vector<fs::path> caseFolders()
{
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(casesFolder()))
        if (fs::exists(entry.path() / "expected.json"))
            folders.push_back(entry.path());
    std::ranges::sort(folders);
    return folders;
}

std::vector<CaseFile> caseFiles(const std::string& prefix)
{
    std::vector<CaseFile> files;
    for (const fs::path& folder : caseFolders()) {
        if (!folder.filename().string().starts_with(prefix))
            continue;
        const std::size_t first = files.size();
        for (const auto& entry : fs::directory_iterator(folder)) {
            const std::string name = entry.path().filename().string();
            if (name != "expected.json" && name != "run.json")
                files.push_back({folder, name});
        }
        std::ranges::sort(
            files.begin() + static_cast<std::ptrdiff_t>(first), files.end(), {}, &CaseFile::name);
    }
    return files;
}

Json caseExpectation(const fs::path& folder)
{
    std::ifstream file(folder / "expected.json");
    return Json::parse(file);
}

Json expectedOf(const Json& whole, const std::string& file, const char* key)
{
    if (whole.contains("files") && whole["files"].contains(file) && whole["files"][file].contains(key))
        return whole["files"][file][key];
    return whole.value(key, Json());
}

bool mayGoEitherWay(const Json& whole, const std::string& file)
{
    const Json either = expectedOf(whole, file, "either_ok");
    return either.is_boolean() && either.get<bool>();
}

bool messageHas(const std::string& message, const Json& word)
{
    const std::string wanted = lower(word.is_string() ? word.get<std::string>() : word.dump());
    std::string text = lower(message);
    if (wanted.find_first_not_of("0123456789") != std::string::npos)
        return text.find(wanted) != std::string::npos;
    text = std::regex_replace(text, std::regex("([0-9]),(?=[0-9]{3})"), "$1");
    return std::regex_search(text, std::regex("(^|[^0-9])" + wanted + "($|[^0-9])"));
}

} // namespace tidemark::test
