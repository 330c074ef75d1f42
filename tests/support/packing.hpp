// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Containers as users and torch.save make them, small and in memory.
namespace tidemark::test {

/// One gzip member.
std::string gzipped(std::string_view bytes);
/// One Zstandard frame with a checksum.
std::string zstdCompressed(std::string_view bytes);

struct ZipEntry {
    std::string name;
    std::string bytes;
    bool deflate = false;
};
struct ZipStyle {
    /// Sizes and offsets in zip64 fields, with a zip64 directory end.
    bool zip64 = false;
    /// Comment behind the directory.
    std::string comment = {};
};
std::string zipped(const std::vector<ZipEntry>& entries, const ZipStyle& style = {});

} // namespace tidemark::test
