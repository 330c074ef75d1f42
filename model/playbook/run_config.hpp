// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/result.hpp"
#include "model/snapshot/snapshot.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tidemark {

/// A setting's value. monostate: the file says null ("none"), which is not the same as not saying anything.
using ConfigValue
    = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::string>>;

/// What is known of a run's configuration, by dotted key ("model.tensor_model_parallel_size",
/// "env.PYTORCH_CUDA_ALLOC_CONF", "versions.torch"). Transformer keys that Megatron Bridge nests below
/// model.transformer are found under model too. Absent means unknown, never a default.
class RunConfig {
public:
    /// Reads run_config.yaml of Megatron Bridge, a Megatron-LM argument dump, a JSON with the same keys, or
    /// the text of `env`, told apart by content. Later files do not overwrite what is there. The error is one
    /// sentence with file and line.
    Result<void> add(std::string_view text, std::string_view fileName);
    Result<void> addFile(const std::filesystem::path& path);
    /// What the snapshot itself states of the allocator: wins over env text.
    void addSnapshot(const Snapshot& snapshot);
    void set(std::string key, ConfigValue value);

    bool empty() const { return m_values.empty(); }
    const ConfigValue* find(std::string_view key) const;
    std::optional<bool> flag(std::string_view key) const;
    std::optional<std::int64_t> number(std::string_view key) const;
    std::optional<double> real(std::string_view key) const;
    std::optional<std::string> text(std::string_view key) const;
    std::optional<std::vector<std::string>> list(std::string_view key) const;
    /// Whether expandable segments were on: the snapshot's word, else that of the environment.
    std::optional<bool> expandableSegments() const;
    /// An environment variable: "" when the process had none of that name, absent when its environment is not
    /// known. What the settings file sets (env_vars) counts only where the process had nothing.
    std::optional<std::string> environment(std::string_view name) const;
    /// The settings are a whole dump of Megatron Bridge, not a few keys.
    bool isCompleteDump() const;
    const std::map<std::string, ConfigValue, std::less<>>& values() const { return m_values; }
    /// Files it came from, as given.
    const std::vector<std::string>& files() const { return m_files; }

private:
    void merge(std::vector<std::pair<std::string, ConfigValue>> settings);
    Result<void> addEnvironment(std::string_view text);
    Result<void> addTree(std::string_view text, std::string_view fileName, bool json);

    std::map<std::string, ConfigValue, std::less<>> m_values;
    bool m_environmentKnown = false;
    std::vector<std::string> m_files;
};

std::string configText(const ConfigValue& value);

/// run_config.yaml, run.json, env.txt and the like that lie beside a snapshot or in its folder.
std::vector<std::filesystem::path> configFilesBeside(const std::filesystem::path& snapshotOrFolder);
/// A file name that configFilesBeside looks for.
bool isConfigFile(const std::filesystem::path& file);

} // namespace tidemark
