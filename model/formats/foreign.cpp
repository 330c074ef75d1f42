// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/foreign.hpp"

#include "model/core/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace tidemark {

namespace {

struct Signature {
    std::size_t offset;
    std::string_view bytes;
    const char* what;
    /// What to do about it; empty: record a snapshot.
    const char* instead;
};

using namespace std::string_view_literals;

constexpr const char* fromSnapshot = "Open the snapshot (.pickle) it was made from";
constexpr const char* checkpoint
    = "Weights hold no history of the allocator; record a memory snapshot while the program runs";
constexpr const char* unpack = "Unpack it and open the file inside";

constexpr std::array signatures{
    Signature{0, "\x89PNG\r\n\x1a\n"sv, "a PNG picture", fromSnapshot},
    Signature{0, "\xff\xd8\xff"sv, "a JPEG picture", fromSnapshot},
    Signature{0, "GIF8"sv, "a GIF picture", fromSnapshot},
    Signature{8, "WEBP"sv, "a WebP picture", fromSnapshot},
    Signature{0, "%PDF-"sv, "a PDF document", fromSnapshot},
    Signature{0, "%!PS"sv, "a PostScript document", fromSnapshot},
    Signature{0, "SQLite format 3\0"sv, "an SQLite database, such as Nsight Systems exports",
        "Nsight does not record PyTorch's allocator; record a memory snapshot in the program itself"},
    Signature{0,
        "\x7f"
        "ELF"sv,
        "an ELF program or library", ""},
    Signature{0, "MZ"sv, "a Windows program or library", ""},
    Signature{0, "\x93NUMPY"sv, "a NumPy array", ""},
    Signature{0, "\x89HDF\r\n"sv, "an HDF5 file", checkpoint},
    Signature{0, "GGUF"sv, "a GGUF model", checkpoint},
    Signature{0, "PAR1"sv, "a Parquet table", ""},
    Signature{0, "ARROW1"sv, "an Arrow table", ""},
    Signature{257, "ustar"sv, "a tar archive", unpack},
    Signature{0,
        "\xfd"
        "7zXZ\0"sv,
        "an xz-compressed file", unpack},
    Signature{0, "BZh"sv, "a bzip2-compressed file", unpack},
    Signature{0, "\x04\x22\x4d\x18"sv, "an LZ4-compressed file", unpack},
    Signature{0, "7z\xbc\xaf\x27\x1c"sv, "a 7-Zip archive", unpack},
    Signature{0, "Rar!\x1a\x07"sv, "a RAR archive", unpack},
    Signature{0, "version https://git-lfs"sv,
        "a Git LFS pointer, a text of a few lines that stands for the real file",
        "Fetch the file itself with \"git lfs pull\""},
    Signature{0, "\xff\xfe"sv, "a UTF-16 text", "If it holds a snapshot as JSON, save it as UTF-8"},
    Signature{0, "\xfe\xff"sv, "a UTF-16 text", "If it holds a snapshot as JSON, save it as UTF-8"},
};

bool startsLike(std::string_view head, const Signature& signature)
{
    return head.size() >= signature.offset + signature.bytes.size()
        && head.substr(signature.offset, signature.bytes.size()) == signature.bytes;
}

/// A safetensors file begins with the length of its JSON header in eight bytes.
bool isSafetensors(std::string_view head)
{
    if (head.size() < 10 || head[8] != '{' || (head[9] != '"' && head[9] != '}' && head[9] != ' '))
        return false;
    std::uint64_t length = 0;
    for (std::size_t i = 8; i-- > 0;)
        length = length << 8 | static_cast<unsigned char>(head[i]);
    return length >= 2 && length < (1ULL << 32);
}

bool isSvg(std::string_view head)
{
    const std::size_t start = head.find_first_not_of(" \t\r\n\xef\xbb\xbf"sv);
    return start != std::string_view::npos && head[start] == '<'
        && head.find("<svg") != std::string_view::npos && head.find("<html") == std::string_view::npos
        && head.find("<HTML") == std::string_view::npos;
}

std::string hexOf(std::string_view bytes)
{
    static constexpr char digits[] = "0123456789abcdef";
    std::string out;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        out += out.empty() ? "" : " ";
        out += digits[byte >> 4];
        out += digits[byte & 15];
    }
    return out;
}

} // namespace

const char* recordingAdvice()
{
    return "record one with torch.cuda.memory._record_memory_history() and "
           "torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")";
}

Error notASnapshot(std::string_view what, std::string_view instead)
{
    std::string message = "This is " + std::string(what) + ", not a memory snapshot. ";
    if (instead.empty())
        message += std::string("To see how memory was used, ") + recordingAdvice() + ".";
    else
        message += std::string(instead) + (instead.ends_with('.') ? "" : ".");
    return {ErrorCode::NotASnapshot, message, std::nullopt};
}

bool looksLikeText(std::string_view head)
{
    if (head.empty())
        return false;
    std::size_t control = 0;
    for (const char c : head) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte == 0)
            return false;
        control += byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t' && byte != 0x1b ? 1 : 0;
    }
    if (control * 50 > head.size())
        return false;
    for (std::size_t cut = 0; cut < 4 && cut < head.size(); ++cut)
        if (isValidUtf8(head.substr(0, head.size() - cut)))
            return true;
    return false;
}

std::optional<Error> recognisedForeign(std::string_view head)
{
    for (const Signature& signature : signatures)
        if (startsLike(head, signature))
            return notASnapshot(signature.what, signature.instead);
    if (isSvg(head))
        return notASnapshot(
            "an SVG picture", "If it was made from a snapshot, open the .pickle it was made from");
    if (isSafetensors(head))
        return notASnapshot("a safetensors file", checkpoint);
    if (head.size() >= 16 && head.find_first_not_of('\0') == std::string_view::npos)
        return notASnapshot("a file of zero bytes only, as an interrupted write leaves it",
            "Copy it again, or dump the snapshot again");
    return std::nullopt;
}

Error describeForeign(std::string_view head)
{
    if (head.empty())
        return {ErrorCode::Empty,
            "The file is empty (0 bytes): the dump was interrupted or never written. Record it again.",
            std::nullopt};
    if (auto known = recognisedForeign(head))
        return *known;
    if (looksLikeText(head))
        return notASnapshot(head.starts_with("<?xml") ? "an XML text" : "a plain text file, such as a log");
    return notASnapshot(
        "a file of an unknown binary format (it begins with " + hexOf(head.substr(0, 8)) + ")");
}

} // namespace tidemark
