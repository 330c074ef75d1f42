// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/sites.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// Answers whether a text matches; made by the caller for `/…/` terms, because the engine has no regular
/// expressions of its own that are safe on hostile patterns and 75 kB symbols.
using TextPredicate = std::function<bool(std::string_view)>;
using RegexFactory = std::function<Result<TextPredicate>(const std::string& pattern)>;

/// A search as typed (help/window.md): terms separated by spaces that must all hold.
///
/// - plain text or "quoted text": in a function, a file or the site, whatever the case; site:text in the
///   site alone, and where a site is called just that, in no other
/// - 0x7f40…: the allocations that cover this address
/// - size>64M, size>=, size<, size<=, size=268435456; age<1s and the like for the life in time
/// - stream:7, pool:(0,1), /regular expression/
/// - a leading - turns a term round
class SearchQuery {
public:
    /// The error is a sentence to show beside the field.
    static Result<SearchQuery> parse(std::string_view text, const RegexFactory& regex = {});
    bool empty() const { return m_terms.empty(); }

    /// One flag per AllocationId, or null when stopped. Cost: one test per distinct frame and text term, one
    /// pass over the allocations. Any thread.
    std::shared_ptr<const std::vector<std::uint8_t>> match(
        const Replay& replay, const Sites& sites, const Job& job) const;

private:
    enum class Field { Text, Site, Address, Size, Age, Stream, Pool };
    enum class Compare { Less, LessEqual, Equal, GreaterEqual, Greater };
    struct Term {
        Field field = Field::Text;
        Compare compare = Compare::Equal;
        bool negated = false;
        TextPredicate text;
        std::string site; ///< as typed after site:
        std::uint64_t number = 0;
        std::int64_t first = 0; ///< stream, or first half of a pool id
        std::int64_t second = 0;
    };
    class Matcher;
    static Result<Term> parseTerm(std::string_view word, bool quoted, const RegexFactory& regex);
    static Result<Term> parsePool(std::string_view word, std::string_view id);
    /// Empty when the word is no comparison of `name`.
    static std::optional<Result<Term>> parseComparison(
        std::string_view word, std::string_view name, Field field);
    std::vector<Term> m_terms;
};

/// What of a search is live at a state.
struct MatchSum {
    std::uint64_t allocations = 0;
    std::uint64_t bytes = 0;
};
/// Cost as Timeline::liveAt.
MatchSum matchedAt(const Replay& replay, const std::vector<std::uint8_t>& matches, StateIndex state);

} // namespace tidemark
