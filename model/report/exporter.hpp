// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/result.hpp"
#include "model/report/document.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace tidemark::report {

/// Writes a report in one format. To add one: one file with its function, one line in exporters().
struct Exporter {
    const char* name; ///< "HTML"
    const char* extension; ///< ".html"
    std::string (*write)(const Document&);
};
std::span<const Exporter> exporters();
/// By a file's extension, whatever its case; null for none.
const Exporter* exporterFor(const std::filesystem::path& file);

/// One file without any network, readable without its script, light and dark, printed light.
std::string writeHtml(const Document& document);
/// For a GitHub issue: at most maxMarkdownChars characters; what does not fit is left out, and said.
std::string writeMarkdown(const Document& document);
/// resources/help/report.md describes it; "schema": 1.
std::string writeJson(const Document& document);

inline constexpr std::size_t maxMarkdownChars = 60000;
inline constexpr int reportSchema = 1;

/// The style sheet and the one script of HTML reports.
const char* htmlStyle();
const char* htmlScript();
/// What the Content-Security-Policy allows the script by: "sha256-…" of htmlScript().
const char* htmlScriptHash();

/// Puts `bytes` in a file: written beside it, synced, then renamed, so that the old one stays whole on
/// failure.
Result<void> writeWhole(const std::filesystem::path& file, std::string_view bytes);

} // namespace tidemark::report
