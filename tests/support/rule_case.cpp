// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/rule_case.hpp"

#include "model/findings/evidence_units.hpp"

#include <stdexcept>

namespace tidemark::test {

RuleCase::RuleCase(TraceMaker& maker, RunConfig config)
    : m_replay(Replay::build(maker.finish(), 0, Job{}).value())
    , m_marks(pairMarks(*m_replay))
    , m_sites(Sites::build(*m_replay->snapshot, SiteMode::User))
    , m_rawSites(Sites::build(*m_replay->snapshot, SiteMode::Raw))
    , m_phases(Phases::build(*m_replay, m_marks, Job{}))
    , m_labels(Labels::build(*m_replay, *m_phases, LabelRules::standard(), Job{}))
    , m_facts(std::make_shared<const StackFacts>(*m_replay->snapshot))
    , m_config(std::move(config))
    , m_peak(m_replay->timeline.requested().total().maxState)
    , m_live(m_replay->timeline.liveAt(m_peak))
{ }

RuleInput RuleCase::input() const
{
    return {*m_replay, m_sites, m_rawSites, m_marks, *m_phases, *m_labels, *m_facts, m_config, {},
        std::nullopt, std::nullopt, m_peak, m_live};
}

RuleOutput RuleCase::run(std::string_view rule) const
{
    RuleOutput output;
    for (const Rule& each : rules())
        if (rule == each.id)
            each.run(input(), output, Job{});
    for (const Finding& finding : output.findings)
        for (const Evidence& each : finding.evidence)
            if (!evidenceUnit(each.key))
                throw std::logic_error("evidence of " + finding.rule + " without a unit: " + each.key);
    return output;
}

std::int64_t evidenceNumber(const Finding& finding, std::string_view key)
{
    for (const Evidence& each : finding.evidence)
        if (each.key == key && std::holds_alternative<std::int64_t>(each.value))
            return std::get<std::int64_t>(each.value);
    return -1;
}

const Fix* fixOf(const Finding& finding, std::string_view id)
{
    for (const Fix& fix : finding.fixes)
        if (fix.id == id)
            return &fix;
    return nullptr;
}

} // namespace tidemark::test
