// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"
#include "model/report/document.hpp"
#include "widgets/report/paged_report.hpp"

#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace tidemark {

/// A kind of file a report can be written to: those of the model, and PDF, which needs Qt's fonts.
struct ReportFormat {
    std::string name; ///< "PDF"
    std::string extension; ///< ".pdf"
    bool pictures = true; ///< whether it can hold any
    bool paper = false; ///< laid out in pages; needs a QGuiApplication
    /// Any thread. Empty when stopped.
    std::function<std::string(const report::Document&, Paper, const Job&)> write;
};
/// In the order file choosers list them.
std::span<const ReportFormat> reportFormats();
/// By a file's extension, whatever its case; null for none.
const ReportFormat* reportFormatFor(const std::filesystem::path& file);
/// ".html, .md, .json or .pdf".
std::string reportExtensions();

} // namespace tidemark
