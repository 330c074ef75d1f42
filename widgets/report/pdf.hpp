// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"
#include "model/report/document.hpp"
#include "widgets/report/paged_report.hpp"

#include <string>

namespace tidemark {

/// A report as a PDF file's bytes: texts as text, drawings as vectors. Equal documents give equal bytes; no
/// clock goes into it. Empty when stopped. Any thread, while there is a QGuiApplication.
std::string writePdf(const report::Document& document, Paper paper, const Job& job);

} // namespace tidemark
