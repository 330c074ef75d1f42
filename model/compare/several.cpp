// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/several.hpp"

#include "model/core/byte_sum.hpp"
#include "model/core/text.hpp"
#include "model/core/units.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

namespace tidemark::compare {

namespace {

std::string nameOf(const std::filesystem::path& path)
{
    return path.filename().string();
}

/// Positions of the files whose rank number no other file of the folder has.
std::map<int, std::size_t> byRank(std::span<const std::filesystem::path> files)
{
    std::map<int, std::size_t> ranks;
    std::map<int, std::size_t> seen;
    for (std::size_t i = 0; i < files.size(); ++i)
        if (const auto rank = rankFromName(nameOf(files[i]))) {
            ranks[*rank] = i;
            ++seen[*rank];
        }
    std::erase_if(ranks, [&](const auto& each) { return seen[each.first] > 1; });
    return ranks;
}

class Pairer {
public:
    Pairer(std::span<const std::filesystem::path> a, std::span<const std::filesystem::path> b)
        : m_a(a)
        , m_b(b)
        , m_usedA(a.size())
        , m_usedB(b.size())
    { }

    RankPairs pair()
    {
        const auto ranksB = byRank(m_b);
        for (const auto& [rank, place] : byRank(m_a))
            if (const auto other = ranksB.find(rank); other != ranksB.end())
                add(place, other->second, "rank " + std::to_string(rank));
        for (std::size_t i = 0; i < m_a.size(); ++i)
            for (std::size_t j = 0; j < m_b.size() && !m_usedA[i]; ++j)
                if (!m_usedB[j] && nameOf(m_a[i]) == nameOf(m_b[j]))
                    add(i, j, nameOf(m_a[i]));
        // Those with numbers of their own are other ranks, whatever their place.
        inOrder();
        for (std::size_t i = 0; i < m_a.size(); ++i)
            if (!m_usedA[i])
                m_out.onlyA.push_back(i);
        for (std::size_t j = 0; j < m_b.size(); ++j)
            if (!m_usedB[j])
                m_out.onlyB.push_back(j);
        return std::move(m_out);
    }

private:
    void add(std::size_t i, std::size_t j, std::string label)
    {
        m_usedA[i] = m_usedB[j] = true;
        m_out.pairs.push_back({i, j, std::move(label)});
    }

    static std::size_t nextFree(std::span<const std::filesystem::path> files, const std::vector<bool>& used,
        const std::map<int, std::size_t>& ranks, std::size_t from)
    {
        const auto numbered = [&ranks](std::size_t place) {
            return std::any_of(
                ranks.begin(), ranks.end(), [place](const auto& each) { return each.second == place; });
        };
        while (from < files.size() && (used[from] || numbered(from)))
            ++from;
        return from;
    }

    void inOrder()
    {
        const auto ranksA = byRank(m_a);
        const auto ranksB = byRank(m_b);
        std::size_t i = nextFree(m_a, m_usedA, ranksA, 0);
        std::size_t j = nextFree(m_b, m_usedB, ranksB, 0);
        while (i < m_a.size() && j < m_b.size()) {
            add(i, j, nameOf(m_a[i]) + " / " + nameOf(m_b[j]));
            i = nextFree(m_a, m_usedA, ranksA, i);
            j = nextFree(m_b, m_usedB, ranksB, j);
        }
    }

    std::span<const std::filesystem::path> m_a;
    std::span<const std::filesystem::path> m_b;
    std::vector<bool> m_usedA;
    std::vector<bool> m_usedB;
    RankPairs m_out;
};

std::string right(const std::string& text, std::size_t width)
{
    const auto characters = static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
    return std::string(characters < width ? width - characters : 0, ' ') + text;
}

} // namespace

std::vector<PeakBar> peakBars(std::span<const Side> sides, std::size_t base)
{
    std::vector<PeakBar> bars;
    for (const Side& side : sides) {
        PeakBar bar;
        bar.label = side.name();
        bar.peak = side.peak();
        bar.peakState = side.peakState();
        bar.reservedPeak = side.reservedPeak();
        if (side.phases)
            bar.phase = side.phases->phaseAt(bar.peakState);
        bars.push_back(std::move(bar));
    }
    if (base >= bars.size())
        return bars;
    const PeakBar against = bars[base];
    for (PeakBar& bar : bars) {
        bar.delta = wrappingSubtract(bar.peak, against.peak);
        if (bar.reservedPeak && against.reservedPeak)
            bar.reservedDelta = wrappingSubtract(*bar.reservedPeak, *against.reservedPeak);
    }
    return bars;
}

RankPairs pairRanks(std::span<const std::filesystem::path> a, std::span<const std::filesystem::path> b)
{
    return Pairer(a, b).pair();
}

RankLine rankLine(const std::string& label, const Comparison& comparison)
{
    return {label, comparison.peak, comparison.reservedPeak,
        comparison.verdicts.empty() ? std::string() : comparison.verdicts.front().title};
}

std::optional<std::size_t> FolderComparison::largest() const
{
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < lines.size(); ++i)
        if (!found || std::llabs(lines[i].peak.delta()) > std::llabs(lines[*found].peak.delta()))
            found = i;
    return found;
}

PeakPair FolderComparison::highest() const
{
    PeakPair most;
    for (const RankLine& line : lines) {
        most.a = std::max(most.a, line.peak.a);
        most.b = std::max(most.b, line.peak.b);
    }
    return most;
}

std::string FolderComparison::text() const
{
    std::ostringstream out;
    for (const RankLine& line : lines) {
        out << right(formatBytes(line.peak.a), 12) << " → " << right(formatBytes(line.peak.b), 12)
            << right(line.peak.delta() == 0 ? "0 B" : formatBytesDelta(line.peak.delta()), 13);
        if (line.reservedPeak)
            out << "  reserved "
                << right(
                       line.reservedPeak->delta() == 0 ? "0 B" : formatBytesDelta(line.reservedPeak->delta()),
                       11);
        out << "  " << displayText(line.label, 80) << '\n';
    }
    for (const std::string& name : onlyA)
        out << "only in A: " << displayText(name, 80) << '\n';
    for (const std::string& name : onlyB)
        out << "only in B: " << displayText(name, 80) << '\n';
    if (const auto most = largest()) {
        out << "fullest rank: " << formatBytes(highest().a) << " → " << formatBytes(highest().b) << '\n'
            << "largest difference: " << displayText(lines[*most].label, 80) << ", "
            << displayText(lines[*most].verdict) << '\n';
    }
    return out.str();
}

} // namespace tidemark::compare
