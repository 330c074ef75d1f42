// SPDX-License-Identifier: GPL-3.0-or-later
// tidemark render: one picture of one view.
#include "app/cli/command.hpp"

#include "app/cli/offscreen_gui.hpp"
#include "app/render/picture.hpp"
#include "app/render/ranks_picture.hpp"
#include "model/core/parse.hpp"
#include "model/core/text.hpp"
#include "model/job/summarise.hpp"
#include "model/run/rank.hpp"
#include "model/snapshot/snapshot.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <ostream>

namespace tidemark {

namespace {

constexpr int largestSide = 20000;
/// Pixels of a picture, its scale counted: a few hundred MiB while it is made.
constexpr double mostPixels = 40e6;

constexpr std::array renderOptions{
    CommandOption{"--view", "NAME",
        "timeline, segments, live, details, tree, flame, events, growth, or ranks of a folder (default: "
        "timeline)"},
    CommandOption{"--event", "N", "the moment after this event; −1 is before the first (default: the peak)"},
    CommandOption{"--device", "D", "device ordinal (default: the one with most events)"},
    CommandOption{"--address", "A", "select the block that lives at this address then, e.g. 0x7f40…"},
    CommandOption{"--size", "WxH", "in logical pixels (default: 1200x600; ranks: as high as they are)"},
    CommandOption{"--scale", "S", "pixels of a PNG per logical pixel, 1 to 4 (default: 1)"},
    CommandOption{"--dark", nullptr, "the dark theme"},
    CommandOption{"--no-title", nullptr, "without the line above that says what the picture is of"},
    CommandOption{"-o", "FILE", "what to write; .png or .svg"},
    configOption,
    envOption,
    CommandOption{"--device-total", "BYTES", "ranks: size of the card, as the driver reports it"},
    partialOption,
    eventsOption,
};

constexpr std::string_view ranksView = "ranks";

bool wantsRanks(const Arguments& arguments)
{
    return arguments.value("--view") == ranksView;
}

std::optional<QSize> parsedSize(const std::string& text)
{
    int width = 0;
    int height = 0;
    const char* const end = text.data() + text.size();
    const auto [cross, error] = std::from_chars(text.data(), end, width);
    if (error != std::errc{} || cross == end || *cross != 'x')
        return std::nullopt;
    const auto [last, more] = std::from_chars(cross + 1, end, height);
    const bool good = more == std::errc{} && last == end && width >= 50 && height >= 50
        && width <= largestSide && height <= largestSide;
    return good ? std::optional(QSize(width, height)) : std::nullopt;
}

/// Everything of the request that can be checked before the file is read; the text says what is wrong.
std::optional<std::string> readRequest(const Arguments& arguments, PictureRequest& request)
{
    if (arguments.paths().empty() || (arguments.paths().size() > 1 && !wantsRanks(arguments)))
        return wantsRanks(arguments) ? "render --view ranks needs a folder, or the files of all ranks"
                                     : "render needs one file";
    if (!arguments.value("-o"))
        return "render needs -o FILE";
    if (const auto name = arguments.value("--view"); name && !wantsRanks(arguments)) {
        const auto view = pictureViewFromName(*name);
        if (!view)
            return "there is no view \"" + displayText(*name, 40)
                + "\": it is timeline, segments, live, details, tree, flame, events, growth or ranks";
        request.view = *view;
    }
    if (const auto text = arguments.value("--size")) {
        const auto size = parsedSize(*text);
        if (!size)
            return "--size needs WxH between 50x50 and 20000x20000, not \"" + displayText(*text, 40) + "\"";
        request.size = *size;
    }
    if (const auto text = arguments.value("--scale")) {
        bool number = false;
        request.scale = QString::fromStdString(*text).toDouble(&number);
        if (!number || !(request.scale >= 1 && request.scale <= 4))
            return "--scale needs a number from 1 to 4";
    }
    if (request.size.width() * request.scale * request.size.height() * request.scale > mostPixels)
        return "a picture may have 40 million pixels at most, the scale counted";
    if (const auto text = arguments.value("--address")) {
        request.address = parseAddress(*text);
        if (!request.address)
            request.address = parseCount(*text);
        if (!request.address)
            return "--address needs an address such as 0x7f4001600000";
    }
    request.dark = arguments.has("--dark");
    request.title = !arguments.has("--no-title");
    return std::nullopt;
}

std::optional<std::string> chooseState(
    const Rank& rank, std::optional<std::int64_t> event, PictureRequest& request)
{
    if (!event)
        return std::nullopt;
    if (request.deviceIndex >= rank.devices.size())
        return "the file has no events";
    const Replay& replay = *rank.devices[request.deviceIndex];
    const std::int64_t first = replay.device().firstEventInFile;
    const std::int64_t last = first + static_cast<std::int64_t>(replay.states()) - 2;
    if (*event < first - 1 || *event > last)
        return "--event must be from " + std::to_string(first - 1) + " to " + std::to_string(last);
    request.state = stateOf(*event - first);
    return std::nullopt;
}

/// The overview of a whole job. Files that cannot be read are rows of it.
int renderRanks(const Arguments& arguments, const PictureRequest& picture, CommandStreams& streams)
{
    for (const char* each : {"--event", "--device", "--address", "--events"})
        if (arguments.has(each))
            return usageError(streams, std::string(each) + " is about one file; it has no meaning for ranks");
    SummariseOptions wish;
    wish.read = arguments.readOptions();
    const auto total = arguments.number("--device-total");
    if (!total || (*total && **total <= 0))
        return usageError(streams, "--device-total needs a number of bytes above 0");
    if (*total)
        wish.cardBytes = static_cast<std::uint64_t>(**total);
    if (const auto failed = readConfig(arguments, streams, wish.config))
        return *failed;
    auto found = discover(arguments.paths(), wish.config, terminalJob());
    if (!found) {
        printError(streams.err, "", found.error());
        return exitStatus::nothingRead;
    }
    auto job = std::make_shared<const SummarisedJob>(*summarise(std::move(*found), wish, terminalJob()));
    for (const BadFile& bad : job->job.bad)
        printError(streams.err, bad.path.string(), bad.error);
    if (job->ranks.empty())
        return exitStatus::nothingRead;
    RanksPictureRequest request;
    request.width = picture.size.width();
    if (arguments.has("--size"))
        request.height = picture.size.height();
    request.scale = picture.scale;
    request.dark = picture.dark;
    request.title = picture.title;
    const bool bad = !job->job.bad.empty();
    const OffscreenGui gui;
    const QString file = QString::fromStdString(*arguments.value("-o"));
    int needed = 0;
    if (const auto error = writeRanksPicture(std::move(job), request, file, &needed)) {
        if (error->code == ErrorCode::Usage)
            return usageError(streams, error->message);
        printError(streams.err, "", *error);
        return exitStatus::nothingRead;
    }
    if (needed > 0)
        streams.err << "tidemark: not all rows fit: they need a height of " << needed << ".\n";
    streams.out << file.toStdString() << '\n';
    return bad ? exitStatus::someNotRead : exitStatus::done;
}

int render(const Arguments& arguments, CommandStreams& streams)
{
    PictureRequest request;
    if (const auto wrong = readRequest(arguments, request))
        return usageError(streams, *wrong);
    if (wantsRanks(arguments))
        return renderRanks(arguments, request, streams);
    const auto ordinal = arguments.number("--device");
    const auto event = arguments.number("--event");
    if (!ordinal || !event)
        return usageError(streams, (!ordinal ? ordinal.error() : event.error()).message);
    const ReadOptions options = arguments.readOptions();
    const std::filesystem::path& path = arguments.paths().front();
    const auto rank = openRank(path, options, terminalJob());
    if (!rank) {
        printError(streams.err, path.string(), rank.error());
        return exitStatus::nothingRead;
    }
    const Result<std::size_t> device = chosenDevice(**rank, *ordinal);
    if (!device)
        return usageError(streams, device.error().message);
    request.deviceIndex = *device;
    if (const auto wrong = chooseState(**rank, *event, request))
        return usageError(streams, *wrong);
    if (request.deviceIndex < (*rank)->devices.size())
        if (const auto wrong = eventsBeyond((*rank)->devices[request.deviceIndex]->device()))
            return usageError(streams, *wrong);
    const OffscreenGui gui;
    const QString file = QString::fromStdString(*arguments.value("-o"));
    if (const auto error = writePicture(*rank, request, file)) {
        if (error->code == ErrorCode::Usage)
            return usageError(streams, error->message);
        printError(streams.err, "", *error);
        return exitStatus::nothingRead;
    }
    streams.out << file.toStdString() << '\n';
    return exitStatus::done;
}

} // namespace

extern const Command renderCommand;
const Command renderCommand{"render", "PATH [--view NAME] [--event N] [--size WxH] -o FILE.{png,svg}",
    "draw one view as a picture, without a display", renderOptions, &render};

} // namespace tidemark
