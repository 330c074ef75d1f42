// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/input.hpp"

#include "model/formats/buffered_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace tidemark {

namespace {

/// Bytes of an open file, in order.
class FileStream final : public BufferedStream {
public:
    FileStream(int descriptor, std::uint64_t position, std::uint64_t length)
        : m_descriptor(descriptor)
        , m_position(position)
        , m_length(length)
        , m_left(length)
    { }
    FileStream(const FileStream&) = delete;
    FileStream& operator=(const FileStream&) = delete;
    ~FileStream() override { ::close(m_descriptor); }

    std::uint64_t size() const override
    {
        return m_length == std::numeric_limits<std::uint64_t>::max() ? 0 : m_length;
    }

protected:
    std::size_t fill(std::span<unsigned char> into) override
    {
        const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), m_left));
        if (wanted == 0)
            return 0;
        for (;;) {
            const ssize_t got = m_seekable
                ? ::pread(m_descriptor, into.data(), wanted, static_cast<off_t>(m_position))
                : ::read(m_descriptor, into.data(), wanted);
            if (got >= 0) {
                m_position += static_cast<std::uint64_t>(got);
                m_left -= static_cast<std::uint64_t>(got);
                return static_cast<std::size_t>(got);
            }
            if (errno == ESPIPE && m_seekable) {
                m_seekable = false;
                continue;
            }
            if (errno == EINTR)
                continue;
            fail({ErrorCode::Io, std::string("The file cannot be read: ") + std::strerror(errno) + '.',
                m_position});
            return 0;
        }
    }

private:
    int m_descriptor;
    std::uint64_t m_position;
    std::uint64_t m_length;
    std::uint64_t m_left;
    bool m_seekable = true;
};

Error systemError(int number)
{
    const ErrorCode code = number == ENOENT || number == ENOTDIR ? ErrorCode::NotFound : ErrorCode::Io;
    return {code, std::string("The file cannot be opened: ") + std::strerror(number) + '.', std::nullopt};
}

} // namespace

Result<std::unique_ptr<ByteStream>> openFile(
    const std::filesystem::path& path, std::uint64_t offset, std::optional<std::uint64_t> length)
{
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return systemError(errno);
    struct stat status { };
    if (::fstat(descriptor, &status) != 0 || S_ISDIR(status.st_mode)) {
        ::close(descriptor);
        return Error{ErrorCode::Io, "This is a folder, where a file was expected.", std::nullopt};
    }
    std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
    if (S_ISREG(status.st_mode)) {
        const auto size = static_cast<std::uint64_t>(status.st_size);
        bytes = std::min(length.value_or(size), size - std::min(size, offset));
        ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    return std::unique_ptr<ByteStream>(std::make_unique<FileStream>(descriptor, offset, bytes));
}

Result<Input> openInput(const std::filesystem::path& path, bool partial)
{
    auto file = openFile(path);
    if (!file)
        return file.error();
    Input input;
    input.bytes = std::move(*file);
    input.fileBytes = input.bytes->size();
    const auto head = input.bytes->peek(4);
    if (const auto error = input.bytes->error())
        return *error;
    if (head.empty())
        return Error{ErrorCode::Empty,
            "The file is empty (zero bytes): the program that dumped it stopped before it wrote anything.",
            0};

    const std::string_view magic(
        reinterpret_cast<const char*>(head.data()), std::min<std::size_t>(head.size(), 4));
    if (magic.starts_with("\x1f\x8b")) {
        input.container = "gzip";
        input.bytes = makeGzipStream(std::move(input.bytes));
    } else if (magic == "\x28\xb5\x2f\xfd") {
        input.container = "zstd";
        input.bytes = makeZstdStream(std::move(input.bytes));
    } else if (magic == "PK\x03\x04" || magic == "PK\x05\x06") {
        input.container = "zip";
        auto member = openZipMember(path, partial);
        if (!member)
            return member.error();
        input.bytes = std::move(*member);
    }
    return input;
}

} // namespace tidemark
