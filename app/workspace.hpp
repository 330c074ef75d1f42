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
        , loader(std::move(opener))
        , files(session, state, loader, recent)
        , navigator(session, state)
        , search(session, state)
        , diagnoser(session, std::move(rules))
    { }

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
};

} // namespace tidemark
