// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/shared_paths.hpp"
