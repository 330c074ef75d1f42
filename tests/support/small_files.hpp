// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tidemark::test {

/// A file in memory.
struct SmallFile {
    std::string name; ///< "pickle4.gz": what it is and what is around it
    std::string bytes;
};

/// Standard base64 with padding.
std::string base64(std::string_view bytes);
/// A page as the stock viewer writes it around a pickle.
std::string viewerPage(std::string_view pickle);

/// The smallest files that use everything: every encoding of a snapshot, a trace and memory timelines of the
/// profiler; some hundreds of bytes each.
std::vector<SmallFile> smallFiles();
/// A few snapshots in every container.
std::vector<SmallFile> smallContainers();

} // namespace tidemark::test
