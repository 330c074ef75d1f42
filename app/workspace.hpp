// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/comparer.hpp"
#include "app/diagnoser.hpp"
#include "app/files.hpp"
#include "app/loader.hpp"
#include "app/navigator.hpp"
#include "app/recent_files.hpp"
#include "app/search.hpp"
#include "app/settings.hpp"
#include "widgets/notes/notes_state.hpp"
#include "widgets/session.hpp"
#include "widgets/view_state.hpp"

namespace tidemark {

class FileCache;

/// Everything a window works on; outlives its widgets. GUI thread.
struct Workspace {
    explicit Workspace(
        Settings& settings, Loader::Opener opener = openRank, Diagnoser::Rules rules = diagnose)
        : recent(settings)
        , comparer(session, opener, rules)
        , loader(withLookups(std::move(opener)))
        , files(session, state, loader, recent)
        , navigator(session, state)
        , search(session, state)
        , diagnoser(session, std::move(rules))
    {
        diagnoser.setLookups([this] {
            return needsLabels(state.colourBy()) ? LookupWish{{}, {state.colourBy()}} : LookupWish{};
        });
    }

    /// Where opened files are kept, for the settings; null when nowhere.
    FileCache* cache = nullptr;
    Session session;
    ViewState state;
    NotesState notes; ///< about all files that are open
    RecentFiles recent;
    Comparer comparer;
    Loader loader;
    Files files;
    Navigator navigator;
    Search search;
    Diagnoser diagnoser;

private:
    /// What the views ask for first is made where the file is opened.
    Loader::Opener withLookups(Loader::Opener opener)
    {
        return [this, opener = std::move(opener)](
                   const std::filesystem::path& path, const ReadOptions& options, const Job& job) {
            auto rank = opener(path, options, job);
            if (rank.ok() && *rank && !job.stopped())
                session.offer(Lookups::make(LookupSource::of(**rank), {{GroupBy::Site}, {ColourBy::Site}}));
            return rank;
        };
    }
};

} // namespace tidemark
