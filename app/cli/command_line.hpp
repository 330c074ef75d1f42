// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/formats/reader.hpp"

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark {

/// Exit status of every command, as scripts rely on it.
namespace exitStatus {
inline constexpr int done = 0;
inline constexpr int limitPassed = 1;
inline constexpr int wrongUsage = 2;
inline constexpr int nothingRead = 3;
inline constexpr int someNotRead = 4;
} // namespace exitStatus

/// What the window is asked to open when no sub-command is given.
struct WindowRequest {
    std::vector<std::filesystem::path> paths;
    ReadOptions options;
    /// --compare: the second path stands beside the first.
    bool compare = false;
    /// --no-cache: opened files are neither looked for in the cache nor kept.
    bool noCache = false;
    /// --rules: label rules in force for this window; the settings keep theirs.
    std::optional<std::filesystem::path> rules;
};

/// Runs the sub-command of the arguments, without a display, and returns its exit status; nothing when the
/// window is wanted: then `request`, if given, says what to open. Results go to `out`, errors (one line each)
/// to `err`. Arguments Qt understands (-platform and the like) are let through.
std::optional<int> runCommandLine(
    std::span<const char* const> arguments, std::ostream& out, std::ostream& err, WindowRequest* request);
/// The same on standard output and standard error.
std::optional<int> runCommandLine(int argc, char** argv, WindowRequest* request = nullptr);

} // namespace tidemark
