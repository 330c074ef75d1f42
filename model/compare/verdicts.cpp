// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/verdicts.hpp"

#include "model/compare/curves.hpp"
#include "model/compare/group_facts.hpp"
#include "model/compare/verdict_words.hpp"
#include "model/core/byte_sum.hpp"
#include "model/core/text.hpp"
#include "model/core/units.hpp"
#include "model/lens/group_maxima.hpp"

#include <cstdlib>

namespace tidemark::compare {

namespace {

constexpr std::size_t listedParts = 4;
constexpr std::size_t mostFindings = 3;

constexpr std::array<const char*, 11> names{"same", "peak", "instants", "peak-moved", "elsewhere", "reserved",
    "pools", "finding-gone", "finding-new", "nothing-else", "speed"};

class VerdictMaker {
public:
    explicit VerdictMaker(const VerdictInput& input)
        : m_in(input)
        , m_peakA(input.a.peak())
        , m_peakB(input.b.peak())
        , m_delta(wrappingSubtract(m_peakB, m_peakA))
    { }

    std::vector<Verdict> make()
    {
        if (!same()) {
            peak();
            peakMoved();
        }
        elsewhere();
        for (auto about : {reservedVerdict, poolsVerdict})
            if (std::optional<Verdict> verdict = about(m_in))
                m_out.push_back(std::move(*verdict));
        findings();
        nothingElse();
        return std::move(m_out);
    }

private:
    Verdict& add(VerdictKind kind, std::int64_t change, std::string title)
    {
        return m_out.emplace_back(verdictOf(kind, change, std::move(title)));
    }

    bool rowsEqual() const
    {
        return std::all_of(m_in.atPeaks.rows.begin(), m_in.atPeaks.rows.end(),
            [](const Row& row) { return row.bytesA == row.bytesB && row.allocationsA == row.allocationsB; });
    }

    bool same()
    {
        if (m_delta != 0 || !rowsEqual() || m_in.a.reservedPeak() != m_in.b.reservedPeak())
            return false;
        const CurveColumn live = wholeCurve(m_in.alignment, Curve::Live);
        const bool everywhere
            = live.minDelta == 0 && live.maxDelta == 0 && m_in.alignment.unmatched().empty();
        Verdict& verdict = add(VerdictKind::Same, 0,
            !everywhere                           ? "The peaks are the same to the byte"
                : m_in.settings.differing.empty() ? "The runs are the same"
                                                  : "Memory is the same at every moment; settings differ");
        verdict.detail = everywhere
            ? "Equal at every aligned moment: live memory, and every group at the peak of "
                + formatBytes(m_peakA) + "."
            : "Elsewhere live memory differs by " + formatBytesDelta(live.minDelta) + " to "
                + formatBytesDelta(live.maxDelta) + ".";
        return true;
    }

    void peak()
    {
        std::string title = m_delta == 0
            ? "Both peak at " + formatBytes(m_peakA)
            : "B peaks " + sizeText(m_delta) + (m_delta > 0 ? " higher" : " lower");
        if (m_delta == 0)
            title += rowsEqual() ? ", with the same content" : ", but with different content";
        Verdict& verdict = add(VerdictKind::Peak, m_delta, std::move(title));
        verdict.parts = rowParts(m_in, listedParts, m_allListed);
        verdict.sum = sumOf(verdict.parts);
        verdict.detail = partsText(m_in, verdict.parts);
    }

    void peakMoved()
    {
        if (!m_in.a.phases || !m_in.b.phases || sameRun(m_in.a, m_in.b))
            return;
        const Phase from = m_in.a.phases->phaseAt(m_in.a.peakState());
        const Phase to = m_in.b.phases->phaseAt(m_in.b.peakState());
        if (from == Phase::Unknown || to == Phase::Unknown || from == to)
            return;
        Verdict& verdict = add(VerdictKind::PeakMoved, m_delta,
            "The peak moved from " + phaseText(from) + " to " + phaseText(to));
        bool all = false;
        verdict.parts = rowParts(m_in, listedParts, all);
        verdict.sum = sumOf(verdict.parts);
        const bool fell = m_delta < 0;
        const auto main = std::find_if(verdict.parts.begin(), verdict.parts.end(),
            [fell](const VerdictPart& part) { return part.bytes != 0 && (part.bytes < 0) == fell; });
        if (main != verdict.parts.end()) {
            const std::string text
                = main->group == CommonGroup::none ? main->text : m_in.matching.groups[main->group].name;
            verdict.title += ": " + formatBytesDelta(main->bytes) + " " + displayText(text, 100);
            if (std::llabs(main->bytes) > std::llabs(m_delta))
                verdict.title += std::string(", but the peak ") + (fell ? "fell" : "rose") + " only "
                    + sizeText(m_delta);
        }
        verdict.detail
            = (fell ? "Next limit: " : "New limit: ") + formatBytes(m_peakB) + " in " + phaseText(to) + ".";
    }

    /// Highest live bytes of each role over the recording.
    static std::vector<std::uint64_t> rolesOf(const Side& side)
    {
        std::vector<std::uint32_t> groupOf;
        groupOf.reserve(side.labels->roleOf.size());
        for (const Role role : side.labels->roleOf)
            groupOf.push_back(static_cast<std::uint32_t>(role));
        return groupMaxima(side.replay().timeline, groupOf, roles, {});
    }

    void elsewhere()
    {
        if (!m_in.a.labels || !m_in.b.labels || sameRun(m_in.a, m_in.b))
            return;
        const std::vector<std::uint64_t> highestA = rolesOf(m_in.a);
        const std::vector<std::uint64_t> highestB = rolesOf(m_in.b);
        const std::int64_t least = std::max(leastVerdictBytes, std::max(m_peakA, m_peakB) / 20);
        Role most = Role::Unknown;
        std::int64_t change = 0;
        for (std::size_t i = 0; i < roles; ++i) {
            const auto role = static_cast<Role>(i);
            const std::int64_t own = wrappingSubtract(
                static_cast<std::int64_t>(highestB[i]), static_cast<std::int64_t>(highestA[i]));
            const bool counts = role != Role::Unknown && role != Role::Predating;
            // The peak took part in less than half of it; one that went the other way by more has other
            // reasons.
            const bool apart = (own < 0 ? m_delta > own / 2 : m_delta < own / 2)
                && ((own < 0) == (m_delta < 0) || std::llabs(own) > std::llabs(m_delta));
            if (counts && apart && std::llabs(own) >= least && std::llabs(own) > std::llabs(change)) {
                most = role;
                change = own;
            }
        }
        if (change == 0)
            return;
        const Phase phase = m_in.b.phases ? m_in.b.phases->phaseAt(m_in.b.peakState()) : Phase::Unknown;
        std::string title = std::string(roleName(most)) + " " + formatBytesDelta(change)
            + " at its own highest, but the peak ";
        title.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(title.front())));
        title += m_delta == 0 ? "is the same"
                              : std::string(m_delta < 0 ? "fell" : "rose")
                + ((m_delta < 0) == (change < 0) ? " only " : " ") + sizeText(m_delta);
        if (phase != Phase::Unknown)
            title += ": it is in " + phaseText(phase);
        Verdict& verdict = add(VerdictKind::Elsewhere, 0, std::move(title));
        verdict.parts.push_back({std::string(roleName(most)) + ", highest over the recording", change});
        verdict.sum = change;
    }

    void findings()
    {
        std::size_t listed = 0;
        std::string cost;
        for (const FindingChange& each : m_in.findings) {
            if ((each.inA && each.inB) || each.severity == Severity::Info || listed == mostFindings)
                continue;
            ++listed;
            const bool gone = each.inA.has_value();
            const Finding& finding
                = gone ? m_in.a.diagnosis->findings[*each.inA] : m_in.b.diagnosis->findings[*each.inB];
            Verdict& verdict = add(gone ? VerdictKind::FindingGone : VerdictKind::FindingNew, gone ? -1 : 1,
                (gone ? "Gone in B: " : "New in B: ") + finding.title);
            verdict.detail = finding.rule + (finding.playbook.empty() ? "" : ", playbook " + finding.playbook)
                + ", " + formatBytes(static_cast<std::int64_t>(finding.bytes));
            if (!finding.site.empty())
                verdict.detail += ", " + displayText(finding.site, 100);
            for (const Fix& fix : finding.fixes)
                if (gone && cost.empty())
                    cost = fix.cost;
        }
        if (!cost.empty())
            add(VerdictKind::Speed, 0, "Speed is not in a snapshot").detail = "Elsewhere: " + cost;
    }

    void nothingElse()
    {
        if (m_in.atPeaks.rows.empty() || !m_allListed || rowsEqual())
            return;
        const auto equal = static_cast<std::size_t>(std::count_if(m_in.atPeaks.rows.begin(),
            m_in.atPeaks.rows.end(), [](const Row& row) { return row.bytesA == row.bytesB; }));
        if (equal > 0)
            add(VerdictKind::NothingElse, 0, "Nothing else changed at the peak").detail
                = formatCount(static_cast<std::int64_t>(equal))
                + (equal == 1 ? " other group is" : " other groups are") + " the same to the byte.";
    }

    const VerdictInput& m_in;
    std::int64_t m_peakA;
    std::int64_t m_peakB;
    std::int64_t m_delta;
    bool m_allListed = false;
    std::vector<Verdict> m_out;
};

} // namespace

const char* verdictName(VerdictKind kind)
{
    return names[static_cast<std::size_t>(kind)];
}

std::vector<Verdict> verdicts(const VerdictInput& input)
{
    return VerdictMaker(input).make();
}

std::vector<Verdict> verdictsOfInstants(const VerdictInput& input)
{
    const Table& table = input.atPeaks;
    Verdict verdict = verdictOf(VerdictKind::Instants, table.delta,
        table.delta == 0 ? std::string("As much is live at both moments")
            : table.oneRun
            ? sizeText(table.delta) + (table.delta > 0 ? " more" : " less") + " at the second moment"
            : "B holds " + sizeText(table.delta) + (table.delta > 0 ? " more" : " less") + " at its moment");
    bool all = false;
    verdict.parts = rowParts(input, listedParts, all);
    verdict.sum = sumOf(verdict.parts);
    if (table.oneRun)
        verdict.detail = formatBytes(static_cast<std::int64_t>(table.bytesB - table.bytesSurvived))
            + " appeared, " + formatBytes(static_cast<std::int64_t>(table.bytesA - table.bytesSurvived))
            + " was freed, " + formatBytes(static_cast<std::int64_t>(table.bytesSurvived)) + " survived.";
    else
        verdict.detail = partsText(input, verdict.parts);
    return {std::move(verdict)};
}

} // namespace tidemark::compare
