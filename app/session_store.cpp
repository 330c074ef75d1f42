// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session_store.hpp"

#include "model/core/text.hpp"

namespace tidemark {

namespace {

namespace fs = std::filesystem;

/// Calls `change` for every path of a session but those of its inputs.
template <typename Change>
void changeSettings(report::SessionFile& session, const Change& change)
{
    for (std::string* path : {&session.labels, &session.config, &session.env})
        if (!path->empty())
            *path = change(*path);
    for (std::string& path : session.settings)
        path = change(path);
}

/// NAME.tidemark.bak, or the first of .bak2, .bak3, … that is free.
Result<fs::path> keepCopyOf(const fs::path& file)
{
    constexpr int most = 99;
    for (int n = 1; n <= most; ++n) {
        const fs::path copy = file.string() + ".bak" + (n > 1 ? std::to_string(n) : std::string());
        std::error_code error;
        if (fs::exists(copy, error))
            continue;
        fs::copy_file(file, copy, error);
        if (!error)
            return copy;
        return Error{ErrorCode::Io,
            "The session was not saved: its old file could not be copied to "
                + displayText(copy.filename().string()) + " (" + error.message() + ").",
            std::nullopt};
    }
    return Error{ErrorCode::Io, "The session was not saved: there are 99 copies of its old file already.",
        std::nullopt};
}

} // namespace

Result<OpenedSession> openSession(const fs::path& file, fs::path folder)
{
    OpenedSession out;
    std::error_code ignored;
    out.file = fs::absolute(file, ignored).lexically_normal();
    if (folder.empty())
        folder = out.file.parent_path();
    // Before it is read: what is written in between is noticed when saving.
    if (const auto stamp = report::contentHash(out.file))
        out.stamp = *stamp;
    auto read = report::readSession(out.file);
    if (!read)
        return read.error();
    out.session = std::move(read->session);
    out.problems = std::move(read->problems);
    const auto find = [&](report::SessionInput& input) {
        const FoundInput found = findInput(input, folder);
        input.path = found.path.string();
        return found.state;
    };
    for (report::SessionInput& input : out.session.inputs)
        out.inputs.push_back(find(input));
    for (report::SessionInput& input : out.session.compare)
        find(input);
    changeSettings(out.session, [&](const std::string& path) { return meantPath(path, folder).string(); });
    return out;
}

void hashInputs(report::SessionFile& session)
{
    for (auto* list : {&session.inputs, &session.compare})
        for (report::SessionInput& input : *list) {
            std::error_code error;
            const auto size = fs::file_size(input.path, error);
            if (error)
                continue;
            if (const auto hash = report::contentHash(input.path)) {
                input.hash = *hash;
                input.bytes = size;
            }
        }
}

Result<Saved> saveSession(const SaveWish& wish)
{
    Saved out;
    out.session = wish.session;
    hashInputs(out.session);
    std::error_code error;
    const bool there = fs::exists(wish.file, error);
    if (there && wish.stamp) {
        const auto now = report::contentHash(wish.file);
        out.changedOnDisk = !now || *now != *wish.stamp; // an empty stamp: there was none
        if (out.changedOnDisk)
            return out;
    }
    if (there && wish.keepCopy) {
        const auto copy = keepCopyOf(wish.file);
        if (!copy)
            return copy.error();
        out.copy = *copy;
    }
    report::SessionFile stored = out.session;
    const fs::path folder = wish.file.parent_path();
    for (auto* list : {&stored.inputs, &stored.compare})
        for (report::SessionInput& input : *list)
            input.path = storedPath(input.path, folder);
    changeSettings(stored, [&](const std::string& path) { return storedPath(path, folder); });
    if (const auto written = report::writeSession(wish.file, stored); !written)
        return written.error();
    if (const auto stamp = report::contentHash(wish.file))
        out.stamp = *stamp;
    return out;
}

} // namespace tidemark
