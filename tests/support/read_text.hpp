// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/formats/json_reader.hpp"
#include "model/formats/memory_stream.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace tidemark::test {

/// What reading a text gave: a snapshot or the refusal.
struct ReadText {
    std::shared_ptr<const Snapshot> snapshot;
    std::optional<Error> error;

    const DeviceTrace* device(int ordinal) const
    {
        if (snapshot)
            for (const DeviceTrace& d : snapshot->devices)
                if (d.ordinal == ordinal)
                    return &d;
        return nullptr;
    }
    const QualityNote* note(Quality id, std::optional<int> device = std::nullopt) const
    {
        if (snapshot)
            for (const QualityNote& n : snapshot->quality)
                if (n.id == id && n.device == device)
                    return &n;
        return nullptr;
    }
    /// The refusal's sentence, or "" when it was read.
    std::string message() const { return error ? error->message : std::string(); }
};

/// Feeds a text to one reader, as if a file held it.
inline ReadText readText(
    std::string text, const ReadOptions& options = {}, const Reader& reader = jsonReader, const Job& job = {})
{
    MemoryStream stream(std::move(text));
    SnapshotBuilder builder;
    ReadText out;
    out.error = reader.read(stream, builder, options, job);
    if (!out.error)
        out.snapshot = builder.finish();
    return out;
}

} // namespace tidemark::test
