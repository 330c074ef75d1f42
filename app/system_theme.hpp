// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QApplication;

namespace tidemark {

/// Whether the desktop prefers dark windows: by the desktop portal where it answers, else by the palette the
/// platform gave Qt. Call it before a palette of our own is set, or after resetting it. GUI thread; asks the
/// session bus with a short time limit.
bool systemPrefersDark(const QApplication& application);

} // namespace tidemark
