// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/diagnosis.hpp"

#include "model/core/counted.hpp"
#include "model/core/units.hpp"
#include "model/findings/estimates.hpp"
#include "model/findings/evidence_units.hpp"
#include "model/findings/rule_tools.hpp"
#include "model/findings/what_if_step.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <set>
#include <tuple>

namespace tidemark {

namespace {

/// Autopsies of a device's out-of-memory events; of very many, the first ones and the last.
std::vector<OomAutopsy> autopsies(
    const Replay& replay, std::optional<std::uint64_t> deviceTotal, const Job& job)
{
    std::vector<OomAutopsy> out;
    const std::vector<OomEvent>& ooms = replay.device().ooms;
    for (std::size_t i = 0; i < ooms.size() && !job.stopped(); ++i)
        if (i + 1 < maxAutopsies || i + 1 == ooms.size())
            out.push_back(autopsy(replay, ooms[i], deviceTotal));
    return out;
}

/// A ring of one event tells no more over time than none (Quality::StateOnly).
constexpr std::size_t fewestEvents = 2;

/// The event without a verdict, as a sentence; empty when there is none.
std::string withoutVerdict(const RuleInput& input)
{
    for (const OomAutopsy& oom : input.ooms)
        if (oom.verdict == Verdict::Unknown)
            return "The out-of-memory event "
                + formatCount(
                    static_cast<std::int64_t>(index(oom.event) + input.replay.device().firstEventInFile))
                + " has no verdict: " + oom.cannotTell + ".";
    return {};
}

/// What a rule needs and the recording does not have; empty when it has all of it.
std::string lacks(const Rule& rule, const RuleInput& input)
{
    const Replay& replay = input.replay;
    if ((rule.needs & needs::history) != 0 && replay.device().events.count() < fewestEvents)
        return "a history of events: switch recording on before the model is built";
    if ((rule.needs & needs::segments) != 0 && !replay.segments.known())
        return "the allocator's segments, which this file does not list";
    if ((rule.needs & needs::verdict) != 0)
        if (std::string why = withoutVerdict(input); !why.empty())
            return why;
    if ((rule.needs & needs::phases) != 0 && !input.phases.firstForward)
        return needsPhases;
    if ((rule.needs & needs::steps) != 0 && stepsOf(input).size() < 2)
        return "at least two complete steps in the recording";
    return {};
}

/// Collects what the rules say of all devices.
class Collector {
public:
    Collector(Diagnosis& out, const DiagnosisOptions& options, std::optional<std::uint64_t> deviceTotal)
        : m_out(out)
        , m_options(options)
        , m_deviceTotal(deviceTotal)
        , m_rules(options.rules ? options.rules : LabelRules::standard())
        , m_facts(*out.rank->snapshot)
    { }

    /// False when stopped.
    bool device(std::size_t at, const Job& job)
    {
        const Rank& rank = *m_out.rank;
        const Replay& replay = *rank.devices[at];
        DeviceDiagnosis& found = m_out.devices.emplace_back();
        found.phases = Phases::build(replay, rank.marks[at], job);
        if (!found.phases)
            return false;
        found.labels = Labels::build(replay, *found.phases, m_rules, job);
        if (!found.labels)
            return false;
        found.ooms = autopsies(replay, m_deviceTotal, job);
        const StateIndex peak = replay.timeline.requested().total().maxState;
        const std::vector<AllocationId> live = replay.timeline.liveAt(peak);
        const RuleInput input{replay, *rank.sites, *rank.rawSites, rank.marks[at], *found.phases,
            *found.labels, m_facts, m_out.config, found.ooms, m_deviceTotal, m_options.rank, peak, live};
        for (const Rule& rule : rules()) {
            if (job.stopped())
                return false;
            run(rule, input, job);
        }
        addWhatIfs(m_out.findings, input, rank.devices[at], job);
        if (job.stopped()) // the last one may have broken off
            return false;
        if (replay.device().ooms.size() > found.ooms.size())
            undecided({"capacity",
                counted(replay.device().ooms.size() - found.ooms.size(), "out-of-memory event was",
                    "out-of-memory events were")
                    + " left aside: the first " + formatCount(static_cast<std::int64_t>(maxAutopsies - 1))
                    + " and the last are judged."});
        return true;
    }

    void finish()
    {
        std::stable_sort(
            m_out.findings.begin(), m_out.findings.end(), [](const Finding& a, const Finding& b) {
                return std::tuple(a.severity, b.bytes) < std::tuple(b.severity, a.bytes);
            });
        for (const Rule& rule : rules())
            if (m_ran.count(rule.id) != 0 && m_spoke.count(rule.id) == 0)
                m_out.clear.emplace_back(rule.id);
    }

private:
    void run(const Rule& rule, const RuleInput& input, const Job& job)
    {
        RuleOutput output;
        rule.run(input, output, job);
        m_ran.insert(rule.id);
        if (output.findings.empty() && output.undecided.empty())
            if (std::string lacking = lacks(rule, input); !lacking.empty())
                output.undecided.push_back({rule.id, std::move(lacking)});
        for (Finding& finding : output.findings) {
            assert(std::all_of(finding.evidence.begin(), finding.evidence.end(),
                [](const Evidence& each) { return evidenceUnit(each.key).has_value(); }));
            m_spoke.insert(finding.rule);
            m_out.findings.push_back(std::move(finding));
        }
        for (Undecided& each : output.undecided)
            undecided(std::move(each));
    }

    void undecided(Undecided each)
    {
        m_spoke.insert(each.rule);
        for (const Undecided& known : m_out.undecided)
            if (known.rule == each.rule && known.needs == each.needs)
                return;
        m_out.undecided.push_back(std::move(each));
    }

    Diagnosis& m_out;
    const DiagnosisOptions& m_options;
    std::optional<std::uint64_t> m_deviceTotal;
    std::shared_ptr<const LabelRules> m_rules;
    const StackFacts m_facts;
    std::set<std::string> m_ran;
    std::set<std::string> m_spoke; ///< rules with a finding or undecided on some device
};

CheckFacts factsOf(const Diagnosis& diagnosis, std::optional<int> rank)
{
    CheckFacts facts = checkFacts(*diagnosis.rank->snapshot);
    if (rank)
        facts.rank = rank;
    facts.loraGatheredInput = std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
        [](const Finding& finding) { return finding.rule == "lora-gathered-input"; });
    return facts;
}

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

/// Position of the GPU whose peak is highest.
std::optional<std::size_t> fullestDevice(const Diagnosis& diagnosis)
{
    std::optional<std::size_t> best;
    std::int64_t most = 0;
    for (std::size_t i = 0; i < diagnosis.devices.size(); ++i) {
        const Replay& replay = *diagnosis.rank->devices[i];
        const std::int64_t peak = replay.timeline.requested().total().max;
        if (replay.device().ordinal >= 0 && replay.states() > 1 && peak > most) {
            best = i;
            most = peak;
        }
    }
    return best;
}

/// The number that begins at `at`; absent when there is none or it is too long to be a rank.
std::optional<int> numberAt(std::string_view text, std::size_t at)
{
    std::size_t end = at;
    while (end < text.size() && isDigit(text[end]))
        ++end;
    constexpr std::size_t longest = 6; // dates and times are longer
    if (end == at || end - at > longest)
        return std::nullopt;
    int number = 0;
    std::from_chars(text.data() + at, text.data() + end, number);
    return number;
}

} // namespace

std::shared_ptr<const Diagnosis> diagnose(
    std::shared_ptr<const Rank> rank, const DiagnosisOptions& options, const Job& job)
{
    auto out = std::make_shared<Diagnosis>();
    out->rank = std::move(rank);
    out->config = options.config;
    out->config.addSnapshot(*out->rank->snapshot);
    std::optional<std::uint64_t> deviceTotal = options.deviceTotal;
    if (const auto stated = out->config.number("hardware.device_total_bytes");
        !deviceTotal && stated && *stated > 0)
        deviceTotal = static_cast<std::uint64_t>(*stated);
    DiagnosisOptions own = options;
    if (!own.rank)
        own.rank = rankFromName(out->rank->snapshot->source.name);
    Collector collector(*out, own, deviceTotal);
    const std::size_t count = out->rank->devices.size();
    for (std::size_t i = 0; i < count; ++i) {
        job.report(Stage::Findings, i, count);
        if (!collector.device(i, job))
            return nullptr;
    }
    collector.finish();
    for (Finding& finding : out->findings)
        finding.firstEventInFile = out->rank->devices[finding.deviceIndex]->device().firstEventInFile;
    if (const auto fullest = fullestDevice(*out))
        out->expectation
            = expectationOf(*out->rank->devices[*fullest], *out->devices[*fullest].labels, out->config);
    out->checks = checkConfig(out->config, factsOf(*out, own.rank));
    job.report(Stage::Findings, count, count);
    return out;
}

std::optional<int> rankFromName(std::string_view fileName)
{
    std::string name(fileName.substr(fileName.find_last_of("/\\") + 1));
    std::transform(name.begin(), name.end(), name.begin(),
        [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    for (std::size_t at = name.find("rank"); at != std::string::npos; at = name.find("rank", at + 1)) {
        std::size_t digits = at + 4;
        if (digits < name.size() && (name[digits] == '-' || name[digits] == '_' || name[digits] == '='))
            ++digits;
        if (const auto rank = numberAt(name, digits))
            return rank;
    }
    // <base>_<rank>.pickle: the number right before the extensions.
    std::size_t end = name.find('.');
    end = end == std::string::npos ? name.size() : end;
    std::size_t first = end;
    while (first > 0 && isDigit(name[first - 1]))
        --first;
    if (first == end || first == 0 || (name[first - 1] != '_' && name[first - 1] != '-'))
        return std::nullopt;
    return numberAt(name, first);
}

} // namespace tidemark
