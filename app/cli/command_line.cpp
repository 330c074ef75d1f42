// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command_line.hpp"

#include "app/cli/command.hpp"
#include "app/rules_file.hpp"
#include "app/version.hpp"
#include "model/core/text.hpp"
#include "model/run/rank.hpp"
#include "model/snapshot/outside_range.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <unistd.h>

namespace tidemark {

extern const Command infoCommand;
extern const Command atCommand;
extern const Command diagnoseCommand;
extern const Command compareCommand;
extern const Command reportCommand;
extern const Command renderCommand;
extern const Command simulateCommand;
extern const Command digestCommand;

std::span<const Command* const> commands()
{
    static constexpr std::array all{
        &infoCommand,
        &atCommand,
        &diagnoseCommand,
        &compareCommand,
        &reportCommand,
        &renderCommand,
        &simulateCommand,
        &digestCommand,
    };
    return all;
}

namespace {

constexpr std::array windowOptions{partialOption, eventsOption, rulesOption,
    CommandOption{"--compare", nullptr, "two files: open them side by side"},
    CommandOption{"--no-cache", nullptr, "neither look for opened files in the cache nor keep them there"}};

/// Options of Qt itself, with one dash or two, and whether a value follows.
struct QtOption {
    const char* name;
    bool value;
};
constexpr std::array qtOptions{QtOption{"platform", true}, QtOption{"platformpluginpath", true},
    QtOption{"platformtheme", true}, QtOption{"plugin", true}, QtOption{"style", true},
    QtOption{"stylesheet", true}, QtOption{"display", true}, QtOption{"geometry", true},
    QtOption{"qwindowgeometry", true}, QtOption{"qwindowicon", true}, QtOption{"qwindowtitle", true},
    QtOption{"session", true}, QtOption{"reverse", false}, QtOption{"nograb", false},
    QtOption{"dograb", false}, QtOption{"widgetcount", false}};

std::string padded(std::string text, std::size_t width)
{
    // Counts characters, not bytes: synopses hold "…".
    const auto characters = static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
    text.append(characters < width ? width - characters : 1, ' ');
    return text;
}

void printOptions(std::ostream& out, std::span<const CommandOption> options)
{
    for (const CommandOption& option : options) {
        const std::string name
            = std::string(option.name) + (option.value ? std::string(" ") + option.value : std::string());
        out << "  " << padded(name, 22) << option.does << '\n';
    }
}

void printHelp(std::ostream& out)
{
    out << "tidemark " << versionText() << ": where the GPU memory of a PyTorch run went\n\n"
        << "usage: tidemark [PATH…] [--partial]       open files, or the files of a folder, in the window\n"
        << "       tidemark --compare A B              two runs side by side in the window\n";
    for (const Command* command : commands())
        out << "       " << padded(std::string("tidemark ") + command->name + " " + command->synopsis, 35)
            << "\n           " << command->does << '\n';
    out << "       tidemark COMMAND --help            options of a command\n"
        << "       tidemark --help | --version\n\n"
        << "options\n";
    printOptions(out, windowOptions);
    out << "\nexit status: 0 done, 1 a limit the caller set was passed, 2 wrong usage, 3 nothing could be "
           "read,\n"
        << "4 some inputs could not be read\n";
}

void printHelp(std::ostream& out, const Command& command)
{
    out << "usage: tidemark " << command.name << " " << command.synopsis << "\n\n" << command.does << "\n\n";
    printOptions(out, command.options);
}

/// Copies `arguments` without those meant for Qt.
std::vector<const char*> withoutQtOptions(std::span<const char* const> arguments)
{
    std::vector<const char*> rest;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        std::string_view name = arguments[i];
        const bool dashed = name.starts_with('-');
        name.remove_prefix(name.starts_with("--") ? 2 : dashed);
        const std::size_t equals = name.find('=');
        const auto option = std::find_if(qtOptions.begin(), qtOptions.end(),
            [&](const QtOption& o) { return dashed && name.substr(0, equals) == o.name; });
        if (option == qtOptions.end())
            rest.push_back(arguments[i]);
        else if (option->value && equals == std::string_view::npos)
            ++i;
    }
    return rest;
}

bool looksLikeAWord(std::string_view text)
{
    return !text.empty() && text.front() != '-'
        && std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
}

std::optional<int> askForWindow(
    std::span<const char* const> arguments, CommandStreams& streams, WindowRequest* request)
{
    const std::vector<const char*> own = withoutQtOptions(arguments);
    const Result<Arguments> parsed = Arguments::parse(own, windowOptions);
    if (!parsed)
        return usageError(streams, parsed.error().message);
    if (const auto rules = parsed->labelRules(); !rules)
        return usageError(streams, rules.error().message);
    const auto& paths = parsed->paths();
    if (parsed->has("--compare") && paths.size() != 2)
        return usageError(streams, "--compare needs two files: tidemark --compare A B");
    std::error_code ignored;
    if (!paths.empty() && looksLikeAWord(paths.front().string())
        && !std::filesystem::exists(paths.front(), ignored))
        return usageError(streams,
            "there is neither a command nor a file \"" + displayText(paths.front().string(), 40) + "\"");
    if (request != nullptr) {
        request->paths = paths;
        request->options = parsed->readOptions();
        request->compare = parsed->has("--compare");
        request->noCache = parsed->has("--no-cache");
        if (const auto rules = parsed->value(rulesOption.name))
            request->rules = *rules;
    }
    return std::nullopt;
}

int runCommand(const Command& command, std::span<const char* const> arguments, CommandStreams& streams)
{
    if (std::any_of(arguments.begin(), arguments.end(),
            [](std::string_view a) { return a == "--help" || a == "-h"; })) {
        printHelp(streams.out, command);
        return exitStatus::done;
    }
    const Result<Arguments> parsed = Arguments::parse(arguments, command.options);
    if (!parsed)
        return usageError(streams, parsed.error().message + "; see tidemark " + command.name + " --help");
    const int status = command.run(*parsed, streams);
    for (const std::string& slow : takeSlowExpressions())
        printError(streams.err, "", {ErrorCode::TooLarge, slow + ".", std::nullopt});
    streams.out.flush();
    if (!streams.out) {
        printError(streams.err, "", {ErrorCode::Io, "the output could not be written.", std::nullopt});
        return exitStatus::nothingRead;
    }
    return status;
}

} // namespace

void printError(std::ostream& err, std::string_view about, const Error& error)
{
    err << "tidemark: ";
    if (!about.empty())
        err << displayText(about) << ": ";
    err << displayText(error.message) << '\n';
}

int usageError(CommandStreams& streams, const std::string& message)
{
    std::string text = message;
    if (text.ends_with('.'))
        text.pop_back();
    text += message.ends_with("--help") ? "." : "; see tidemark --help.";
    printError(streams.err, "", {ErrorCode::Usage, text, std::nullopt});
    return exitStatus::wrongUsage;
}

void warnIfPartial(CommandStreams& streams, std::string_view path, const Snapshot& snapshot)
{
    if (!snapshot.source.partial)
        return;
    std::string message = "only a part of the file could be read.";
    for (const QualityNote& note : snapshot.quality)
        if (note.id == Quality::TruncatedFile)
            message = note.sentence;
    printError(streams.err, path, {ErrorCode::Truncated, "warning: " + message, std::nullopt});
}

std::optional<std::string> eventsBeyond(const DeviceTrace& device)
{
    if (!device.outside || device.events.count() > 0 || device.outside->eventsInFile == 0)
        return std::nullopt;
    const std::uint64_t count = device.outside->eventsInFile;
    return "--events begins at " + std::to_string(device.firstEventInFile) + ", but the trace has "
        + std::to_string(count) + (count == 1 ? " event" : " events");
}

void warnIfBeyond(CommandStreams& streams, std::string_view path, const Rank& rank)
{
    std::optional<std::string> wrong;
    for (const auto& replay : rank.devices) {
        if (replay->device().events.count() > 0)
            return;
        if (!wrong)
            wrong = eventsBeyond(replay->device());
    }
    if (wrong)
        printError(streams.err, path, {ErrorCode::Usage, "warning: " + *wrong + '.', std::nullopt});
}

std::uint64_t numberInFile(const Replay& replay, std::uint64_t event)
{
    return event + replay.device().firstEventInFile;
}

Job terminalJob()
{
    Job job;
    if (isatty(STDERR_FILENO) == 0)
        return job;
    using Clock = std::chrono::steady_clock;
    struct Line {
        Clock::time_point next = Clock::now() + std::chrono::seconds(1);
        bool shown = false;
        ~Line()
        {
            if (shown)
                std::fputs("\r\033[K", stderr);
        }
    };
    job.progress = [line = std::make_shared<Line>()](const Progress& progress) {
        if (Clock::now() < line->next)
            return;
        line->next = Clock::now() + std::chrono::milliseconds(200);
        line->shown = true;
        const char* stage = progress.stage == Stage::Replay ? "replaying"
            : progress.stage == Stage::Findings             ? "diagnosing"
                                                            : "reading";
        if (progress.total > 0)
            std::fprintf(stderr, "\r\033[K%s %.0f %%", stage,
                100.0 * static_cast<double>(progress.done) / static_cast<double>(progress.total));
        else
            std::fprintf(
                stderr, "\r\033[K%s %.0f MiB", stage, static_cast<double>(progress.done) / 1048576.0);
        std::fflush(stderr);
    };
    return job;
}

std::optional<int> runCommandLine(
    std::span<const char* const> arguments, std::ostream& out, std::ostream& err, WindowRequest* request)
{
    CommandStreams streams{out, err};
    if (arguments.empty())
        return std::nullopt;
    const std::string_view first = arguments.front();
    for (const Command* command : commands())
        if (first == command->name)
            return runCommand(*command, arguments.subspan(1), streams);
    for (const std::string_view argument : arguments) {
        if (argument == "--")
            break;
        if (argument == "--help" || argument == "-h") {
            printHelp(out);
            return exitStatus::done;
        }
        if (argument == "--version") {
            out << "tidemark " << versionText() << '\n';
            return exitStatus::done;
        }
    }
    return askForWindow(arguments, streams, request);
}

std::optional<int> runCommandLine(int argc, char** argv, WindowRequest* request)
{
    const std::vector<const char*> arguments(argv + std::min(argc, 1), argv + argc);
    return runCommandLine(arguments, std::cout, std::cerr, request);
}

} // namespace tidemark
