// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.hpp"
#include "app/rules_file.hpp"
#include "model/core/text.hpp"
#include "model/run/rank.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <ostream>

namespace tidemark {

namespace {

Error usage(std::string message)
{
    return {ErrorCode::Usage, std::move(message), std::nullopt};
}

template <typename Number>
bool parseWhole(std::string_view text, Number& number)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return !text.empty() && error == std::errc{} && end == text.data() + text.size();
}

} // namespace

Result<Arguments> Arguments::parse(
    std::span<const char* const> arguments, std::span<const CommandOption> options)
{
    Arguments parsed;
    bool onlyPaths = false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string_view argument = arguments[i];
        if (argument == "--" && !onlyPaths) {
            onlyPaths = true;
            continue;
        }
        if (onlyPaths || argument.size() < 2 || argument[0] != '-') {
            parsed.m_paths.emplace_back(argument);
            continue;
        }
        const std::size_t equals = argument.find('=');
        const std::string name(argument.substr(0, equals));
        const auto option = std::find_if(
            options.begin(), options.end(), [&](const CommandOption& o) { return name == o.name; });
        if (option == options.end())
            return usage("there is no option " + displayText(name) + " here");
        if (parsed.has(name) && !option->repeated)
            return usage(name + " is given twice");
        if (option->value == nullptr) {
            if (equals != std::string_view::npos)
                return usage(name + " takes no value");
            parsed.m_values[name].emplace_back();
        } else if (equals != std::string_view::npos) {
            parsed.m_values[name].emplace_back(argument.substr(equals + 1));
        } else if (i + 1 < arguments.size()) {
            parsed.m_values[name].emplace_back(arguments[++i]);
        } else {
            return usage(name + " needs a value: " + name + " " + option->value);
        }
    }
    if (const std::optional<std::string> events = parsed.value(eventsOption.name))
        if (const auto wrong = parseEvents(*events); !wrong)
            return wrong.error();
    return parsed;
}

std::optional<std::string> Arguments::value(std::string_view option) const
{
    const auto found = m_values.find(std::string(option));
    return found == m_values.end() ? std::nullopt : std::optional(found->second.front());
}

std::vector<std::string> Arguments::values(std::string_view option) const
{
    const auto found = m_values.find(std::string(option));
    return found == m_values.end() ? std::vector<std::string>() : found->second;
}

Result<std::optional<std::int64_t>> Arguments::number(std::string_view option) const
{
    const std::optional<std::string> text = value(option);
    if (!text)
        return std::optional<std::int64_t>();
    std::int64_t number = 0;
    if (!parseWhole(*text, number))
        return usage(std::string(option) + " needs a whole number, not \"" + displayText(*text, 40) + "\"");
    return std::optional(number);
}

ReadOptions Arguments::readOptions() const
{
    ReadOptions options;
    options.partial = has(partialOption.name);
    if (const std::optional<std::string> text = value(eventsOption.name))
        if (const auto ranged = parseEvents(*text, options))
            return *ranged;
    return options;
}

Result<ReadOptions> parseEvents(std::string_view text, ReadOptions options)
{
    std::pair<std::uint64_t, std::uint64_t> range{0, std::numeric_limits<std::uint64_t>::max()};
    const std::size_t colon = text.find(':');
    const std::string_view first = text.substr(0, colon);
    const std::string_view last
        = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
    const bool some = colon != std::string_view::npos && (!first.empty() || !last.empty());
    if (std::uint64_t count = 0;
        some && last.empty() && first.starts_with('-') && parseWhole(first.substr(1), count) && count > 0) {
        options.lastEvents = count;
        return options;
    }
    const bool good = some && (first.empty() || parseWhole(first, range.first))
        && (last.empty() || parseWhole(last, range.second)) && range.first <= range.second;
    if (!good)
        return usage("--events needs FIRST:LAST, two event numbers in order, or -N: for the last N, not \""
            + displayText(text, 40) + "\"");
    options.events = range;
    return options;
}

Result<std::shared_ptr<const LabelRules>> Arguments::labelRules() const
{
    const std::optional<std::string> name = value(rulesOption.name);
    if (!name)
        return LabelRules::standard();
    return readLabelRules(*name);
}

std::optional<int> readConfig(const Arguments& arguments, CommandStreams& streams, RunConfig& config)
{
    for (const char* option : {configOption.name, envOption.name})
        if (const auto path = arguments.value(option))
            if (const auto added = config.addFile(*path); !added) {
                printError(streams.err, *path, added.error());
                return exitStatus::nothingRead;
            }
    return std::nullopt;
}

RunConfig configFor(RunConfig given, const std::filesystem::path& file, std::ostream& warnings)
{
    for (const std::filesystem::path& beside : configFilesBeside(file))
        if (const auto added = given.addFile(beside); !added)
            warnings << "tidemark: warning: settings beside the file are left out: "
                     << displayText(added.error().message) << '\n';
    return given;
}

Result<std::size_t> chosenDevice(const Rank& rank, std::optional<std::int64_t> ordinal)
{
    if (!ordinal)
        return rank.mainDevice();
    std::string known;
    const auto& devices = rank.snapshot->devices;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        if (devices[i].ordinal == *ordinal)
            return i;
        known += (known.empty() ? "" : ", ") + std::to_string(devices[i].ordinal);
    }
    return Error{ErrorCode::Usage,
        "the file has no device " + std::to_string(*ordinal)
            + (known.empty() ? ": it has none" : "; it has " + known),
        std::nullopt};
}

} // namespace tidemark
