// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/comparison.hpp"
#include "model/compare/verdict_words.hpp"
#include "model/core/counted.hpp"
#include "model/core/text.hpp"
#include "model/core/units.hpp"

#include <algorithm>
#include <sstream>

namespace tidemark::compare {

namespace {

/// Lines of one kind listed at most; the rest is counted.
constexpr std::size_t mostLines = 3;
constexpr std::size_t mostNotes = 2;

std::string right(const std::string& text, std::size_t width)
{
    const auto characters = static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
    return std::string(characters < width ? width - characters : 0, ' ') + text;
}

std::string eventText(const Side& side, StateIndex state)
{
    const std::int64_t event = momentOf(state) + side.replay().device().firstEventInFile;
    return event < 0 ? std::string("before the first event") : "after event " + formatCount(event);
}

std::string whereText(const Side& side, StateIndex state)
{
    std::string text;
    if (!side.phases)
        return text;
    if (const Step* step = side.phases->stepAt(state))
        text = displayText(step->name, 40);
    if (const Phase phase = side.phases->phaseAt(state); phase != Phase::Unknown)
        text.append(text.empty() ? "" : ", ").append(phaseName(phase));
    return text.empty() ? text : " (" + text + ")";
}

void sideLine(std::ostream& out, const char* letter, const Side& side)
{
    const StateIndex peak = side.peakState();
    out << letter << "  " << displayText(side.name(), 80) << ", "
        << deviceName(side.replay().device().ordinal) << ": peak " << formatBytes(side.peak()) << ' '
        << eventText(side, peak) << whereText(side, peak) << ", reserved "
        << (side.reservedPeak() ? formatBytes(*side.reservedPeak()) : "unknown") << '\n';
}

/// "3 more sites", "1 more site"; without a middle word "3 sites".
std::string groupsText(std::size_t count, const std::string& middle, GroupBy by)
{
    const std::string one = middle
        + (by == GroupBy::Site         ? "site"
                : by == GroupBy::Stack ? "stack"
                : by == GroupBy::Label ? "module"
                : by == GroupBy::Role  ? "role"
                                       : "group");
    return counted(count, one.c_str(), (one + "s").c_str());
}

class TextWriter {
public:
    TextWriter(const Comparison& comparison, std::size_t top)
        : m_c(comparison)
        , m_top(top)
    { }

    std::string text()
    {
        sideLine(m_out, "A", m_c.a);
        sideLine(m_out, "B", m_c.b);
        headline();
        rows();
        verdictLines();
        settingLines();
        m_out << "aligned     " << m_c.alignment.explanation() << '\n';
        m_out << "matched     " << m_c.table.matchedText().substr(std::string("Matched: ").size()) << '\n';
        list("note        ", m_c.notes, mostNotes);
        return m_out.str();
    }

private:
    bool atPeaks() const
    {
        return m_c.table.scopeA.first == m_c.peakStateA && m_c.table.scopeB.first == m_c.peakStateB;
    }

    void headline()
    {
        if (!atPeaks())
            m_out << "A " << eventText(m_c.a, m_c.table.scopeA.first) << " against B "
                  << eventText(m_c.b, m_c.table.scopeB.first) << ": " << formatBytesDelta(m_c.table.delta)
                  << '\n';
        if (m_c.verdicts.empty())
            return;
        m_out << m_c.verdicts.front().title;
        if (const std::int64_t delta = m_c.peak.delta(); delta != 0) {
            const double share
                = m_c.peak.a > 0 ? static_cast<double>(delta) / static_cast<double>(m_c.peak.a) : 0;
            m_out << ": " << (delta > 0 ? "+" : "−") << formatPercent(share < 0 ? -share : share) << ", "
                  << formatExactBytes(delta);
        }
        if (m_c.reservedPeak)
            m_out << "; reserved "
                  << (m_c.reservedPeak->delta() == 0 ? std::string("equal")
                                                     : formatBytesDelta(m_c.reservedPeak->delta()));
        m_out << '\n';
    }

    void row(std::int64_t delta, const std::string& text, const char* status)
    {
        m_out << right(delta == 0 ? "0 B" : formatBytesDelta(delta), 12) << "  " << right(status, 6) << "  "
              << text << '\n';
    }

    void rows()
    {
        const VerdictInput words{
            m_c.a, m_c.b, *m_c.matching, m_c.table, m_c.alignment, m_c.findings, m_c.settings};
        std::int64_t rest = 0;
        std::size_t more = 0;
        std::size_t equal = 0;
        std::size_t listed = 0;
        for (const Row& each : m_c.table.rows) {
            if (each.delta == 0 && each.status == RowStatus::Same) {
                ++equal;
            } else if (listed < m_top) {
                ++listed;
                row(each.delta, rowText(words, each), statusName(each.status));
            } else {
                ++more;
                rest += each.delta;
            }
        }
        if (more > 0)
            row(rest, groupsText(more, "more ", m_c.matching->by), "");
        row(m_c.table.delta,
            std::string("= difference of the curves ")
                + (atPeaks() ? "at the two peaks" : "at the two moments")
                + "; equal: " + groupsText(equal, listed > 0 ? "other " : "", m_c.matching->by),
            "");
        if (m_c.oneRun)
            m_out << "freed "
                  << formatBytes(static_cast<std::int64_t>(m_c.table.bytesA - m_c.table.bytesSurvived))
                  << ", appeared "
                  << formatBytes(static_cast<std::int64_t>(m_c.table.bytesB - m_c.table.bytesSurvived))
                  << ", survived " << formatBytes(static_cast<std::int64_t>(m_c.table.bytesSurvived)) << '\n';
    }

    void verdictLines()
    {
        std::vector<std::string> lines;
        for (std::size_t i = 1; i < m_c.verdicts.size(); ++i) {
            const Verdict& verdict = m_c.verdicts[i];
            if (verdict.kind == VerdictKind::NothingElse)
                continue;
            std::string line = displayText(verdict.title);
            if (!verdict.detail.empty())
                line += (line.ends_with('.') ? " " : ". ") + displayText(verdict.detail);
            lines.push_back(std::move(line));
        }
        list("why         ", lines);
    }

    void settingLines()
    {
        std::vector<std::string> lines;
        for (const SettingChange& each : m_c.settings.differing)
            lines.push_back(
                displayText(each.key, 80) + " " + settingText(each.a) + " → " + settingText(each.b));
        list("setting     ", lines);
    }

    void list(const char* head, const std::vector<std::string>& lines, std::size_t most = mostLines)
    {
        for (std::size_t i = 0; i < std::min(lines.size(), most); ++i)
            m_out << head << displayText(lines[i]) << '\n';
        if (lines.size() > most)
            m_out << head << "and " << formatCount(static_cast<std::int64_t>(lines.size() - most))
                  << " more (--json lists all)\n";
    }

    const Comparison& m_c;
    std::size_t m_top;
    std::ostringstream m_out;
};

} // namespace

std::string compareText(const Comparison& comparison, std::size_t top)
{
    return TextWriter(comparison, top).text();
}

} // namespace tidemark::compare
