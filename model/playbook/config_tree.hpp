// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/result.hpp"
#include "model/playbook/run_config.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark {

/// A YAML or JSON text as nodes of one table; an alias is a second mention of the same node, so a text can
/// never make more nodes than it has characters.
struct ConfigTree {
    enum class Kind { Scalar, List, Map };
    struct Node {
        Kind kind = Kind::Scalar;
        ConfigValue value; ///< of a scalar
        std::string tag; ///< what YAML says of a class ("python/object/apply:…"), else empty
        std::vector<std::pair<std::string, std::size_t>> items; ///< name and node; lists have empty names
    };
    std::vector<Node> nodes;
    std::size_t root = 0;
};

/// Bounds of a settings text; more is refused with a sentence.
inline constexpr std::size_t maxConfigBytes = 4U << 20;
inline constexpr std::size_t maxConfigDepth = 64;
inline constexpr std::size_t maxConfigNodes = 200000;
inline constexpr std::size_t maxConfigKey = 512;
inline constexpr std::size_t maxConfigScalar = 64U << 10;

/// A number, true/false, null or a text, as Python's YAML reader takes a bare word.
ConfigValue plainConfigValue(std::string_view word);

/// The first document of a YAML text. Errors name the line.
Result<ConfigTree> parseYamlConfig(std::string_view text, std::string_view fileName);
Result<ConfigTree> parseJsonConfig(std::string_view text, std::string_view fileName);

/// Settings by dotted key, in the order of the file. Enumerations and types that are written as calls become
/// their names. Refuses aliases that would unfold to more than a few megabytes.
Result<std::vector<std::pair<std::string, ConfigValue>>> flattenConfig(
    const ConfigTree& tree, std::string_view fileName);

/// The tree as a JSON text, for readers that know JSON only. Refuses as flattenConfig does.
Result<std::string> jsonOfConfig(const ConfigTree& tree, std::string_view fileName);

} // namespace tidemark
