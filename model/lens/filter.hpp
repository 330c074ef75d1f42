// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/labels.hpp"
#include "model/lens/sites.hpp"
#include "model/lens/text_predicate.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark {

/// What a filter looks at besides the text.
struct FilterContext {
    const Replay& replay;
    const Sites& sites;
    /// For label: and role:. Null: not known yet, nothing matches them.
    const Labels* labels = nullptr;
    /// One flag per AllocationId for the findings whose rule is called so, null when there is none; may be
    /// empty.
    std::function<std::shared_ptr<const std::vector<std::uint8_t>>(std::string_view rule)> findings;
};

/// A part of the language, for completion and help.
struct FilterField {
    const char* name; ///< as typed: "site:", "size>"
    const char* example;
    const char* says;
};
std::span<const FilterField> filterFields();

/// "site:" and a value as one term, the value quoted where it has spaces or parentheses.
std::string filterTerm(std::string_view field, std::string_view value);

/// A filter as typed (help/window.md): terms joined by and, or, not and parentheses; terms side by side must
/// all hold.
///
/// - plain text or "quoted text": in a function, a file, the site or attached metadata, whatever the case;
///   /regular expression/ likewise
/// - site: in the site alone, and where a site is called just that, in no other; file: in the path of a frame
/// - label: and role: in the module and in what it is for
/// - 0x7f40…, addr:0x7f40…: the allocations that cover this address
/// - size>64M, size>=, size<, size<=, size=268435456; age<1s and the like for the life in time
/// - stream:7, pool:(0,1), device:0
/// - state:live | freed | before: alive at the end, freed in the trace, older than the recording
/// - event:12 made or freed by that event, event:12..40 made by one of these
/// - finding:fragmentation
/// - a leading - or not turns a term round
class Filter {
public:
    /// The error is a sentence to show beside the field.
    static Result<Filter> parse(std::string_view text, const RegexFactory& regex = {});
    bool empty() const { return m_nodes.empty(); }
    /// Its answer changes when labels or findings become known.
    bool needsDiagnosis() const;
    /// Where the terms stand in the text, as bytes [first, second), for chips: the operands of the outermost
    /// "and", or the whole.
    const std::vector<std::pair<std::size_t, std::size_t>>& parts() const { return m_parts; }

    /// One flag per AllocationId, or null when stopped. Cost: one test per distinct frame and text term, one
    /// pass over the allocations. Any thread.
    std::shared_ptr<const std::vector<std::uint8_t>> match(
        const FilterContext& context, const Job& job) const;

private:
    enum class Field {
        Text,
        Site,
        File,
        Label,
        RoleName,
        Address,
        Size,
        Age,
        Stream,
        Pool,
        Device,
        State,
        Event,
        Finding
    };
    enum class Compare { Less, LessEqual, Equal, GreaterEqual, Greater };
    struct Term {
        Field field = Field::Text;
        Compare compare = Compare::Equal;
        TextPredicate text;
        std::string word; ///< as typed behind the field's name
        std::uint64_t number = 0;
        std::int64_t first = 0; ///< stream, device, first half of a pool id, first event
        std::int64_t second = 0;
    };
    struct Node {
        enum class Kind : std::uint8_t { Term, And, Or, Not };
        Kind kind = Kind::Term;
        std::uint32_t term = 0;
        std::vector<std::uint32_t> operands;
    };
    class Parser;
    class Matcher;
    static Result<Term> parseTerm(std::string_view word, bool quoted, const RegexFactory& regex);

    std::vector<Term> m_terms;
    std::vector<Node> m_nodes;
    std::uint32_t m_root = 0;
    std::vector<std::pair<std::size_t, std::size_t>> m_parts;
};

/// What of a filter's matches is live at a state.
struct MatchSum {
    std::uint64_t allocations = 0;
    std::uint64_t bytes = 0;
};
/// Cost as Timeline::liveAt.
MatchSum matchedAt(const Replay& replay, const std::vector<std::uint8_t>& matches, StateIndex state);

} // namespace tidemark
