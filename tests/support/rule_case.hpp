// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/rule.hpp"
#include "tests/support/trace_maker.hpp"

#include <memory>
#include <string_view>

namespace tidemark::test {

/// A trace written by hand with what rules are given beside it.
class RuleCase {
public:
    explicit RuleCase(TraceMaker& maker, RunConfig config = {});

    /// What one rule says of it.
    RuleOutput run(std::string_view rule) const;
    const Replay& replay() const { return *m_replay; }
    const Phases& phases() const { return *m_phases; }
    const Labels& labels() const { return *m_labels; }
    RuleInput input() const;

private:
    std::shared_ptr<const Replay> m_replay;
    std::vector<Mark> m_marks;
    Sites m_sites;
    Sites m_rawSites;
    std::shared_ptr<const Phases> m_phases;
    std::shared_ptr<const Labels> m_labels;
    std::shared_ptr<const StackFacts> m_facts;
    RunConfig m_config;
    StateIndex m_peak = 0;
    std::vector<AllocationId> m_live;
};

/// The number behind an evidence key; −1 when there is none.
std::int64_t evidenceNumber(const Finding& finding, std::string_view key);
const Fix* fixOf(const Finding& finding, std::string_view id);

} // namespace tidemark::test
