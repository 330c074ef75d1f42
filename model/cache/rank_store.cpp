// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/cache/rank_store.hpp"

#include "model/cache/cache_access.hpp"

#include <algorithm>

namespace tidemark {

bool storeRank(PackedWriter& out, const Rank& rank, const Job& job)
{
    // The same functions read and write; writing changes nothing.
    auto& snapshot = const_cast<Snapshot&>(*rank.snapshot);
    CacheAccess::file(out, snapshot);
    for (std::size_t i = 0; i < snapshot.devices.size(); ++i) {
        if (job.stopped() || !out.good())
            return false;
        CacheAccess::replay(out, const_cast<Replay&>(*rank.devices[i]), snapshot.devices[i], snapshot);
    }
    return out.good() && !job.stopped();
}

std::shared_ptr<const Rank> loadRank(PackedReader& in, const Source& source, const Job& job)
{
    auto snapshot = std::make_shared<Snapshot>();
    CacheAccess::file(in, *snapshot);
    snapshot->source.path = source.path;
    snapshot->source.name = source.name;
    snapshot->source.fileBytes = source.fileBytes;
    auto rank = std::make_shared<Rank>();
    for (std::size_t i = 0; in.good() && i < snapshot->devices.size(); ++i) {
        if (job.stopped())
            return nullptr;
        job.report(Stage::Read, i, snapshot->devices.size());
        auto replay = std::make_shared<Replay>();
        replay->snapshot = snapshot;
        replay->deviceIndex = i;
        CacheAccess::replay(in, *replay, snapshot->devices[i], *snapshot);
        if (!in.good() || !CacheAccess::fits(*replay, snapshot->devices[i], *snapshot))
            return nullptr;
        CacheAccess::finish(*replay, snapshot->devices[i]);
        rank->devices.push_back(std::move(replay));
    }
    if (!in.atEnd() || !CacheAccess::fits(*snapshot))
        return nullptr;
    rank->snapshot = snapshot;
    for (const auto& replay : rank->devices)
        rank->marks.push_back(pairMarks(*replay));
    rank->sites = std::make_shared<const Sites>(Sites::build(*snapshot, SiteMode::User));
    rank->rawSites = std::make_shared<const Sites>(Sites::build(*snapshot, SiteMode::Raw));
    return rank;
}

} // namespace tidemark
