// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command.hpp"
#include "app/report_formats.hpp"
#include "model/findings/diagnosis.hpp"
#include "model/report/report.hpp"
#include "model/report/session_file.hpp"

#include <filesystem>
#include <optional>
#include <vector>

namespace tidemark {

/// What `tidemark report` was called for, checked before any snapshot is read.
struct ReportCall {
    report::ReportWish report;
    report::SessionFile session;
    std::vector<std::filesystem::path> paths;
    std::optional<std::filesystem::path> compare;
    std::filesystem::path out;
    std::filesystem::path sessionFile; ///< empty: none
    std::vector<std::filesystem::path> given; ///< settings and rules
    const ReportFormat* format = nullptr;
    Paper paper = Paper::A4;
    std::optional<std::int64_t> device;
    DiagnosisOptions diagnosis;
    RunConfig config;
    ReadOptions read;
    bool pictures = true;
};

/// Reads the options, and the session where one is given. ErrorCode::Usage for what the caller got wrong;
/// `wish.config` holds the settings given so far.
Result<void> readReportWish(const Arguments& arguments, CommandStreams& streams, ReportCall& wish);

} // namespace tidemark
