// SPDX-License-Identifier: GPL-3.0-or-later
// Not built: tests/layers must find all four.
#include "app/version.hpp"
#include "model/replay/replay.hpp"
#include "widgets/session.hpp"
#include <QString>
