// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"
#include "model/core/result.hpp"
#include "model/formats/byte_stream.hpp"
#include "model/snapshot/builder.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace tidemark {

/// The caller's choices for reading.
struct ReadOptions {
    /// Read what can be read of a truncated or damaged file; the snapshot is then flagged (Source::partial).
    bool partial = false;
    /// Keep only events FIRST…LAST (inclusive) of every device.
    std::optional<std::pair<std::uint64_t, std::uint64_t>> events;
    /// Keep only so many events from the end of every device; not together with `events`.
    std::optional<std::uint64_t> lastEvents;

    bool ranged() const { return events || lastEvents; }
    bool operator==(const ReadOptions&) const = default;
};

/// First and last event (both included) that are kept of a trace of `count`; first > last for none.
std::pair<std::uint64_t, std::uint64_t> rangeOf(const ReadOptions& options, std::uint64_t count);

/// One format. To add a format: one file in this folder that defines a Reader, one line in readers().
struct Reader {
    /// Shown to people: "PyTorch snapshot (pickle)".
    const char* name;
    /// Whether the unpacked bytes look like this format, from at most the first 64 KiB. Names are never
    /// looked at.
    bool (*probe)(std::string_view head);
    /// Feeds the builder. On failure the builder's contents are dropped, or kept when options.partial is set
    /// and something was understood (the reader then notes Quality::TruncatedFile and returns no error).
    std::optional<Error> (*read)(
        ByteStream& bytes, SnapshotBuilder& builder, const ReadOptions& options, const Job& job);
};

/// All formats, in the order in which they are tried.
std::span<const Reader> readers();

/// Opens a file, looks through its containers, finds its format by content and reads it. Nothing in the file
/// is ever executed. Cost: one pass. Any thread.
Result<std::shared_ptr<const Snapshot>> readSnapshot(
    const std::filesystem::path& path, const ReadOptions& options, const Job& job);

} // namespace tidemark
