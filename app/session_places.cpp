// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session_places.hpp"

#include "widgets/style/text.hpp"

#include <QFile>

#include <algorithm>

namespace tidemark {

namespace {

namespace fs = std::filesystem;

bool isFile(const fs::path& path)
{
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

/// Whether it may be the one, by size first; an unknown hash fits everything.
bool fits(const report::SessionInput& input, const fs::path& path)
{
    if (input.hash.empty())
        return true;
    std::error_code error;
    if (input.bytes != 0 && fs::file_size(path, error) != input.bytes)
        return false;
    const auto hash = report::contentHash(path);
    return hash && *hash == input.hash;
}

/// Anything in the folder with the same content; empty when there is none.
fs::path byContent(const report::SessionInput& input, const fs::path& folder)
{
    if (input.hash.empty() || input.bytes == 0)
        return {};
    std::error_code error;
    std::vector<fs::path> candidates;
    std::size_t seen = 0;
    for (fs::directory_iterator at(folder, error), end; !error && at != end && seen < mostLookedAt;
         at.increment(error), ++seen) {
        std::error_code ignored;
        if (at->is_regular_file(ignored) && at->file_size(ignored) == input.bytes)
            candidates.push_back(at->path());
    }
    std::sort(candidates.begin(), candidates.end());
    for (const fs::path& path : candidates)
        if (fits(input, path))
            return path;
    return {};
}

} // namespace

FoundInput findInput(const report::SessionInput& input, const fs::path& folder)
{
    const fs::path stored = meantPath(input.path, folder);
    const fs::path beside = folder / stored.filename();
    FoundInput found{FoundInput::State::Missing, stored};
    for (const fs::path& path : {stored, beside}) {
        if (!isFile(path))
            continue;
        if (fits(input, path))
            return {FoundInput::State::Same, path};
        if (found.state == FoundInput::State::Missing)
            found = {FoundInput::State::Differs, path};
    }
    if (const fs::path same = byContent(input, folder); !same.empty())
        return {FoundInput::State::Same, same};
    return found;
}

std::string storedPath(const fs::path& file, const fs::path& folder)
{
    const fs::path inner = file.lexically_normal().lexically_relative(folder.lexically_normal());
    const bool beneath = !inner.empty() && inner != "." && *inner.begin() != "..";
    return beneath ? inner.string() : file.string();
}

fs::path meantPath(const std::string& path, const fs::path& folder)
{
    const fs::path given(path);
    return (given.is_absolute() ? given : folder / given).lexically_normal();
}

fs::path sessionPathFor(std::span<const fs::path> snapshots)
{
    if (snapshots.empty())
        return {};
    const fs::path folder = snapshots.front().parent_path();
    fs::path name = snapshots.front().filename();
    if (snapshots.size() > 1 && folder.has_filename())
        name = folder.filename();
    else
        for (const char* packed : {".gz", ".zst", ".zip"})
            if (name.extension() == packed)
                name = name.stem();
    const fs::path stem = snapshots.size() > 1 ? name : name.stem();
    return folder / (stem.string() + ".tidemark");
}

bool isSessionPath(const QString& path)
{
    return path.endsWith(QStringLiteral(".tidemark"), Qt::CaseInsensitive);
}

fs::path pathOf(const QString& name)
{
    return QFile::encodeName(name).toStdString();
}

QString nameOf(const fs::path& path)
{
    return QFile::decodeName(path.string().c_str());
}

QString shownName(const fs::path& path)
{
    return shownText(path.filename().string());
}

} // namespace tidemark
