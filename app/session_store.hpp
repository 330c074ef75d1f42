// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/session_places.hpp"
#include "model/core/result.hpp"
#include "model/report/session_file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tidemark {

/// A session as it came from its file, with absolute paths, and what became of its snapshots.
struct OpenedSession {
    std::filesystem::path file;
    report::SessionFile session;
    std::vector<FoundInput::State> inputs; ///< of session.inputs
    std::vector<std::string> problems; ///< of reading
    std::string stamp; ///< contentHash of the session file itself
};

/// Reads a session and looks for its snapshots. `folder` is where relative paths are meant from; empty: where
/// the file lies. Cost: as findInput. Any thread.
Result<OpenedSession> openSession(const std::filesystem::path& file, std::filesystem::path folder = {});

/// What is to be written, with absolute paths.
struct SaveWish {
    report::SessionFile session;
    std::filesystem::path file;
    /// Of the file as it was read or written last: another one on disk is not replaced; "" when there was no
    /// file. Absent: whatever is there is replaced.
    std::optional<std::string> stamp;
    bool keepCopy = false; ///< of the file there, as NAME.tidemark.bak
};
struct Saved {
    bool changedOnDisk = false; ///< nothing was written
    std::string stamp;
    std::filesystem::path copy; ///< of the old file; empty: none was made
    report::SessionFile session; ///< with hashes
};

/// Gives the inputs the hashes of the files that are there, makes paths relative, writes. On failure the old
/// file is whole. Cost: reads 6 MiB of each input, waits for the disk. Any thread.
Result<Saved> saveSession(const SaveWish& wish);

/// Hash and size of the inputs that are there; the others keep what they have.
void hashInputs(report::SessionFile& session);

} // namespace tidemark
