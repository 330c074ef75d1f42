// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/diagnosis.hpp"
#include "model/findings/prediction.hpp"
#include "model/report/session_file.hpp"
#include "widgets/view_state.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace tidemark {

/// Names in session files.
const char* colourKey(ColourBy by); ///< "site", "role", …
std::optional<ColourBy> colourOf(std::string_view name);
const char* axisName(XAxis axis); ///< "events", "time", "steps"; "" for a common one
std::optional<XAxis> axisOf(std::string_view name);

/// A fix by the n-th finding of its rule, and back; nothing when there is no such fix.
std::optional<FixPlace> placeOf(const report::SessionFix& fix, const Diagnosis* diagnosis);
std::optional<report::SessionFix> fixAt(const FixPlace& place, const Diagnosis& diagnosis);

/// The last event an anchor speaks of; −1 for none.
std::int64_t lastEvent(const report::Anchor& anchor);

} // namespace tidemark
