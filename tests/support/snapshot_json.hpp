// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/snapshot/snapshot.hpp"

#include <nlohmann/json.hpp>

namespace tidemark::test {

/// A snapshot of the default pool as the JSON file that PyTorch's tools write, settings included, for tests
/// that need a file.
nlohmann::json snapshotJson(const Snapshot& snapshot);

} // namespace tidemark::test
