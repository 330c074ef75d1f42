// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdlib>
#include <filesystem>

namespace tidemark::test {

/// Folder of the outside test material; empty when it is not there.
inline std::filesystem::path sharedFolder()
{
    const char* folder = std::getenv("TIDEMARK_SHARED");
    return folder && std::filesystem::exists(std::filesystem::path(folder) / "corpus") ? folder : "";
}

} // namespace tidemark::test
