// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/text_predicate.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// One test of a frame: the end of its path and, where given, its function. Paths are compared from the last
/// "megatron/", "torch/", "transformer_engine/" … on, so that where a package is installed does not matter.
struct FramePattern {
    std::string path; ///< suffix, or with ** and * as in a shell; empty: any
    std::vector<std::string> functions; ///< any of them; empty: any function
    /// Where given, the only test: of the frame as "function@path:line".
    TextPredicate expression{};
};

/// The module an allocation belongs to: first rule that matches wins, top to bottom. Rules may share an id:
/// alternatives that one `all` cannot express. A rule without any test matches nothing by itself (F-bwd:
/// given to what backward allocates without Python frames).
struct LabelRule {
    std::string id; ///< "F-attn"; what findings refer to
    std::string label; ///< "core attention"; what is shown
    /// Every group must have a matching frame in the stack (a group matches when one of its patterns does).
    std::vector<std::vector<FramePattern>> all;
    /// No frame may match any of these.
    std::vector<FramePattern> none;
    bool privatePool = false; ///< matches also memory of private pools, whatever its stack
    bool inPrivatePool = false; ///< only memory of private pools
    /// The groups are looked for in frames outside torch only, and the innermost of them that matches gives
    /// the label: function@file:line (unless `label` names a fixed one with "named": true).
    bool innermost = false;
    bool named = false; ///< an innermost rule that keeps its own label
    /// Place in paletteNames, chosen by the user; absent: colours go by size.
    std::optional<std::uint8_t> colour{};
};

/// Names of the twelve colours of categories, in the order of their slots.
inline constexpr std::array<std::string_view, 12> paletteNames{
    "teal", "rose", "indigo", "straw", "rust", "sky", "green", "plum", "sage", "ochre", "orchid", "umber"};

/// The table of resources/labels.json, or a user's file in front of it.
class LabelRules {
public:
    /// The built-in table.
    static std::shared_ptr<const LabelRules> standard();
    /// A user's rules (JSON, help/labels.md) put before the built-in ones. The error names the rule and key.
    /// `regex` makes the tests of "match"; without it such rules are refused.
    static Result<std::shared_ptr<const LabelRules>> withUser(
        std::string_view text, std::string_view fileName, const RegexFactory& regex = {});

    const std::vector<LabelRule>& rules() const { return m_rules; }
    /// The first so many rules are the user's own.
    std::size_t own() const { return m_own; }
    /// Position of a rule by id; absent when there is none.
    std::optional<std::size_t> find(std::string_view id) const;

private:
    static Result<std::vector<LabelRule>> parse(
        std::string_view text, std::string_view fileName, const RegexFactory& regex);
    std::vector<LabelRule> m_rules;
    std::size_t m_own = 0;
};

} // namespace tidemark
