// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/formats/byte_stream.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace tidemark {

/// An opened file, unpacked on the way.
struct Input {
    std::unique_ptr<ByteStream> bytes;
    /// "none", "gzip", "zstd" or "zip", told by the first bytes, never by the name.
    std::string container = "none";
    std::uint64_t fileBytes = 0;
};

/// Opens a file and looks through its container. `partial`: also a zip archive whose directory is missing.
/// The file is read in pieces, never mapped: a program that shortens it meanwhile does no harm.
Result<Input> openInput(const std::filesystem::path& path, bool partial);

/// The bytes of a file from `offset` on, at most `length` of them.
Result<std::unique_ptr<ByteStream>> openFile(const std::filesystem::path& path, std::uint64_t offset = 0,
    std::optional<std::uint64_t> length = std::nullopt);

/// gzip (any number of members, padding after the last one), checksums verified.
std::unique_ptr<ByteStream> makeGzipStream(std::unique_ptr<ByteStream> packed);
/// Zstandard (any number of frames), checksums verified where the file has them.
std::unique_ptr<ByteStream> makeZstdStream(std::unique_ptr<ByteStream> packed);
/// The pickle in what torch.save writes: the member */data.pkl, stored or deflated, zip64 too; the only
/// member of any other archive.
Result<std::unique_ptr<ByteStream>> openZipMember(const std::filesystem::path& path, bool partial);

} // namespace tidemark
