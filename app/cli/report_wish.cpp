// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/report_wish.hpp"

#include "model/core/text.hpp"

#include <algorithm>

namespace tidemark {

namespace {

Error usage(std::string message)
{
    return {ErrorCode::Usage, std::move(message), std::nullopt};
}

Result<std::vector<report::Part>> partsOf(const std::vector<std::string>& names)
{
    std::vector<report::Part> parts;
    for (const std::string& name : names) {
        const auto part = report::partFromName(name);
        if (!part) {
            std::string known;
            for (const report::Part each : report::allParts())
                known += (known.empty() ? "" : ", ") + std::string(report::partName(each));
            return usage("there is no part \"" + displayText(name, 40) + "\"; parts are " + known);
        }
        parts.push_back(*part);
    }
    return parts;
}

std::vector<std::string> split(const std::string& text)
{
    std::vector<std::string> out;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t end = std::min(text.find(',', from), text.size());
        if (end > from)
            out.push_back(text.substr(from, end - from));
        from = end + 1;
    }
    return out;
}

Result<void> readTarget(const Arguments& arguments, ReportCall& wish)
{
    const auto out = arguments.value("-o");
    if (!out)
        return usage("report needs -o FILE");
    wish.out = *out;
    wish.format = reportFormatFor(wish.out);
    if (wish.format == nullptr)
        return usage(
            "-o needs a name that ends in " + reportExtensions() + ", not \"" + displayText(*out, 60) + "\"");
    const std::string paper = arguments.value("--paper").value_or("a4");
    if (paper == "letter" || paper == "Letter")
        wish.paper = Paper::Letter;
    else if (paper != "a4" && paper != "A4")
        return usage("--paper knows a4 and letter, not \"" + displayText(paper, 40) + "\"");
    return {};
}

/// A path in a session file is meant from where that file lies.
std::filesystem::path besideSession(const std::filesystem::path& session, const std::string& path)
{
    const std::filesystem::path given(path);
    return given.is_absolute() ? given : session.parent_path() / given;
}

Result<void> readSessionOf(const std::filesystem::path& file, ReportCall& wish, CommandStreams& streams)
{
    auto read = report::readSession(file);
    if (!read)
        return read.error();
    for (const std::string& problem : read->problems)
        printError(streams.err, file.string(), {ErrorCode::Damaged, "warning: " + problem, std::nullopt});
    wish.session = std::move(read->session);
    report::SessionFile& session = wish.session;
    const auto check = [&](const report::SessionInput& input, const std::filesystem::path& path) {
        const auto hash = input.hash.empty() ? Result<std::string>(std::string()) : report::contentHash(path);
        if (hash && *hash != input.hash)
            printError(streams.err, path.string(),
                {ErrorCode::Damaged, "warning: the file is not the one the session was made with.",
                    std::nullopt});
    };
    for (const report::SessionInput& input : session.inputs) {
        const std::filesystem::path path = besideSession(file, input.path);
        check(input, path);
        if (wish.paths.empty() || wish.paths.size() < session.inputs.size())
            wish.paths.push_back(path);
    }
    // Where A is another file than the one looked at, the comparison is not about that.
    if (!wish.compare && session.compare.size() == 1)
        wish.compare = besideSession(file, session.compare.front().path);
    for (const std::string& each : session.settingsFiles())
        if (const auto added = wish.config.addFile(besideSession(file, each)); !added)
            return added.error();
    if (!wish.diagnosis.deviceTotal)
        wish.diagnosis.deviceTotal = session.cardBytes;
    if (!wish.device)
        wish.device = session.device;
    if (wish.report.title.empty())
        wish.report.title = session.title;
    if (wish.report.summary.empty())
        wish.report.summary = session.summary;
    return {};
}

Result<void> readNumbers(const Arguments& arguments, ReportCall& wish)
{
    const auto top = arguments.number("--top");
    const auto device = arguments.number("--device");
    const auto total = arguments.number("--device-total");
    for (const auto* each : {&top, &device, &total})
        if (!*each)
            return each->error();
    if (*top && (**top < 1 || **top > 10000))
        return usage("--top needs a number from 1 to 10,000");
    if (*total && **total <= 0)
        return usage("--device-total needs a number of bytes above 0");
    if (*top)
        wish.report.topRows = static_cast<std::size_t>(**top);
    if (*total)
        wish.diagnosis.deviceTotal = static_cast<std::uint64_t>(**total);
    wish.device = *device;
    return {};
}

} // namespace

Result<void> readReportWish(const Arguments& arguments, CommandStreams& streams, ReportCall& wish)
{
    if (const auto target = readTarget(arguments, wish); !target)
        return target.error();
    if (const auto numbers = readNumbers(arguments, wish); !numbers)
        return numbers.error();
    wish.report.title = arguments.value("--title").value_or("");
    wish.report.summary = arguments.value("--summary").value_or("");
    wish.report.includeTime = arguments.has("--with-time");
    if (arguments.has("--redact"))
        wish.report.redaction = report::Redaction::full();
    wish.read = arguments.readOptions();
    for (const char* option : {"--config", "--env", "--rules"})
        if (const auto file = arguments.value(option))
            wish.given.emplace_back(*file);
    if (const auto session = arguments.value("--session"))
        wish.sessionFile = *session;
    wish.pictures = !arguments.has("--no-pictures");
    if (const auto other = arguments.value("--compare"))
        wish.compare = *other;
    std::vector<std::string> names = split(arguments.value("--parts").value_or(""));
    if (const auto session = arguments.value("--session")) {
        if (const auto read = readSessionOf(*session, wish, streams); !read)
            return read.error();
        if (names.empty())
            names = wish.session.parts;
    }
    if (!arguments.paths().empty())
        wish.paths = arguments.paths();
    if (wish.paths.empty())
        return usage("report needs a file or folder; see tidemark report --help");
    if (!names.empty()) {
        auto parts = partsOf(names);
        if (!parts)
            return parts.error();
        wish.report.parts = std::move(*parts);
    }
    const auto rules = arguments.labelRules();
    if (!rules)
        return rules.error();
    wish.diagnosis.rules = *rules;
    return {};
}

} // namespace tidemark
