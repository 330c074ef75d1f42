// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

/// The cases of the outside test material: folders with files and an expected.json about them.
namespace tidemark::test {

/// Fewer case folders than this, or files in them, mean that the material is not all there.
inline constexpr std::size_t fewestCases = 60;
inline constexpr std::size_t fewestCaseFiles = 150;

/// One file of a case.
struct CaseFile {
    std::filesystem::path folder;
    std::string name;

    std::string caseName() const { return folder.filename().string(); }
    std::filesystem::path path() const { return folder / name; }
    /// "F-14-what/file.pickle".
    std::string id() const { return caseName() + '/' + name; }
};

std::filesystem::path casesFolder();
/// Case folders by name, those that hold an expected.json.
std::vector<std::filesystem::path> caseFolders();
/// All files of all cases whose name begins with `prefix`, by name; not what describes the case.
std::vector<CaseFile> caseFiles(const std::string& prefix = "");
/// The expected.json of a case.
nlohmann::json caseExpectation(const std::filesystem::path& folder);
/// What is expected of one file: the case's own level, overridden for the file; null when nothing is.
nlohmann::json expectedOf(const nlohmann::json& whole, const std::string& file, const char* key);
/// What is said of opening: whether it may go either way, and else which.
bool mayGoEitherWay(const nlohmann::json& whole, const std::string& file);
/// A word in any case; a number as a whole number, thousands separators removed.
bool messageHas(const std::string& message, const nlohmann::json& word);

} // namespace tidemark::test
