// SPDX-License-Identifier: GPL-3.0-or-later
// Not built: tests/layers must find the first and the last.
#include "../model/core/ids.hpp"
#include "app/version.hpp"
#include "model/core/ids.hpp"
