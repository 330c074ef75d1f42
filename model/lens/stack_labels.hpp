// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/frame_matcher.hpp"
#include "model/lens/label_rules.hpp"
#include "model/snapshot/snapshot.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tidemark {

/// Finds the rule of a stack; each distinct stack is tested once, when first asked for.
class StackLabels {
public:
    static constexpr std::uint16_t none = 0xffff;
    /// What a stack belongs to. `frame` gives the name where the rule names modules by their frame.
    struct Match {
        std::uint16_t rule = none;
        FrameId frame = FrameId::none;
    };
    /// Which rules apply depends on where the memory lies.
    enum class Pool : std::uint8_t { Default, Private, Capture };

    StackLabels(const Snapshot& snapshot, const LabelRules& rules);

    Pool poolOf(PoolId pool) const;
    const Match& of(StackId stack, Pool pool);
    /// Whether a stack has frames for all groups of a rule, whatever rules come before it.
    bool fits(StackId stack, std::size_t rule);
    /// Whether a rule would decide if none came before it.
    bool would(StackId stack, std::size_t rule, Pool pool) { return matchOf(stack, rule, pool).has_value(); }

private:
    struct Groups {
        std::vector<std::size_t> all;
        std::optional<std::size_t> none;
    };
    struct Entry {
        std::array<Match, 3> match;
        std::array<bool, 3> known{};
    };
    std::span<const std::uint64_t> bitsOf(StackId stack);
    bool groupsFit(std::size_t rule, std::span<const std::uint64_t> bits) const;
    Match find(StackId stack, Pool pool);
    std::optional<Match> matchOf(StackId stack, std::size_t rule, Pool pool);
    FrameId innermost(std::span<const FrameId> frames, std::size_t group);
    bool isFramework(FrameId frame);

    const Snapshot& m_snapshot;
    const LabelRules& m_rules;
    FrameMatcher m_matcher;
    std::vector<Groups> m_groups;
    std::vector<Entry> m_entries;
    std::vector<std::uint64_t> m_bits;
    StackId m_bitsOf = StackId::none;
    std::vector<std::int8_t> m_framework;
};

} // namespace tidemark
