// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace tidemark {

/// "0.1.0", from CMakeLists.txt.
const char* versionText();

} // namespace tidemark
