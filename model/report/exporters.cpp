// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/exporter.hpp"

#include <algorithm>
#include <array>

namespace tidemark::report {

std::span<const Exporter> exporters()
{
    static constexpr std::array all{
        Exporter{"HTML", ".html", writeHtml},
        Exporter{"Markdown", ".md", writeMarkdown},
        Exporter{"JSON", ".json", writeJson},
    };
    return all;
}

const Exporter* exporterFor(const std::filesystem::path& file)
{
    std::string extension = file.extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
        [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    if (extension == ".htm")
        extension = ".html";
    const auto found = std::find_if(exporters().begin(), exporters().end(),
        [&](const Exporter& each) { return extension == each.extension; });
    return found == exporters().end() ? nullptr : &*found;
}

} // namespace tidemark::report
