// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace tidemark::test {

/// Bytes as a file that is nowhere on a disk: for tests that open many.
class MemoryFile {
public:
    explicit MemoryFile(std::string_view bytes)
        : m_file(memfd_create("input", MFD_CLOEXEC))
    {
        while (!bytes.empty()) {
            const ssize_t written = write(m_file, bytes.data(), bytes.size());
            if (written <= 0)
                std::abort();
            bytes.remove_prefix(static_cast<std::size_t>(written));
        }
    }
    ~MemoryFile() { close(m_file); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(m_file); }

private:
    int m_file = -1;
};

} // namespace tidemark::test
