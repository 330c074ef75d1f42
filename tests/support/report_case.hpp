// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/report/exporter.hpp"
#include "model/report/report.hpp"

#include <string>
#include <vector>

namespace tidemark::test {

/// A diagnosed file, its busiest device, ready for a report.
report::ReportInput reportInput(std::shared_ptr<const Snapshot> snapshot, RunConfig config = {});
/// Names and files of frames that try to break out of every format, each with the file it is said to be in.
std::vector<std::pair<std::string, std::string>> attackFrames();
/// A file whose allocations come from attackFrames(), beside frames of known libraries.
std::shared_ptr<const Snapshot> attackSnapshot();

/// What is wrong with an HTML page: tags that do not match, unknown tags, attributes without quotes,
/// characters that may not stand there. Empty when nothing is.
std::string htmlFault(const std::string& page);
/// Values of all attributes called so, unescaped.
std::vector<std::string> htmlAttributes(const std::string& page, const std::string& name);
/// The text a reader sees: HTML without tags and with entities resolved; Markdown without backslashes.
std::string shownText(const std::string& written, const std::string& extension);
/// Code points.
std::size_t characters(const std::string& text);

/// The cells of a table of a section: nullptr when there is none.
const report::Table* tableOf(
    const report::Document& document, const std::string& section, const std::string& id);
const report::Figure* figureOf(const report::Document& document, const std::string& id);
/// Whole number behind a cell; −1 for none.
std::int64_t numberOf(const report::Cell& cell);

} // namespace tidemark::test
