// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/simulate/setting_search.hpp"

#include <algorithm>
#include <tuple>

namespace tidemark {

namespace {

constexpr std::uint64_t mib = 1ULL << 20;

/// Collects changes that differ from what was recorded.
class Changes {
public:
    explicit Changes(const AllocatorSettings& own)
        : m_own(own)
    {
        m_all.push_back({"", own, ""});
    }

    void set(const std::string& text, const std::string& idle = {})
    {
        SettingChange change{text, m_own, idle};
        if (change.settings.apply(text) && !(change.settings == m_own))
            m_all.push_back(std::move(change));
    }
    void drop(const std::string& key)
    {
        SettingChange change{"without " + key, m_own, ""};
        if (change.settings.reset(key) && !(change.settings == m_own))
            m_all.push_back(std::move(change));
    }
    std::vector<SettingChange> take() { return std::move(m_all); }

private:
    const AllocatorSettings& m_own;
    std::vector<SettingChange> m_all;
};

/// The smallest capacity found by halving with which the settings still fit.
Result<std::uint64_t> leastCapacity(
    const Simulation& simulation, WhatIfWish wish, const WhatIf& whole, const Job& job)
{
    std::uint64_t fits = whole.peakReserved;
    std::uint64_t below = std::min(whole.peakAllocated, fits);
    while (fits - below > std::max(32 * mib, fits / 1000)) {
        wish.capacity = below + (fits - below) / 2;
        const Result<WhatIf> tried = simulation.run(wish, job);
        if (!tried)
            return tried.error();
        (tried->fits() ? fits : below) = *wish.capacity;
    }
    return fits;
}

Result<void> predict(SettingTrial& trial, const Simulation& simulation, WhatIfWish wish, const Job& job)
{
    // What is known of the card holds for every capacity that is tried.
    wish.settings = trial.change.settings;
    wish = simulation.filledIn(wish);
    if (!wish.deviceTotal)
        wish.deviceTotal = wish.capacity;
    const Result<WhatIf> whole = simulation.run(wish, job);
    if (!whole)
        return whole.error();
    trial.fits = whole->fits();
    trial.peakReserved = whole->peakReserved;
    trial.idleAtPeak = whole->idleAtPeak;
    trial.counts = whole->counts;
    trial.outOfMemory = whole->outOfMemory;
    trial.servedFailure = whole->servedFailure;
    if (!trial.fits)
        return {};
    const Result<std::uint64_t> needs = leastCapacity(simulation, wish, *whole, job);
    if (!needs)
        return needs.error();
    trial.needs = *needs;
    if (whole->capacity)
        trial.headroom = *whole->capacity - std::min(*whole->capacity, trial.needs);
    return {};
}

/// How far those get that run out; the others all the same.
std::int64_t lastEvent(const SettingTrial& trial)
{
    if (!trial.outOfMemory)
        return 0;
    return trial.outOfMemory->event ? static_cast<std::int64_t>(index(*trial.outOfMemory->event)) : -1;
}

bool better(const SettingTrial& a, const SettingTrial& b)
{
    // Differences below this are not worth a word: then fewer calls of the driver count.
    constexpr std::uint64_t alike = 64 * mib;
    const auto rank = [](const SettingTrial& t) {
        return std::tuple(
            !t.barred.empty(), !t.fits, -lastEvent(t), t.needs / alike, t.peakReserved / alike, t.growths());
    };
    return rank(a) < rank(b);
}

} // namespace

std::vector<SettingChange> singleChanges(const AllocatorSettings& own)
{
    Changes changes(own);
    changes.set(own.expandableSegments ? "expandable_segments:False" : "expandable_segments:True");
    changes.drop("max_split_size_mb");
    for (const char* size : {"64", "128", "256", "512"})
        changes.set(std::string("max_split_size_mb:") + size);
    changes.drop("roundup_power2_divisions");
    for (const char* divisions : {"2", "4", "8", "16"})
        changes.set(std::string("roundup_power2_divisions:") + divisions);
    const char* const noLimit
        = "it acts only together with per_process_memory_fraction, and the recording names none";
    for (const char* share : {"0.6", "0.8"})
        changes.set(std::string("garbage_collection_threshold:") + share, own.memoryFraction ? "" : noLimit);
    for (const char* size : {"32", "64"})
        changes.set(std::string("large_segment_size_mb:") + size);
    return changes.take();
}

Result<std::vector<SettingTrial>> rankSettings(
    const Simulation& simulation, const WhatIfWish& wish, const SettingBar& barred, const Job& job)
{
    std::vector<SettingTrial> trials;
    for (SettingChange& change : singleChanges(simulation.recording().settings)) {
        SettingTrial trial{std::move(change), {}, false, 0, 0, {}, {}, {}, 0, {}};
        trial.barred = trial.change.idle;
        if (trial.barred.empty() && barred && !trial.unchanged())
            trial.barred = barred(trial.change.settings);
        if (trial.barred.empty())
            if (const Result<void> done = predict(trial, simulation, wish, job); !done)
                return done.error();
        trials.push_back(std::move(trial));
    }
    std::stable_sort(trials.begin(), trials.end(), better);
    return trials;
}

const SettingTrial* bestChange(const std::vector<SettingTrial>& ranked)
{
    const auto own = std::find_if(
        ranked.begin(), ranked.end(), [](const SettingTrial& trial) { return trial.unchanged(); });
    if (ranked.empty() || own == ranked.end() || own == ranked.begin())
        return nullptr;
    const SettingTrial& best = ranked.front();
    const bool worth = best.fits && (!own->fits || best.needs + best.needs / 100 <= own->needs);
    return worth ? &best : nullptr;
}

} // namespace tidemark
