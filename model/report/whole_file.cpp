// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/text.hpp"
#include "model/report/exporter.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tidemark::report {

namespace {

Error refused(const std::filesystem::path& file, int code)
{
    return {ErrorCode::Io, displayText(file.string()) + " cannot be written: " + std::strerror(code) + '.',
        std::nullopt};
}

/// Writes all of it and waits until it is on the disk; 0 or an error number.
int writeAll(int descriptor, std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : ENOSPC;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    // Some file systems cannot sync; what is written is there all the same.
    return ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
}

} // namespace

Result<void> writeWhole(const std::filesystem::path& file, std::string_view bytes)
{
    std::error_code ignored;
    // A link stays one: what it leads to is replaced.
    const std::filesystem::path target = std::filesystem::is_symlink(file, ignored)
        ? std::filesystem::weakly_canonical(file, ignored)
        : file;
    if (target.empty() || std::filesystem::is_directory(target, ignored))
        return refused(file, EISDIR);
    std::string name = target.string() + ".XXXXXX";
    const int descriptor = ::mkstemp(name.data());
    if (descriptor < 0)
        return refused(file, errno);
    struct stat old { };
    const bool replaces = ::stat(target.c_str(), &old) == 0;
    const mode_t mask = ::umask(0);
    ::umask(mask);
    int error = ::fchmod(descriptor, replaces ? old.st_mode & 07777U : 0666U & ~mask) == 0 ? 0 : errno;
    error = error == 0 ? writeAll(descriptor, bytes) : error;
    if (::close(descriptor) != 0 && error == 0)
        error = errno;
    if (error == 0 && ::rename(name.c_str(), target.c_str()) != 0)
        error = errno;
    if (error != 0) {
        ::unlink(name.c_str());
        return refused(file, error);
    }
    const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
    if (const int parent = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); parent >= 0) {
        ::fsync(parent); // that the name is on the disk too
        ::close(parent);
    }
    return {};
}

} // namespace tidemark::report
