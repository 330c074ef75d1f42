// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/playbook/run_config.hpp"

#include "model/core/allocator_conf.hpp"
#include "model/core/text.hpp"
#include "model/playbook/config_text.hpp"
#include "model/playbook/config_tree.hpp"
#include "model/playbook/flat_names.hpp"
#include "model/playbook/identities.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>

namespace tidemark {

namespace {

constexpr std::string_view nested = "model.transformer.";

/// The key under which a setting is kept: transformer keys have one place.
std::string plainKey(std::string_view key)
{
    if (key.starts_with(nested) && key.substr(nested.size()).find('_') != 0)
        return "model." + std::string(key.substr(nested.size()));
    return std::string(key);
}

/// Variables that say something of memory. Others are not kept: an environment holds secrets.
bool isKeptVariable(std::string_view name)
{
    for (const std::string_view prefix :
        {"PYTORCH_", "TORCH_", "NCCL_", "CUDA_", "NVTE_", "SLURM_JOB_NUM_NODES", "SLURM_NNODES",
            "SLURM_NTASKS", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"})
        if (name.starts_with(prefix))
            return true;
    return false;
}

Error nameError(ErrorCode code, std::string_view fileName, std::string_view what)
{
    return {code, displayText(fileName, 120) + " " + std::string(what), std::nullopt};
}

template <typename Values>
void keep(const Identities& named, Values& values)
{
    for (const std::string& user : named.users)
        values.try_emplace(identityKey(false, user), true);
    for (const std::string& host : named.hosts)
        values.try_emplace(identityKey(true, host), true);
}

std::optional<double> asReal(const ConfigValue& value)
{
    if (const auto* real = std::get_if<double>(&value))
        return std::isfinite(*real) ? std::optional(*real) : std::nullopt;
    if (const auto* whole = std::get_if<std::int64_t>(&value))
        return static_cast<double>(*whole);
    return std::nullopt;
}

} // namespace

Result<void> RunConfig::add(std::string_view text, std::string_view fileName)
{
    if (text.starts_with("\xef\xbb\xbf"))
        text.remove_prefix(3);
    const ConfigForm form = configForm(text, fileName);
    Result<void> result;
    switch (form) {
    case ConfigForm::Empty:
        result = nameError(ErrorCode::Empty, fileName, "is empty.");
        break;
    case ConfigForm::Binary:
        result = nameError(ErrorCode::Malformed, fileName,
            "is not a text: give run_config.yaml, a dump of the arguments, a JSON, or the output of env.");
        break;
    case ConfigForm::TooLarge:
        result = nameError(ErrorCode::TooLarge, fileName, "is far larger than a run's settings can be.");
        break;
    case ConfigForm::Environment:
        result = addEnvironment(text);
        break;
    case ConfigForm::Arguments:
        merge(printedArguments(text));
        break;
    case ConfigForm::Json:
    case ConfigForm::Yaml:
        result = addTree(text, fileName, form == ConfigForm::Json);
        break;
    }
    if (result)
        m_files.emplace_back(fileName);
    return result;
}

Result<void> RunConfig::addTree(std::string_view text, std::string_view fileName, bool json)
{
    auto tree = json ? parseJsonConfig(text, fileName) : parseYamlConfig(text, fileName);
    if (!tree)
        return tree.error();
    const ConfigTree::Node& root = tree->nodes[tree->root];
    if (root.kind != ConfigTree::Kind::Map)
        return nameError(ErrorCode::Malformed, fileName, "holds no settings by name.");
    // "optimizer: adam" is an argument; "optimizer:" with settings below is a section.
    const bool flat = std::none_of(root.items.begin(), root.items.end(), [&tree](const auto& item) {
        const auto dot = item.first.find('.');
        return isConfigSection(item.first.substr(0, dot))
            && (dot != std::string::npos || tree->nodes[item.second].kind == ConfigTree::Kind::Map);
    });
    auto settings = flattenConfig(*tree, fileName);
    if (!settings)
        return settings.error();
    if (flat) {
        std::vector<std::pair<std::string, ConfigValue>> dotted;
        for (auto& [name, value] : *settings)
            for (std::string& key : dottedKeys(name))
                dotted.emplace_back(std::move(key), value);
        merge(std::move(dotted));
    } else {
        merge(std::move(*settings));
    }
    return {};
}

Result<void> RunConfig::addEnvironment(std::string_view text)
{
    Identities named;
    for (auto& [name, value] : environmentLines(text)) {
        addIdentities(name, value, named);
        if (isKeptVariable(name))
            m_values.try_emplace("env." + name, std::move(value));
    }
    keep(named, m_values);
    m_environmentKnown = true;
    return {};
}

void RunConfig::merge(std::vector<std::pair<std::string, ConfigValue>> settings)
{
    // Directly below model first: where a file has a key in both places, that one counts.
    std::stable_partition(
        settings.begin(), settings.end(), [](const auto& s) { return !s.first.starts_with(nested); });
    Identities named;
    for (auto& [key, value] : settings) {
        const std::string plain = plainKey(key);
        const bool variable = plain.starts_with("env.") || plain.starts_with("env_vars.");
        if (variable)
            addIdentities(plain.substr(plain.find('.') + 1), configText(value), named);
        if (!variable || isKeptVariable(plain.substr(plain.find('.') + 1)))
            m_values.try_emplace(plain, variable ? ConfigValue(configText(value)) : std::move(value));
    }
    keep(named, m_values);
}

Result<void> RunConfig::addFile(const std::filesystem::path& path)
{
    std::error_code error;
    const std::string name = path.filename().string();
    if (!std::filesystem::exists(path, error))
        return nameError(ErrorCode::NotFound, path.string(), "does not exist.");
    if (!std::filesystem::is_regular_file(path, error))
        return nameError(ErrorCode::Io, path.string(), "is not a file.");
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (error || size > maxLogBytes)
        return nameError(ErrorCode::TooLarge, path.string(), "is far larger than a run's settings can be.");
    std::ifstream file(path, std::ios::binary);
    // Files the system makes up on the spot say they are empty.
    std::string text(static_cast<std::size_t>(std::max<std::uintmax_t>(size, 1U << 20)) + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (file.bad() || (file.gcount() == 0 && !file.eof()))
        return nameError(ErrorCode::Io, path.string(), "cannot be read.");
    text.resize(static_cast<std::size_t>(file.gcount()));
    return add(text, name);
}

void RunConfig::addSnapshot(const Snapshot& snapshot)
{
    for (const Setting& setting : snapshot.settings)
        std::visit([&](const auto& value) { m_values["allocator." + setting.key] = ConfigValue(value); },
            setting.value);
    if (m_values.contains("allocator.expandable_segments"))
        return;
    bool any = false;
    bool expandable = false;
    for (const DeviceTrace& device : snapshot.devices)
        for (const Segment& segment : device.segments) {
            any = any || device.ordinal >= 0;
            expandable = expandable || segment.expandable;
        }
    if (any)
        m_values["allocator.segments_expandable"] = expandable;
}

void RunConfig::set(std::string key, ConfigValue value)
{
    m_values[plainKey(key)] = std::move(value);
}

const ConfigValue* RunConfig::find(std::string_view key) const
{
    const auto it = key.starts_with(nested) ? m_values.find(plainKey(key)) : m_values.find(key);
    return it == m_values.end() ? nullptr : &it->second;
}

std::optional<bool> RunConfig::flag(std::string_view key) const
{
    const ConfigValue* value = find(key);
    if (!value)
        return std::nullopt;
    if (const auto* flag = std::get_if<bool>(value))
        return *flag;
    if (const auto* whole = std::get_if<std::int64_t>(value))
        return *whole != 0;
    if (const auto* text = std::get_if<std::string>(value)) {
        const ConfigValue word = plainConfigValue(*text);
        if (const auto* flag = std::get_if<bool>(&word))
            return *flag;
    }
    return std::nullopt;
}

std::optional<std::int64_t> RunConfig::number(std::string_view key) const
{
    const ConfigValue* value = find(key);
    if (!value)
        return std::nullopt;
    if (const auto* whole = std::get_if<std::int64_t>(value))
        return *whole;
    if (const auto* real = std::get_if<double>(value))
        return std::nearbyint(*real) == *real && std::abs(*real) < 9e15
            ? std::optional(static_cast<std::int64_t>(*real))
            : std::nullopt;
    if (const auto* text = std::get_if<std::string>(value)) {
        const ConfigValue word = plainConfigValue(*text);
        if (const auto* whole = std::get_if<std::int64_t>(&word))
            return *whole;
    }
    return std::nullopt;
}

std::optional<double> RunConfig::real(std::string_view key) const
{
    const ConfigValue* value = find(key);
    if (!value)
        return std::nullopt;
    if (const auto* text = std::get_if<std::string>(value))
        return asReal(plainConfigValue(*text));
    return asReal(*value);
}

std::optional<std::string> RunConfig::text(std::string_view key) const
{
    const ConfigValue* value = find(key);
    if (!value || std::holds_alternative<std::monostate>(*value)
        || std::holds_alternative<std::vector<std::string>>(*value))
        return std::nullopt;
    return configText(*value);
}

std::optional<std::vector<std::string>> RunConfig::list(std::string_view key) const
{
    const ConfigValue* value = find(key);
    if (!value)
        return std::nullopt;
    if (const auto* list = std::get_if<std::vector<std::string>>(value))
        return *list;
    if (std::holds_alternative<std::monostate>(*value))
        return std::vector<std::string>();
    return listOfWords(configText(*value));
}

std::optional<std::string> RunConfig::environment(std::string_view name) const
{
    const ConfigValue* value = find("env." + std::string(name));
    if (!value)
        value = find("env_vars." + std::string(name));
    if (value)
        return std::holds_alternative<std::monostate>(*value) ? std::string() : configText(*value);
    return m_environmentKnown ? std::optional<std::string>(std::string()) : std::nullopt;
}

std::optional<bool> RunConfig::expandableSegments() const
{
    for (const char* key : {"allocator.expandable_segments", "allocator.segments_expandable"})
        if (const auto on = flag(key))
            return on;
    const auto old = environment("PYTORCH_CUDA_ALLOC_CONF");
    const auto renamed = environment("PYTORCH_ALLOC_CONF");
    if ((old && turnsOnExpandableSegments(*old)) || (renamed && turnsOnExpandableSegments(*renamed)))
        return true;
    return old && renamed ? std::optional(false) : std::nullopt;
}

bool RunConfig::isCompleteDump() const
{
    return text("_target_").value_or("").ends_with("ConfigContainer");
}

std::string configText(const ConfigValue& value)
{
    struct Writer {
        std::string operator()(std::monostate) const { return "none"; }
        std::string operator()(bool flag) const { return flag ? "true" : "false"; }
        std::string operator()(std::int64_t whole) const { return std::to_string(whole); }
        std::string operator()(double real) const
        {
            char buffer[32];
            const auto end = std::to_chars(buffer, buffer + sizeof buffer, real).ptr;
            return {buffer, end};
        }
        std::string operator()(const std::string& text) const { return text; }
        std::string operator()(const std::vector<std::string>& list) const
        {
            std::string text = "[";
            for (const std::string& each : list)
                text += (text.size() > 1 ? ", " : "") + each;
            return text + "]";
        }
    };
    return std::visit(Writer(), value);
}

namespace {

constexpr std::array configNames{"run_config.yaml", "run_config.yml", "run_config.json", "run.json",
    "run.yaml", "args.yaml", "args.yml", "args.json", "args.txt", "arguments.txt", "env.txt", "env.log",
    "environment.txt", "env"};

} // namespace

bool isConfigFile(const std::filesystem::path& file)
{
    return std::find(configNames.begin(), configNames.end(), file.filename()) != configNames.end();
}

std::vector<std::filesystem::path> configFilesBeside(const std::filesystem::path& snapshotOrFolder)
{
    std::error_code error;
    const bool folder = std::filesystem::is_directory(snapshotOrFolder, error);
    std::filesystem::path where = folder ? snapshotOrFolder : snapshotOrFolder.parent_path();
    if (where.empty())
        where = ".";
    std::vector<std::filesystem::path> found;
    for (const char* name : configNames)
        if (std::filesystem::is_regular_file(where / name, error))
            found.push_back(where / name);
    return found;
}

} // namespace tidemark
