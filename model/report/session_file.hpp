// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/result.hpp"
#include "model/report/annotations.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::report {

/// A snapshot of a session: where it was, and how to know it again.
struct SessionInput {
    std::string path; ///< as opened; relative ones are relative to the session file
    std::string hash; ///< contentHash; empty: not known
    std::uint64_t bytes = 0;
    std::string extra; ///< unknown keys, as a JSON object
    bool operator==(const SessionInput&) const = default;
};

/// A fix that is ticked in the sandbox.
struct SessionFix {
    std::string rule;
    std::uint32_t index = 0; ///< the n-th finding of its rule, from 0
    std::string fix; ///< its id
    bool operator==(const SessionFix&) const = default;
};

/// What is looked at and noted, kept in a `.tidemark` file (resources/help/session.md). Everything may be
/// absent.
struct SessionFile {
    static constexpr int version = 1;

    std::vector<SessionInput> inputs;
    /// The other side, B; behind it A, where that is not the file looked at.
    std::vector<SessionInput> compare;
    std::uint32_t current = 0; ///< position in inputs
    std::optional<std::pair<std::int64_t, std::int64_t>>
        opened; ///< only these events are open, both included
    std::optional<std::uint64_t> openedLast; ///< only so many of the last events are
    std::optional<std::int64_t> device; ///< ordinal
    std::optional<std::int64_t> cursor; ///< event; −1: before the first
    std::optional<std::pair<std::int64_t, std::int64_t>> window; ///< events shown, both included
    std::optional<std::pair<std::int64_t, std::int64_t>> range; ///< events selected, both included
    std::string axis; ///< "events", "time", "steps"
    std::string colour; ///< "site", "label", "role", …
    std::string view; ///< in front: "timeline", "compare", "ranks", "report"
    std::string filter; ///< as typed
    std::string labels; ///< path of own label rules
    std::string config; ///< path of the run's configuration
    std::string env; ///< path of the run's environment
    /// Paths of all of them in their order, where they are more than those two; else empty.
    std::vector<std::string> settings;
    std::optional<std::uint64_t> cardBytes;
    std::string alignment; ///< of the comparison: "step", "mark", …
    std::vector<SessionFix> fixes;
    std::optional<std::string> conf; ///< PYTORCH_CUDA_ALLOC_CONF of the sandbox
    std::vector<Annotation> annotations;
    std::string title; ///< of the report
    std::string summary;
    std::vector<std::string> parts; ///< of the report, by partName
    std::string extra; ///< unknown keys, as a JSON object; written back
    bool operator==(const SessionFile&) const = default;

    /// `settings`, or else `config` and `env`.
    std::vector<std::string> settingsFiles() const;
};

/// A session file as read: what of it could be, and a sentence for everything that could not.
struct SessionRead {
    SessionFile session;
    std::vector<std::string> problems;
};

/// Bounds on session files; what is beyond is left out with a sentence.
inline constexpr std::uint64_t maxSessionBytes = 64U << 20;
inline constexpr std::size_t maxSessionItems = 65536; ///< of a list
inline constexpr std::size_t maxSessionText = 1U << 20; ///< bytes of a text
inline constexpr int maxSessionDepth = 64;

/// Reads the text of a session file. A file of a newer version, or one in which nothing can be read, is
/// refused; else whatever is right is kept. `name` is for messages.
Result<SessionRead> parseSession(std::string_view text, std::string_view name);
Result<SessionRead> readSession(const std::filesystem::path& file);
/// One key a line, so that damage to a line loses no other.
std::string sessionText(const SessionFile& session);
/// By writeWhole: on failure the old file is whole.
Result<void> writeSession(const std::filesystem::path& file, const SessionFile& session);

/// Tells whether a file is the one it was: "fast1-SIZE-HASH" of its size, its first and last MiB, and 64
/// blocks of 64 KiB spread evenly over the rest. Files that differ elsewhere only are taken for equal; this
/// is no protection against forgery. Cost: reads 6 MiB at most.
Result<std::string> contentHash(const std::filesystem::path& file);

} // namespace tidemark::report
