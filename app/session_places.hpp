// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/report/session_file.hpp"

#include <QString>

#include <filesystem>
#include <span>

namespace tidemark {

/// Where the snapshot of a session was found.
struct FoundInput {
    enum class State { Same, Differs, Missing };
    State state = State::Missing;
    std::filesystem::path path; ///< absolute; where it should be when missing
};

/// Looks for a snapshot that may have moved: where the session says, relative to `folder` (where the session
/// lies), by its name in that folder, then by its content there, among the first `mostLookedAt` files. A file
/// of other content is taken only when none is the one. Cost: reads 6 MiB of each file of the same size. Any
/// thread.
FoundInput findInput(const report::SessionInput& input, const std::filesystem::path& folder);
inline constexpr std::size_t mostLookedAt = 1000;

/// How a session in `folder` names a file: relative when it lies beneath, absolute else.
std::string storedPath(const std::filesystem::path& file, const std::filesystem::path& folder);
/// A path in a session is meant from where the session lies.
std::filesystem::path meantPath(const std::string& path, const std::filesystem::path& folder);

/// NAME.tidemark beside the only snapshot; for several, in the folder of the first and with its name.
std::filesystem::path sessionPathFor(std::span<const std::filesystem::path> snapshots);
/// By its ending.
bool isSessionPath(const QString& path);

std::filesystem::path pathOf(const QString& name);
QString nameOf(const std::filesystem::path& path);
/// The last part, safe to show.
QString shownName(const std::filesystem::path& path);

} // namespace tidemark
