// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/search.hpp"

#include "model/core/parse.hpp"
#include "model/core/text.hpp"

#include <algorithm>
#include <charconv>

namespace tidemark {

namespace {

char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

TextPredicate containing(std::string_view text)
{
    std::string needle(text);
    std::transform(needle.begin(), needle.end(), needle.begin(), lower);
    return [needle = std::move(needle)](std::string_view hay) {
        return std::search(hay.begin(), hay.end(), needle.begin(), needle.end(), [](char a, char b) {
            return lower(a) == b;
        }) != hay.end();
    };
}

bool startsWith(std::string_view text, std::string_view head)
{
    if (text.size() < head.size())
        return false;
    return std::equal(head.begin(), head.end(), text.begin(), [](char a, char b) { return a == lower(b); });
}

std::optional<std::int64_t> wholeNumber(std::string_view text)
{
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ')
        text.remove_suffix(1);
    std::int64_t value = 0;
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, value);
    if (text.empty() || error != std::errc() || end != last)
        return std::nullopt;
    return value;
}

Error badTerm(std::string_view word, const char* expected)
{
    return {ErrorCode::Usage, "“" + displayText(word, 40) + "”: " + expected, std::nullopt};
}

struct Word {
    std::string_view text;
    bool quoted = false;
    bool negated = false;
};

/// Splits at spaces outside of quotes, slashes and parentheses.
std::vector<Word> words(std::string_view text)
{
    std::vector<Word> out;
    std::size_t at = 0;
    while (at < text.size()) {
        if (text[at] == ' ' || text[at] == '\t') {
            ++at;
            continue;
        }
        Word word;
        if (text[at] == '-' && at + 1 < text.size() && text[at + 1] != ' ') {
            word.negated = true;
            ++at;
        }
        const char open = text[at];
        if (open == '"' || open == '/') {
            std::size_t end = text.find(open, at + 1);
            // A lone slash is the start of a path, not of an expression.
            const bool closed = end != std::string_view::npos
                && (end + 1 == text.size() || text[end + 1] == ' ' || open == '"');
            if (closed || open == '"') {
                end = std::min(end, text.size());
                word.quoted = open == '"';
                word.text = open == '"' ? text.substr(at + 1, end - at - 1) : text.substr(at, end - at + 1);
                at = std::min(end + 1, text.size());
                if (!word.text.empty())
                    out.push_back(word);
                continue;
            }
        }
        const std::size_t begin = at;
        int depth = 0;
        while (at < text.size() && (depth > 0 || (text[at] != ' ' && text[at] != '\t'))) {
            depth += text[at] == '(' ? 1 : text[at] == ')' && depth > 0 ? -1 : 0;
            ++at;
        }
        word.text = text.substr(begin, at - begin);
        out.push_back(word);
    }
    return out;
}

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

std::optional<Result<SearchQuery::Term>> SearchQuery::parseComparison(
    std::string_view word, std::string_view name, Field field)
{
    if (!startsWith(word, name) || word.size() <= name.size())
        return std::nullopt;
    std::string_view rest = word.substr(name.size());
    const char sign = rest.front();
    if (sign != '<' && sign != '>' && sign != '=')
        return std::nullopt;
    rest.remove_prefix(1);
    const bool orEqual = !rest.empty() && rest.front() == '=';
    if (orEqual)
        rest.remove_prefix(1);
    Term term;
    term.field = field;
    term.compare = sign == '=' ? Compare::Equal
        : sign == '<'          ? (orEqual ? Compare::LessEqual : Compare::Less)
                               : (orEqual ? Compare::GreaterEqual : Compare::Greater);
    if (field == Field::Size) {
        const auto bytes = parseBytes(rest);
        if (!bytes)
            return badTerm(word, "a size is a number with or without a unit, as in size>64M");
        term.number = *bytes;
    } else {
        const std::int64_t us = parseDuration(rest).value_or(-1);
        if (us < 0)
            return badTerm(word, "a life is a number with a unit, as in age<1s");
        term.number = static_cast<std::uint64_t>(us);
    }
    return term;
}

Result<SearchQuery::Term> SearchQuery::parsePool(std::string_view word, std::string_view id)
{
    if (id.size() > 1 && id.front() == '(' && id.back() == ')')
        id = id.substr(1, id.size() - 2);
    const std::size_t comma = id.find(',');
    const bool split = comma != std::string_view::npos;
    const auto first = wholeNumber(id.substr(0, split ? comma : id.size()));
    const auto second = split ? wholeNumber(id.substr(comma + 1)) : std::nullopt;
    if (!first || !second)
        return badTerm(word, "a pool has two numbers, as in pool:(0,1)");
    Term term;
    term.field = Field::Pool;
    term.first = *first;
    term.second = *second;
    return term;
}

Result<SearchQuery::Term> SearchQuery::parseTerm(
    std::string_view word, bool quoted, const RegexFactory& regex)
{
    Term term;
    if (quoted) {
        term.text = containing(word);
        return term;
    }
    if (word.size() > 2 && word.front() == '/' && word.back() == '/' && regex) {
        Result<TextPredicate> made = regex(std::string(word.substr(1, word.size() - 2)));
        if (!made)
            return made.error();
        term.text = std::move(made).value();
        return term;
    }
    if (startsWith(word, "0x")) {
        const auto address = parseAddress(word);
        if (!address)
            return badTerm(word, "an address has hexadecimal digits only");
        term.field = Field::Address;
        term.number = *address;
        return term;
    }
    if (startsWith(word, "site:")) {
        term.field = Field::Site;
        term.text = containing(word.substr(5));
        term.site = word.substr(5);
        return term;
    }
    if (startsWith(word, "stream:")) {
        const auto stream = wholeNumber(word.substr(7));
        const auto pointer = parseAddress(word.substr(7));
        if (!stream && !pointer)
            return badTerm(word, "a stream is a number, as in stream:7");
        term.field = Field::Stream;
        term.first = stream.value_or(static_cast<std::int64_t>(pointer.value_or(0)));
        return term;
    }
    if (startsWith(word, "pool:"))
        return parsePool(word, word.substr(5));
    if (auto size = parseComparison(word, "size", Field::Size))
        return *size;
    if (auto age = parseComparison(word, "age", Field::Age))
        return *age;
    term.text = containing(word);
    return term;
}

Result<SearchQuery> SearchQuery::parse(std::string_view text, const RegexFactory& regex)
{
    SearchQuery query;
    for (const Word& word : words(text)) {
        Result<Term> term = parseTerm(word.text, word.quoted, regex);
        if (!term)
            return term.error();
        term->negated = word.negated;
        query.m_terms.push_back(std::move(term).value());
    }
    return query;
}

/// Tests allocations against one term; answers for frames, stacks and sites are remembered.
class SearchQuery::Matcher {
public:
    Matcher(const Term& term, const Replay& replay, const Sites& sites)
        : m_term(term)
        , m_replay(replay)
        , m_sites(sites)
        , m_snapshot(*replay.snapshot)
    {
        if (term.field == Field::Text || term.field == Field::Site)
            m_stacks.assign(m_snapshot.stacks.size(), unasked);
        if (term.field == Field::Text)
            m_frames.assign(m_snapshot.frames.size(), unasked);
        for (std::uint32_t i = 0; i < sites.count() && term.field == Field::Site && !m_wholeSite; ++i)
            m_wholeSite = sites.name(SiteId{i}) == term.site;
    }

    bool operator()(AllocationId id) { return test(id) != m_term.negated; }

private:
    static constexpr std::uint8_t unasked = 2;

    bool test(AllocationId id)
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
        case Field::Text:
        case Field::Site:
            break;
        }
        const StackId stack = a.stack[i];
        // A recorded stack without frames has no site either; what such memory is called depends on its
        // origin.
        if (!valid(m_sites.of(stack)))
            return m_term.text(allocationSite(m_replay, m_sites, id));
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

    bool testStack(StackId stack)
    {
        const SiteId site = m_sites.of(stack);
        if (m_term.field == Field::Site)
            return m_wholeSite ? m_sites.name(site) == m_term.site : m_term.text(m_sites.name(site));
        if (m_term.text(m_sites.name(site)))
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
        return (valid(frame.name) && m_term.text(m_snapshot.strings.view(frame.name)))
            || (valid(frame.file) && m_term.text(m_snapshot.strings.view(frame.file)));
    }

    const Term& m_term;
    const Replay& m_replay;
    const Sites& m_sites;
    const Snapshot& m_snapshot;
    /// A site is called just what was typed.
    bool m_wholeSite = false;
    std::vector<std::uint8_t> m_stacks;
    std::vector<std::uint8_t> m_frames;
};

std::shared_ptr<const std::vector<std::uint8_t>> SearchQuery::match(
    const Replay& replay, const Sites& sites, const Job& job) const
{
    const std::size_t count = replay.timeline.allocations().count();
    auto flags = std::make_shared<std::vector<std::uint8_t>>(count, std::uint8_t{1});
    for (const Term& term : m_terms) {
        Matcher matches(term, replay, sites);
        for (std::size_t i = 0; i < count; ++i) {
            // Site names of allocations without a stack are made on the fly: poll more often than usual.
            if (i % 4096 == 0 && job.stopped())
                return nullptr;
            if ((*flags)[i] != 0 && !matches(static_cast<AllocationId>(i)))
                (*flags)[i] = 0;
        }
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
