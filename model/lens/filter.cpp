// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/filter.hpp"

#include <algorithm>

namespace tidemark {

namespace {

template <typename T>
bool holds(int compare, T value, T bound)
{
    switch (compare) {
    case 0:
        return value < bound;
    case 1:
        return value <= bound;
    case 2:
        return value == bound;
    case 3:
        return value >= bound;
    default:
        return value > bound;
    }
}

} // namespace

/// Tests allocations against one term; answers for frames, stacks and sites are remembered.
class Filter::Matcher {
public:
    Matcher(const Term& term, const FilterContext& context)
        : m_term(term)
        , m_context(context)
        , m_replay(context.replay)
        , m_sites(context.sites)
        , m_snapshot(*context.replay.snapshot)
    {
        const Field field = term.field;
        if (field == Field::Text || field == Field::Site || field == Field::File)
            m_stacks.assign(m_snapshot.stacks.size(), unasked);
        if (field == Field::Text || field == Field::File)
            m_frames.assign(m_snapshot.frames.size(), unasked);
        if (field == Field::Text)
            findMetadata();
        for (std::uint32_t i = 0; i < m_sites.count() && field == Field::Site && !m_wholeSite; ++i)
            m_wholeSite = m_sites.name(SiteId{i}) == term.word;
        if (field == Field::Finding && context.findings)
            m_flags = context.findings(term.word);
        if (field == Field::Label && context.labels)
            for (const std::string& name : context.labels->modules)
                m_modules.push_back(term.text(name) ? 1 : 0);
    }

    bool operator()(AllocationId id)
    {
        const AllocationColumns& a = m_replay.timeline.allocations();
        const std::size_t i = index(id);
        const int compare = static_cast<int>(m_term.compare);
        switch (m_term.field) {
        case Field::Address:
            return a.address[i] <= m_term.number
                && m_term.number - a.address[i] < std::max<std::uint64_t>(1, a.size[i]);
        case Field::Size:
            return holds(compare, a.size[i], m_term.number);
        case Field::Age:
            return testAge(id);
        case Field::Stream:
            return valid(a.stream[i]) && m_snapshot.streams[index(a.stream[i])] == m_term.first;
        case Field::Pool:
            return valid(a.pool[i])
                && m_snapshot.pools[index(a.pool[i])] == std::pair{m_term.first, m_term.second};
        case Field::Device:
            return m_replay.device().ordinal == m_term.first;
        case Field::State:
            return m_term.word == "live" ? a.endState[i] >= m_replay.states()
                : m_term.word == "freed" ? a.endState[i] < m_replay.states()
                                         : a.origin[i] != Origin::Traced;
        case Field::Event:
            return testEvent(id);
        case Field::Finding:
            return m_flags && i < m_flags->size() && (*m_flags)[i] != 0;
        case Field::Label:
            return testLabel(id);
        case Field::RoleName:
            return m_context.labels && m_term.text(roleName(m_context.labels->role(id)));
        case Field::Text:
        case Field::Site:
        case Field::File:
            break;
        }
        return testText(id);
    }

private:
    static constexpr std::uint8_t unasked = 2;

    bool testText(AllocationId id)
    {
        const StackId stack = m_replay.timeline.allocations().stack[index(id)];
        if (!m_metadata.empty() && m_metadata[index(id)] != 0)
            return true;
        // A recorded stack without frames has no site either; what such memory is called depends on its
        // origin.
        if (!valid(m_sites.of(stack)))
            return m_term.field != Field::File && m_term.text(allocationSite(m_replay, m_sites, id));
        std::uint8_t& known = m_stacks[index(stack)];
        if (known == unasked)
            known = testStack(stack) ? 1 : 0;
        return known == 1;
    }

    bool testAge(AllocationId id) const
    {
        const AllocationColumns& a = m_replay.timeline.allocations();
        const auto from = m_replay.timeUs(a.firstState[index(id)]);
        const StateIndex last = std::min(a.endState[index(id)], m_replay.states() - 1);
        const auto to = m_replay.timeUs(last);
        if (!from || !to)
            return false;
        const std::uint64_t life = *to > *from ? static_cast<std::uint64_t>(*to - *from) : 0;
        return holds(static_cast<int>(m_term.compare), life, m_term.number);
    }

    /// Events count as in the file; state s follows event s − 1.
    bool testEvent(AllocationId id) const
    {
        const AllocationColumns& a = m_replay.timeline.allocations();
        const auto shift = static_cast<std::int64_t>(m_replay.device().firstEventInFile) - 1;
        const std::int64_t born = static_cast<std::int64_t>(a.firstState[index(id)]) + shift;
        const bool traced = a.origin[index(id)] == Origin::Traced;
        if (traced && born >= m_term.first && born <= m_term.second)
            return true;
        return m_term.first == m_term.second && a.endState[index(id)] < m_replay.states()
            && static_cast<std::int64_t>(a.endState[index(id)]) + shift == m_term.first;
    }

    bool testLabel(AllocationId id) const
    {
        if (!m_context.labels)
            return false;
        const std::uint16_t module = m_context.labels->moduleOf[index(id)];
        return module < m_modules.size() && m_modules[module] != 0;
    }

    bool testStack(StackId stack)
    {
        const SiteId site = m_sites.of(stack);
        if (m_term.field == Field::Site)
            return m_wholeSite ? m_sites.name(site) == m_term.word : m_term.text(m_sites.name(site));
        if (m_term.field == Field::Text && m_term.text(m_sites.name(site)))
            return true;
        for (const FrameId frame : m_snapshot.stacks[stack]) {
            std::uint8_t& known = m_frames[index(frame)];
            if (known == unasked)
                known = testFrame(m_snapshot.frames[frame]) ? 1 : 0;
            if (known == 1)
                return true;
        }
        return false;
    }

    bool testFrame(const Frame& frame) const
    {
        return (m_term.field == Field::Text && valid(frame.name)
                   && m_term.text(m_snapshot.strings.view(frame.name)))
            || (valid(frame.file) && m_term.text(m_snapshot.strings.view(frame.file)));
    }

    /// Texts the program attached to an event match its allocation.
    void findMetadata()
    {
        const EventColumns& events = m_replay.device().events;
        const auto look = [&](const std::vector<StringId>& column) {
            std::vector<std::uint8_t> known(m_snapshot.strings.size(), unasked);
            for (std::size_t event = 0; event < column.size(); ++event) {
                if (!valid(column[event]))
                    continue;
                std::uint8_t& answer = known[index(column[event])];
                if (answer == unasked)
                    answer = m_term.text(m_snapshot.strings.view(column[event])) ? 1 : 0;
                const AllocationId id = m_replay.timeline.allocationOf(static_cast<EventIndex>(event));
                if (answer == 0 || !valid(id))
                    continue;
                m_metadata.resize(m_replay.timeline.allocations().count(), 0);
                m_metadata[index(id)] = 1;
            }
        };
        look(events.userMetadata);
        look(events.compileContext);
    }

    const Term& m_term;
    const FilterContext& m_context;
    const Replay& m_replay;
    const Sites& m_sites;
    const Snapshot& m_snapshot;
    /// A site is called just what was typed.
    bool m_wholeSite = false;
    std::vector<std::uint8_t> m_stacks;
    std::vector<std::uint8_t> m_frames;
    std::vector<std::uint8_t> m_metadata; ///< by AllocationId; empty: none matches
    std::vector<std::uint8_t> m_modules;
    std::shared_ptr<const std::vector<std::uint8_t>> m_flags;
};

bool Filter::needsDiagnosis() const
{
    return std::any_of(m_terms.begin(), m_terms.end(), [](const Term& term) {
        return term.field == Field::Label || term.field == Field::RoleName || term.field == Field::Finding;
    });
}

std::shared_ptr<const std::vector<std::uint8_t>> Filter::match(
    const FilterContext& context, const Job& job) const
{
    const std::size_t count = context.replay.timeline.allocations().count();
    auto flags = std::make_shared<std::vector<std::uint8_t>>(count, std::uint8_t{1});
    if (m_nodes.empty())
        return flags;
    std::vector<Matcher> matchers;
    matchers.reserve(m_terms.size());
    for (const Term& term : m_terms)
        matchers.emplace_back(term, context);
    const auto holdsAt = [&](const auto& self, std::uint32_t at, AllocationId id) -> bool {
        const Node& node = m_nodes[at];
        const auto test = [&](std::uint32_t operand) { return self(self, operand, id); };
        switch (node.kind) {
        case Node::Kind::Term:
            return matchers[node.term](id);
        case Node::Kind::And:
            return std::all_of(node.operands.begin(), node.operands.end(), test);
        case Node::Kind::Or:
            return std::any_of(node.operands.begin(), node.operands.end(), test);
        case Node::Kind::Not:
            break;
        }
        return !test(node.operands.front());
    };
    for (std::size_t i = 0; i < count; ++i) {
        // Site names of allocations without a stack are made on the fly: poll more often than usual.
        if (i % 4096 == 0 && job.stopped())
            return nullptr;
        (*flags)[i] = holdsAt(holdsAt, m_root, static_cast<AllocationId>(i)) ? 1 : 0;
    }
    return flags;
}

MatchSum matchedAt(const Replay& replay, const std::vector<std::uint8_t>& matches, StateIndex state)
{
    MatchSum sum;
    for (const AllocationId id : replay.timeline.liveAt(state))
        if (index(id) < matches.size() && matches[index(id)] != 0) {
            ++sum.allocations;
            sum.bytes += replay.timeline.allocations().size[index(id)];
        }
    return sum;
}

} // namespace tidemark
