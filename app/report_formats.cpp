// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report_formats.hpp"

#include "model/report/exporter.hpp"
#include "widgets/report/pdf.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace tidemark {

std::span<const ReportFormat> reportFormats()
{
    static const std::vector<ReportFormat> all = [] {
        std::vector<ReportFormat> out;
        for (const report::Exporter& each : report::exporters())
            out.push_back({each.name, each.extension, std::string_view(each.extension) != ".md", false,
                [&each](
                    const report::Document& document, Paper, const Job&) { return each.write(document); }});
        out.push_back({"PDF", ".pdf", true, true, writePdf});
        return out;
    }();
    return all;
}

const ReportFormat* reportFormatFor(const std::filesystem::path& file)
{
    std::string extension = file.extension().string();
    if (const report::Exporter* exporter = report::exporterFor(file))
        extension = exporter->extension;
    std::transform(extension.begin(), extension.end(), extension.begin(),
        [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    const auto found = std::find_if(reportFormats().begin(), reportFormats().end(),
        [&](const ReportFormat& each) { return each.extension == extension; });
    return found == reportFormats().end() ? nullptr : &*found;
}

std::string reportExtensions()
{
    std::string text;
    const auto all = reportFormats();
    for (std::size_t i = 0; i < all.size(); ++i)
        text += (i == 0 ? "" : i + 1 == all.size() ? " or " : ", ") + all[i].extension;
    return text;
}

} // namespace tidemark
