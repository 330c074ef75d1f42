// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace tidemark::report {

/// Text for HTML and SVG, inside elements and quoted attributes: & < > " ' as entities.
std::string escapeHtml(std::string_view text);
/// The five entities above and numeric ones back to characters; anything else stays.
std::string unescapeHtml(std::string_view text);
/// Text for GitHub's Markdown, one line: nothing in it can begin markup, a mention, a link or a table cell.
std::string escapeMarkdown(std::string_view text);
/// Code span that holds the text as it is, whatever backticks it has. In tables pipes need a backslash.
std::string markdownCode(std::string_view text, bool inTable = false);
std::string base64(std::string_view bytes);

} // namespace tidemark::report
