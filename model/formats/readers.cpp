// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/foreign.hpp"
#include "model/formats/html_reader.hpp"
#include "model/formats/input.hpp"
#include "model/formats/json_reader.hpp"
#include "model/formats/pickle_reader.hpp"
#include "model/formats/read_ahead.hpp"
#include "model/formats/reader.hpp"

#include <algorithm>
#include <array>

namespace tidemark {

namespace {

const std::array allReaders{
    pickleReader,
    jsonReader,
    htmlReader,
};

/// Bytes behind the end of a snapshot that are still unpacked, to verify the container's checksum.
constexpr std::uint64_t maxTrailing = 1ULL << 30;

/// Smaller files are read before a thread has begun. Of pipes the size is not known.
constexpr std::uint64_t worthAThread = 1U << 20;

/// Reads to the end of a container. The checksum stands there.
std::optional<Error> drain(ByteStream& bytes, const Job& job, std::uint64_t& drained)
{
    while (drained < maxTrailing) {
        const std::size_t got = bytes.peek(1).size();
        if (got == 0)
            break;
        if (job.stopped())
            return Error{ErrorCode::Cancelled, "Reading was stopped.", std::nullopt};
        bytes.consume(got);
        drained += got;
    }
    return bytes.error();
}

Error asSentence(Error error)
{
    if (!error.message.empty() && error.message.back() != '.')
        error.message += '.';
    return error;
}

/// What a damaged container means for a snapshot that seems whole.
std::optional<Error> judgeDamage(const Error& damage, SnapshotBuilder& builder, const ReadOptions& options)
{
    if (damage.code == ErrorCode::Cancelled)
        return damage;
    if (!options.partial) {
        Error error = damage;
        error.message
            += "; the snapshot in it seems whole, but cannot be trusted. Copy the file again, or open what "
               "can be read of it.";
        error.partial = true;
        return error;
    }
    builder.source().partial = true;
    builder.note(Quality::TruncatedFile, std::nullopt, "",
        "The container is damaged, so the figures may be wrong. " + asSentence(damage).message);
    return std::nullopt;
}

} // namespace

std::pair<std::uint64_t, std::uint64_t> rangeOf(const ReadOptions& options, std::uint64_t count)
{
    if (options.lastEvents)
        return {count - std::min(count, *options.lastEvents), count};
    return options.events.value_or(std::pair<std::uint64_t, std::uint64_t>{0, count});
}

std::span<const Reader> readers()
{
    return allReaders;
}

Result<std::shared_ptr<const Snapshot>> readSnapshot(
    const std::filesystem::path& path, const ReadOptions& options, const Job& job)
{
    job.report(Stage::Open, 0, 0);
    auto input = openInput(path, options.partial);
    if (!input)
        return asSentence(input.error());
    // Reading is quick: only unpacking is worth a thread of its own.
    if (input->fileBytes >= worthAThread && input->container != "none")
        input->bytes = readAhead(std::move(input->bytes));
    ByteStream& bytes = *input->bytes;
    constexpr std::size_t headLength = 64U << 10;
    const auto peeked = bytes.peek(headLength);
    const std::string head(reinterpret_cast<const char*>(peeked.data()), std::min(peeked.size(), headLength));
    if (head.empty()) {
        if (const auto damage = bytes.error())
            return asSentence(*damage);
        return Error{ErrorCode::Empty, "The file is empty once it is unpacked.", 0};
    }

    const auto reader = std::ranges::find_if(readers(), [&](const Reader& r) { return r.probe(head); });
    SnapshotBuilder builder;
    builder.source().path = path.string();
    builder.source().name = path.filename().string();
    builder.source().container = input->container;
    builder.source().fileBytes = input->fileBytes;
    std::optional<Error> error
        = reader == readers().end() ? describeForeign(head) : reader->read(bytes, builder, options, job);
    if (error && error->code == ErrorCode::Cancelled)
        return *error;

    const bool packed = input->container != "none";
    std::uint64_t trailing
        = packed || error ? 0 : input->fileBytes - std::min(input->fileBytes, bytes.offset());
    if (packed && (!error || reader != readers().end())) {
        // Strange opcodes in a damaged container are the container's fault.
        const auto damage = drain(bytes, job, trailing);
        if (damage && error && error->message.find(damage->message) == std::string::npos)
            error = Error{damage->code, damage->message, damage->offset, error->partial};
        else if (damage && !error && !builder.source().partial)
            error = judgeDamage(*damage, builder, options);
    }
    if (error)
        return asSentence(*error);
    builder.source().trailingBytes = trailing;
    builder.source().unpackedBytes = packed ? bytes.offset() : input->fileBytes;
    return builder.finish();
}

} // namespace tidemark
