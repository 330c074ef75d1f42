// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command_line.hpp"
#include "model/core/result.hpp"
#include "model/formats/reader.hpp"
#include "model/lens/label_rules.hpp"
#include "model/playbook/run_config.hpp"

#include <iosfwd>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// One option of a command. Options with a value take it as the next argument or after "=".
struct CommandOption {
    const char* name; ///< "--top"
    const char* value; ///< "K"; null for a flag
    const char* does;
    bool repeated = false; ///< may be given more than once
};

/// What a command was called with, checked against its options.
class Arguments {
public:
    /// `arguments` without the program's and the command's name. Errors are ErrorCode::Usage.
    static Result<Arguments> parse(
        std::span<const char* const> arguments, std::span<const CommandOption> options);

    const std::vector<std::filesystem::path>& paths() const { return m_paths; }
    bool has(std::string_view option) const { return m_values.count(std::string(option)) != 0; }
    /// Value of an option, absent when it was not given.
    std::optional<std::string> value(std::string_view option) const;
    /// All values of an option that may be repeated, in the order given.
    std::vector<std::string> values(std::string_view option) const;
    /// Whole number of an option; a usage error when it is something else.
    Result<std::optional<std::int64_t>> number(std::string_view option) const;
    /// --partial; --events is kept apart, see eventRange.
    ReadOptions readOptions() const;
    /// --events FIRST:LAST, both included; FIRST or LAST may be left out.
    Result<std::optional<std::pair<std::uint64_t, std::uint64_t>>> eventRange() const;
    /// The built-in label rules, with those of --rules FILE in front.
    Result<std::shared_ptr<const LabelRules>> labelRules() const;

private:
    std::vector<std::filesystem::path> m_paths;
    std::map<std::string, std::vector<std::string>> m_values;
};

struct CommandStreams {
    std::ostream& out;
    std::ostream& err;
};

/// A sub-command. To add one: one file in this folder that defines it, one line in commands().
struct Command {
    const char* name;
    /// What follows the name: "PATH… [--json]".
    const char* synopsis;
    const char* does;
    std::span<const CommandOption> options;
    int (*run)(const Arguments&, CommandStreams&);
};
std::span<const Command* const> commands();

/// Options every command that reads a file takes.
inline constexpr CommandOption partialOption{
    "--partial", nullptr, "read what can be read of a truncated or damaged file; the result is flagged"};
inline constexpr CommandOption eventsOption{
    "--events", "FIRST:LAST", "only these events, both included; totals before and at them stay right"};
inline constexpr CommandOption rulesOption{
    "--rules", "FILE", "own label rules (JSON or YAML), tried before the built-in ones"};
inline constexpr CommandOption configOption{
    "--config", "FILE", "the run's configuration (run_config.yaml, run.json, an argument dump)"};
inline constexpr CommandOption envOption{"--env", "FILE", "the run's environment, as `env` prints it"};
inline constexpr CommandOption jsonOption{"--json", nullptr, "for programs: JSON, bytes and microseconds"};

/// Reads the files of --config and --env; one that cannot be read is said and gives its exit status.
std::optional<int> readConfig(const Arguments& arguments, CommandStreams& streams, RunConfig& config);
/// The given settings and those beside a file. What lies there may be anything: one that cannot be read is
/// told, and the others count.
RunConfig configFor(RunConfig given, const std::filesystem::path& file, std::ostream& warnings);

struct Rank;
/// Position of the device with this ordinal, the main one without; a usage error when the file has none such.
Result<std::size_t> chosenDevice(const Rank& rank, std::optional<std::int64_t> ordinal);

/// Writes "tidemark: …" and the error on one line.
void printError(std::ostream& err, std::string_view about, const Error& error);
/// Says a usage error and returns its exit status.
int usageError(CommandStreams& streams, const std::string& message);

/// Warns on standard error when only a part of a file was read.
void warnIfPartial(CommandStreams& streams, std::string_view path, const Snapshot& snapshot);

/// What is wrong with --events FIRST:LAST for a trace of `count` events; absent when it holds some of them.
std::optional<std::string> eventsBeyond(
    const std::optional<std::pair<std::uint64_t, std::uint64_t>>& events, std::uint64_t count);
/// Warns on standard error when no trace of a file has the first of the wished events.
void warnIfBeyond(CommandStreams& streams, std::string_view path, const Rank& rank,
    const std::optional<std::pair<std::uint64_t, std::uint64_t>>& events);

/// A job whose progress goes to standard error when that is a terminal and the work takes long.
Job terminalJob();

} // namespace tidemark
