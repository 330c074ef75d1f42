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
    /// --partial and --events, which parse() has checked.
    ReadOptions readOptions() const;
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
inline constexpr CommandOption eventsOption{"--events", "FIRST:LAST",
    "open only these events, both included; :N the first ones up to N, -N: the last N"};
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
struct Replay;
/// Position of the device with this ordinal, the main one without; a usage error when the file has none such.
Result<std::size_t> chosenDevice(const Rank& rank, std::optional<std::int64_t> ordinal);

/// Writes "tidemark: …" and the error on one line.
void printError(std::ostream& err, std::string_view about, const Error& error);
/// Says a usage error and returns its exit status.
int usageError(CommandStreams& streams, const std::string& message);

/// Warns on standard error when only a part of a file was read.
void warnIfPartial(CommandStreams& streams, std::string_view path, const Snapshot& snapshot);

/// --events FIRST:LAST, FIRST:, :LAST or -N: (the last N). A usage error for anything else.
Result<ReadOptions> parseEvents(std::string_view text, ReadOptions options = {});
/// What is wrong with --events for a device's trace; absent when the range holds some of its events.
std::optional<std::string> eventsBeyond(const DeviceTrace& device);
/// Warns on standard error when no trace of a file has any of the wished events.
void warnIfBeyond(CommandStreams& streams, std::string_view path, const Rank& rank);
/// The number an event of a device has in the file.
std::uint64_t numberInFile(const Replay& replay, std::uint64_t event);

/// A job whose progress goes to standard error when that is a terminal and the work takes long.
Job terminalJob();

} // namespace tidemark
