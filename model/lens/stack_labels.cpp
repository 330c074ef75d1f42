// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/stack_labels.hpp"

#include "model/lens/sites.hpp"

#include <algorithm>

namespace tidemark {

namespace {

bool has(std::span<const std::uint64_t> bits, std::size_t group)
{
    return (bits[group / 64] >> (group % 64) & 1U) != 0;
}

} // namespace

StackLabels::StackLabels(const Snapshot& snapshot, const LabelRules& rules)
    : m_snapshot(snapshot)
    , m_rules(rules)
    , m_entries(snapshot.stacks.size() + 1)
    , m_framework(snapshot.frames.size(), -1)
{
    for (const LabelRule& rule : rules.rules()) {
        Groups groups;
        for (const std::vector<FramePattern>& anyOf : rule.all)
            groups.all.push_back(m_matcher.add(anyOf));
        if (!rule.none.empty())
            groups.none = m_matcher.add(rule.none);
        m_groups.push_back(std::move(groups));
    }
    m_matcher.build(snapshot);
    m_bits.assign(m_matcher.words(), 0);
}

StackLabels::Pool StackLabels::poolOf(PoolId pool) const
{
    if (!valid(pool) || index(pool) >= m_snapshot.pools.size())
        return Pool::Default;
    const auto& [first, second] = m_snapshot.pools[index(pool)];
    // Pools that a capture makes for itself count in the first number, those that a program makes in the
    // second.
    return first != 0 ? Pool::Capture : second != 0 ? Pool::Private : Pool::Default;
}

const StackLabels::Match& StackLabels::of(StackId stack, Pool pool)
{
    Entry& entry = m_entries[valid(stack) ? index(stack) : m_entries.size() - 1];
    const auto place = static_cast<std::size_t>(pool);
    if (!entry.known[place]) {
        entry.match[place] = find(stack, pool);
        entry.known[place] = true;
    }
    return entry.match[place];
}

bool StackLabels::fits(StackId stack, std::size_t rule)
{
    return !m_groups[rule].all.empty() && groupsFit(rule, bitsOf(stack));
}

std::span<const std::uint64_t> StackLabels::bitsOf(StackId stack)
{
    if (stack == m_bitsOf && valid(stack))
        return m_bits;
    std::ranges::fill(m_bits, 0);
    if (valid(stack))
        for (const FrameId frame : m_snapshot.stacks[stack]) {
            const std::span<const std::uint64_t> bits = m_matcher.bits(frame);
            for (std::size_t word = 0; word < m_bits.size(); ++word)
                m_bits[word] |= bits[word];
        }
    m_bitsOf = stack;
    return m_bits;
}

bool StackLabels::groupsFit(std::size_t rule, std::span<const std::uint64_t> bits) const
{
    const Groups& groups = m_groups[rule];
    return std::ranges::all_of(groups.all, [bits](std::size_t group) { return has(bits, group); })
        && !(groups.none && has(bits, *groups.none));
}

StackLabels::Match StackLabels::find(StackId stack, Pool pool)
{
    for (std::size_t i = 0; i < m_groups.size(); ++i)
        if (const auto match = matchOf(stack, i, pool))
            return *match;
    return {};
}

std::optional<StackLabels::Match> StackLabels::matchOf(StackId stack, std::size_t i, Pool pool)
{
    const LabelRule& rule = m_rules.rules()[i];
    const auto number = static_cast<std::uint16_t>(i);
    if (rule.privatePool && pool == Pool::Capture)
        return Match{number, FrameId::none};
    if (rule.inPrivatePool && pool == Pool::Default)
        return std::nullopt;
    if ((rule.all.empty() && !rule.inPrivatePool) || !groupsFit(i, bitsOf(stack)))
        return std::nullopt;
    if (!rule.innermost)
        return Match{number, FrameId::none};
    const FrameId frame = innermost(m_snapshot.stacks[stack], m_groups[i].all.front());
    if (!valid(frame))
        return std::nullopt;
    return Match{number, rule.named ? FrameId::none : frame};
}

FrameId StackLabels::innermost(std::span<const FrameId> frames, std::size_t group)
{
    const auto found = std::ranges::find_if(
        frames, [&](FrameId frame) { return m_matcher.in(frame, group) && !isFramework(frame); });
    return found == frames.end() ? FrameId::none : *found;
}

bool StackLabels::isFramework(FrameId id)
{
    std::int8_t& known = m_framework[index(id)];
    if (known < 0) {
        const Frame& frame = m_snapshot.frames[id];
        known = isFrameworkFrame(m_snapshot.strings.view(frame.name), m_snapshot.strings.view(frame.file));
    }
    return known != 0;
}

} // namespace tidemark
