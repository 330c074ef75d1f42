// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/report/report.hpp"

#include <memory>

namespace tidemark {

/// Pictures of a report as the window's views draw them, without a display. GUI thread.
std::unique_ptr<report::Pictures> viewPictures();

} // namespace tidemark
