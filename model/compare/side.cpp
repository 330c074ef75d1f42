// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/side.hpp"

#include "model/lens/label_rules.hpp"

namespace tidemark::compare {

std::optional<std::int64_t> Side::reservedPeak() const
{
    const SegmentHistory& segments = replay().segments;
    if (!segments.reservedKnown())
        return std::nullopt;
    return segments.reserved().total().max;
}

RunConfig Side::config() const
{
    if (diagnosis)
        return diagnosis->config;
    RunConfig own;
    own.addSnapshot(*rank->snapshot);
    return own;
}

Side prepared(Side side, const Job& job)
{
    if (side.diagnosis && side.device < side.diagnosis->devices.size()) {
        const DeviceDiagnosis& known = side.diagnosis->devices[side.device];
        if (!side.phases)
            side.phases = known.phases;
        if (!side.labels)
            side.labels = known.labels;
    }
    if (!side.phases)
        side.phases = Phases::build(side.replay(), side.marks(), job);
    if (!side.labels && side.phases)
        side.labels = Labels::build(side.replay(), *side.phases, LabelRules::standard(), job);
    return side;
}

std::pair<std::string, std::string> distinctNames(
    const std::filesystem::path& a, const std::filesystem::path& b)
{
    const std::string nameA = a.filename().string();
    const std::string nameB = b.filename().string();
    if (nameA != nameB)
        return {nameA, nameB};
    std::filesystem::path folderA = a.parent_path();
    std::filesystem::path folderB = b.parent_path();
    while (folderA.has_relative_path() && folderB.has_relative_path()
        && folderA.filename() == folderB.filename()) {
        folderA = folderA.parent_path();
        folderB = folderB.parent_path();
    }
    const auto named = [](const std::filesystem::path& folder, const std::string& name) {
        return folder.has_filename() ? folder.filename().string() + "/" + name : name;
    };
    return {named(folderA, nameA), named(folderB, nameB)};
}

bool sameRun(const Side& a, const Side& b)
{
    return a.rank->snapshot == b.rank->snapshot && a.device == b.device;
}

} // namespace tidemark::compare
