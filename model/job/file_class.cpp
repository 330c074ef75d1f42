// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/job/file_class.hpp"

#include "model/core/text.hpp"
#include "model/formats/input.hpp"
#include "model/formats/reader.hpp"
#include "model/job/name_rules.hpp"
#include "model/playbook/run_config.hpp"

#include <algorithm>
#include <string>

namespace tidemark {

namespace {

constexpr std::size_t headBytes = 16U << 10;

/// "segments" with a list behind it: other files speak of segments too.
bool listsSegments(std::string_view head)
{
    constexpr std::string_view key = "\"segments\"";
    for (std::size_t at = head.find(key); at != std::string_view::npos; at = head.find(key, at + 1)) {
        const std::size_t value = head.find_first_not_of(" \t\r\n:", at + key.size());
        if (value != std::string_view::npos && head[value] == '[')
            return true;
    }
    return false;
}

/// A text that opens a bracket may be anything; these words stand near the start of what can be drawn.
bool speaksOfMemory(std::string_view head)
{
    constexpr std::string_view words[]
        = {"\"device_traces\"", "\"traceEvents\"", "\"total_size\"", "\"action\"", "memory_viz"};
    return listsSegments(head) || std::ranges::any_of(words, [&](std::string_view word) {
        return head.find(word) != std::string_view::npos;
    });
}

bool isText(std::string_view head)
{
    const std::size_t first = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
    return first != std::string_view::npos
        && (head[first] == '{' || head[first] == '[' || head[first] == '<');
}

} // namespace

ClassifiedFile classifyFile(const std::filesystem::path& file, std::uint64_t bytes, bool namesRank)
{
    const std::string name = file.filename().string();
    if (name.ends_with(digestEnding))
        return {FileClass::Digest, {}};
    // What a stopped task left half written.
    if (isConfigFile(file) || name.find(std::string(digestEnding) + ".") != std::string::npos)
        return {FileClass::Beside, {}};
    const bool named = hasSnapshotExtension(file);
    const auto bad = [&](Error error) {
        return named ? ClassifiedFile{FileClass::Bad, std::move(error)} : ClassifiedFile{};
    };
    if (bytes == 0)
        return bad({ErrorCode::Empty, "The file is empty: 0 bytes. Record it again.", 0});
    auto input = openInput(file, false);
    if (!input)
        return bad(input.error());
    const auto peeked = input->bytes->peek(headBytes);
    const std::string head(
        reinterpret_cast<const char*>(peeked.data()), std::min<std::size_t>(peeked.size(), headBytes));
    const bool read
        = std::ranges::any_of(readers(), [&](const Reader& reader) { return reader.probe(head); });
    if (read && (!isText(head) || named || namesRank || speaksOfMemory(head)))
        return {FileClass::Snapshot, {}};
    if (!head.empty() || !named)
        return bad({ErrorCode::NotASnapshot,
            "The file is no memory snapshot by its first bytes. Give the file that _dump_snapshot wrote.",
            0});
    // Damaged from the start: opening it says how.
    return {FileClass::Snapshot, {}};
}

} // namespace tidemark
