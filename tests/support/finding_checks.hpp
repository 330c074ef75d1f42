// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace tidemark {
struct Diagnosis;
}

namespace tidemark::test {

/// Where a report differs from what was expected; `rule` names the finding, data-quality note or check.
struct Difference {
    std::string rule;
    std::string text;
};
/// "[rule] text", a line each.
std::string differencesText(const std::vector<Difference>& differences);

/// Of one file, with the settings given or those that lie beside it. Throws std::runtime_error when a file
/// cannot be read.
std::shared_ptr<const Diagnosis> diagnosed(
    const std::filesystem::path& file, const std::filesystem::path& config = {});
/// `tidemark diagnose --json` of it, made by the engine itself.
nlohmann::json diagnosisOf(const std::filesystem::path& file, const std::filesystem::path& config = {});

/// One entry of `files` of a scenario's expected.json against the report of that file.
std::vector<Difference> scenarioDifferences(const nlohmann::json& report, const nlohmann::json& expected);
/// `config` of a scenario's expected.json against the checks of its folder: `snapshots` are its files.
std::vector<Difference> configDifferences(const std::filesystem::path& folder,
    const std::vector<std::filesystem::path>& snapshots, const nlohmann::json& expected);
/// The whole folder of a scenario: its expected.json against every file and the settings; what is said of the
/// file's truth beside them; and what must hold in every diagnosis.
std::vector<Difference> folderDifferences(const std::filesystem::path& folder);

/// What a case expects of one file (`findings`, `no_findings`, `fixes_must_not_mention`, `config_checks`)
/// against the report of that file.
std::vector<Difference> caseDifferences(const nlohmann::json& report, const nlohmann::json& expected);

} // namespace tidemark::test
