// SPDX-License-Identifier: GPL-3.0-or-later
// Not built: a folder that the table does not know is a breach too.
#pragma once
