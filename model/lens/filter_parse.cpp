// SPDX-License-Identifier: GPL-3.0-or-later
// The text of a filter and what it is made of; who matches it: filter.cpp.
#include "model/core/parse.hpp"
#include "model/core/text.hpp"
#include "model/lens/filter.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace tidemark {

namespace {

constexpr std::array fields{
    FilterField{
        "site:", "site:forward@model.py:382", "text in the call site; a whole name is that site alone"},
    FilterField{"file:", "file:attention.py", "text in the path of a frame"},
    FilterField{"label:", "label:mlp", "text in the module"},
    FilterField{"role:", "role:saved", "text in what the memory is for"},
    FilterField{"size>", "size>64M", "requested bytes; also >=, <, <= and ="},
    FilterField{"age<", "age<1s", "length of its life; also >, >=, <= and ="},
    FilterField{"stream:", "stream:7", "the stream it was allocated for"},
    FilterField{"pool:", "pool:(0,1)", "the private pool it lies in"},
    FilterField{"device:", "device:0", "the ordinal of the device"},
    FilterField{"state:", "state:live", "live at the end, freed in the trace, or before the recording"},
    FilterField{"event:", "event:120..140", "made by one of these events; one number: made or freed by it"},
    FilterField{"addr:", "addr:0x7f4001600000", "covers this address"},
    FilterField{"finding:", "finding:fragmentation", "belongs to a finding of this rule"},
};

char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool isSpace(char c)
{
    return c == ' ' || c == '\t';
}

bool same(std::string_view text, std::string_view word)
{
    return std::equal(
        text.begin(), text.end(), word.begin(), word.end(), [](char a, char b) { return lower(a) == b; });
}

bool startsWith(std::string_view text, std::string_view head)
{
    return text.size() >= head.size() && same(text.substr(0, head.size()), head);
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

std::optional<std::int64_t> wholeNumber(std::string_view text)
{
    while (!text.empty() && isSpace(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && isSpace(text.back()))
        text.remove_suffix(1);
    std::int64_t value = 0;
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, value);
    if (text.empty() || error != std::errc() || end != last)
        return std::nullopt;
    return value;
}

Error badTerm(std::string_view word, const std::string& expected)
{
    return {ErrorCode::Usage, "“" + displayText(word, 40) + "”: " + expected, std::nullopt};
}

Error badFilter(std::string sentence)
{
    return {ErrorCode::Usage, std::move(sentence), std::nullopt};
}

struct Token {
    enum class Kind { Word, Quoted, Open, Close, And, Or, Not, End };
    Kind kind = Kind::End;
    std::string_view text;
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// Without the quotes that hold a value together; the closing one may not have been typed yet.
std::string_view unquoted(std::string_view value)
{
    if (!value.starts_with('"'))
        return value;
    value.remove_prefix(1);
    if (value.ends_with('"'))
        value.remove_suffix(1);
    return value;
}

/// Splits a filter at spaces and parentheses that stand outside of quotes, expressions and words.
class Tokens {
public:
    explicit Tokens(std::string_view text)
        : m_text(text)
    {
        while (skipSpace(), m_at < m_text.size())
            next();
        m_out.push_back({Token::Kind::End, {}, m_text.size(), m_text.size()});
    }
    std::vector<Token> take() { return std::move(m_out); }

private:
    void skipSpace()
    {
        while (m_at < m_text.size() && isSpace(m_text[m_at]))
            ++m_at;
    }

    void add(Token::Kind kind, std::size_t begin, std::size_t end, std::string_view text)
    {
        m_out.push_back({kind, text, begin, end});
        m_at = end;
    }

    bool endsWord(std::size_t at) const
    {
        return at >= m_text.size() || isSpace(m_text[at]) || m_text[at] == ')';
    }

    void next()
    {
        const std::size_t begin = m_at;
        switch (m_text[begin]) {
        case '(':
            return add(Token::Kind::Open, begin, begin + 1, {});
        case ')':
            return add(Token::Kind::Close, begin, begin + 1, {});
        case '-':
            if (!endsWord(begin + 1))
                return add(Token::Kind::Not, begin, begin + 1, {});
            break;
        case '"': {
            const std::size_t close = std::min(m_text.find('"', begin + 1), m_text.size());
            const std::string_view inside = m_text.substr(begin + 1, close - begin - 1);
            if (inside.empty())
                m_at = std::min(close + 1, m_text.size());
            else
                add(Token::Kind::Quoted, begin, std::min(close + 1, m_text.size()), inside);
            return;
        }
        case '/':
            // A slash that nothing closes is the start of a path, not of an expression.
            for (std::size_t close = m_text.find('/', begin + 1); close != std::string_view::npos;
                 close = m_text.find('/', close + 1))
                if (endsWord(close + 1))
                    return add(Token::Kind::Word, begin, close + 1, m_text.substr(begin, close + 1 - begin));
            break;
        default:
            break;
        }
        word(begin);
    }

    void word(std::size_t begin)
    {
        std::size_t end = begin;
        int depth = 0;
        for (; end < m_text.size(); ++end) {
            const char c = m_text[end];
            if (depth == 0 && (isSpace(c) || c == ')'))
                break;
            // A quoted value: site:"before recording".
            if (c == '"' && end > begin && m_text[end - 1] == ':') {
                end = std::min(m_text.find('"', end + 1), m_text.size() - 1);
                continue;
            }
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        }
        const std::string_view text = m_text.substr(begin, end - begin);
        add(same(text, "and")       ? Token::Kind::And
                : same(text, "or")  ? Token::Kind::Or
                : same(text, "not") ? Token::Kind::Not
                                    : Token::Kind::Word,
            begin, end, text);
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    std::vector<Token> m_out;
};

} // namespace

std::string filterTerm(std::string_view field, std::string_view value)
{
    const bool plain = value.find_first_of(" \t()\"") == std::string_view::npos;
    const bool quotable = !value.empty() && value.find('"') == std::string_view::npos;
    return std::string(field) + (plain || !quotable ? std::string(value) : "\"" + std::string(value) + "\"");
}

std::span<const FilterField> filterFields()
{
    return fields;
}

/// or = and {"or" and}; and = unary {["and"] unary}; unary = {"not"} ("(" or ")" | term).
class Filter::Parser {
public:
    Parser(Filter& filter, std::string_view text, const RegexFactory& regex)
        : m_filter(filter)
        , m_tokens(Tokens(text).take())
        , m_regex(regex)
    { }

    Result<void> parse()
    {
        if (peek().kind == Token::Kind::End)
            return {};
        const auto root = either();
        if (m_error)
            return *m_error;
        if (peek().kind == Token::Kind::Close)
            return badFilter("A closing parenthesis has no opening one.");
        m_filter.m_root = root;
        m_filter.m_parts = m_parts.empty() ? std::vector{whole()} : m_parts;
        return {};
    }

private:
    const Token& peek() const { return m_tokens[m_at]; }
    std::pair<std::size_t, std::size_t> whole() const
    {
        return {m_tokens.front().begin, m_tokens[m_tokens.size() - 2].end};
    }

    std::uint32_t add(Node node)
    {
        m_filter.m_nodes.push_back(std::move(node));
        return static_cast<std::uint32_t>(m_filter.m_nodes.size() - 1);
    }

    std::uint32_t join(Node::Kind kind, std::vector<std::uint32_t> operands)
    {
        return operands.size() == 1 ? operands.front() : add({kind, 0, std::move(operands)});
    }

    std::uint32_t either()
    {
        std::vector<std::uint32_t> operands{all()};
        while (!m_error && peek().kind == Token::Kind::Or) {
            ++m_at;
            operands.push_back(all());
        }
        // Chips are for what all must hold.
        if (operands.size() > 1 && m_depth == 0)
            m_parts = {whole()};
        return join(Node::Kind::Or, std::move(operands));
    }

    std::uint32_t all()
    {
        std::vector<std::uint32_t> operands;
        for (bool wanted = true; !m_error;) {
            if (peek().kind == Token::Kind::And) {
                if (operands.empty() || wanted)
                    break;
                ++m_at;
                wanted = true;
                continue;
            }
            if (peek().kind == Token::Kind::Or || peek().kind == Token::Kind::Close
                || peek().kind == Token::Kind::End) {
                if (!wanted)
                    return join(Node::Kind::And, std::move(operands));
                break;
            }
            const std::size_t begin = peek().begin;
            operands.push_back(unary());
            wanted = false;
            if (m_depth == 0 && !m_error)
                m_parts.emplace_back(begin, m_tokens[m_at - 1].end);
        }
        if (!m_error)
            m_error = missing();
        return 0;
    }

    Error missing() const
    {
        const Token& here = peek();
        const Token* before = m_at > 0 ? &m_tokens[m_at - 1] : nullptr;
        if (before && before->kind == Token::Kind::Open)
            return badFilter("Something is missing behind the opening parenthesis.");
        if (here.kind == Token::Kind::Close)
            return badFilter("Something is missing before the closing parenthesis.");
        const Token& joining
            = here.kind == Token::Kind::And || here.kind == Token::Kind::Or || !before ? here : *before;
        return badTerm(joining.text,
            "it stands between two things; quote it to look for the word, as in \""
                + std::string(joining.text) + "\"");
    }

    std::uint32_t unary()
    {
        if (peek().kind == Token::Kind::Not) {
            const std::string_view word = peek().text;
            ++m_at;
            if (peek().kind != Token::Kind::Word && peek().kind != Token::Kind::Quoted
                && peek().kind != Token::Kind::Open && peek().kind != Token::Kind::Not) {
                m_error = badTerm(word.empty() ? "-" : word, "what is not wanted is missing behind it");
                return 0;
            }
            const std::uint32_t operand = unary();
            return m_error ? 0 : add({Node::Kind::Not, 0, {operand}});
        }
        if (peek().kind == Token::Kind::Open) {
            ++m_at;
            ++m_depth;
            const std::uint32_t inside = either();
            --m_depth;
            if (m_error)
                return 0;
            if (peek().kind != Token::Kind::Close) {
                m_error = badFilter("A closing parenthesis is missing.");
                return 0;
            }
            ++m_at;
            return inside;
        }
        Result<Term> term = parseTerm(peek().text, peek().kind == Token::Kind::Quoted, m_regex);
        if (!term) {
            m_error = term.error();
            return 0;
        }
        ++m_at;
        m_filter.m_terms.push_back(std::move(term).value());
        return add({Node::Kind::Term, static_cast<std::uint32_t>(m_filter.m_terms.size() - 1), {}});
    }

    Filter& m_filter;
    std::vector<Token> m_tokens;
    const RegexFactory& m_regex;
    std::size_t m_at = 0;
    int m_depth = 0;
    std::vector<std::pair<std::size_t, std::size_t>> m_parts;
    std::optional<Error> m_error;
};

Result<Filter> Filter::parse(std::string_view text, const RegexFactory& regex)
{
    Filter filter;
    if (const Result<void> done = Parser(filter, text, regex).parse(); !done)
        return done.error();
    return filter;
}

namespace {

/// ">=64M" behind a field's name; absent when no comparison stands there.
std::optional<std::pair<int, std::string_view>> comparison(std::string_view word, std::string_view name)
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
    return std::pair(sign == '=' ? 2 : sign == '<' ? (orEqual ? 1 : 0) : (orEqual ? 3 : 4), rest);
}

std::optional<std::pair<std::int64_t, std::int64_t>> poolId(std::string_view id)
{
    if (id.size() > 1 && id.front() == '(' && id.back() == ')')
        id = id.substr(1, id.size() - 2);
    const std::size_t comma = id.find(',');
    if (comma == std::string_view::npos)
        return std::nullopt;
    const auto first = wholeNumber(id.substr(0, comma));
    const auto second = wholeNumber(id.substr(comma + 1));
    return first && second ? std::optional(std::pair(*first, *second)) : std::nullopt;
}

std::optional<std::pair<std::int64_t, std::int64_t>> eventRange(std::string_view text)
{
    const std::size_t dots = text.find("..");
    const auto number = [](std::string_view digits) -> std::optional<std::int64_t> {
        const auto count = parseCount(digits);
        return count && *count < (1ULL << 40) ? std::optional(static_cast<std::int64_t>(*count))
                                              : std::nullopt;
    };
    const auto first = number(text.substr(0, dots));
    const auto last = dots == std::string_view::npos ? first : number(text.substr(dots + 2));
    return first && last && *first <= *last ? std::optional(std::pair(*first, *last)) : std::nullopt;
}

/// For "foo:bar" and "size:7", which are no field's but look like one's; names as in "std::sort",
/// "model.py:57" and "C:/a" are texts.
std::optional<Error> unknownField(std::string_view word)
{
    const std::size_t colon = word.find(':');
    if (colon == std::string_view::npos || colon < 2 || colon + 1 == word.size() || word[colon + 1] == ':')
        return std::nullopt;
    const std::string_view name = word.substr(0, colon);
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    if (!std::ranges::all_of(name, letter) || word.substr(colon).starts_with("://"))
        return std::nullopt;
    if (same(name, "size") || same(name, "age"))
        return badTerm(
            word, "it needs a comparison, as in " + std::string(same(name, "size") ? "size>64M" : "age<1s"));
    std::string known;
    for (const FilterField& field : fields)
        if (std::string_view(field.name).ends_with(':'))
            known += (known.empty() ? "" : " ") + std::string(field.name);
    return badTerm(
        word, "there is no field of that name; there are " + known + ", and quotes look for the text");
}

} // namespace

Result<Filter::Term> Filter::parseTerm(std::string_view word, bool quoted, const RegexFactory& regex)
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
    const auto behind = [&](std::string_view name) { return word.substr(name.size()); };
    const auto texts = std::array{std::pair("site:", Field::Site), std::pair("file:", Field::File),
        std::pair("label:", Field::Label), std::pair("role:", Field::RoleName),
        std::pair("finding:", Field::Finding)};
    for (const auto& [name, field] : texts)
        if (startsWith(word, name)) {
            term.field = field;
            term.word = unquoted(behind(name));
            term.text = containing(term.word);
            return term;
        }
    const bool addr = startsWith(word, "addr:");
    if (addr || startsWith(word, "0x")) {
        const auto address = parseAddress(addr ? behind("addr:") : word);
        if (!address)
            return badTerm(word, "an address is 0x and hexadecimal digits");
        term.field = Field::Address;
        term.number = *address;
        return term;
    }
    if (startsWith(word, "stream:")) {
        const auto stream = wholeNumber(behind("stream:"));
        const auto pointer = parseAddress(behind("stream:"));
        if (!stream && !pointer)
            return badTerm(word, "a stream is a number, as in stream:7");
        term.field = Field::Stream;
        term.first = stream.value_or(static_cast<std::int64_t>(pointer.value_or(0)));
        return term;
    }
    if (startsWith(word, "device:")) {
        const auto device = wholeNumber(behind("device:"));
        if (!device)
            return badTerm(word, "a device is a number, as in device:0");
        term.field = Field::Device;
        term.first = *device;
        return term;
    }
    if (startsWith(word, "pool:")) {
        const auto pool = poolId(behind("pool:"));
        if (!pool)
            return badTerm(word, "a pool has two numbers, as in pool:(0,1)");
        term.field = Field::Pool;
        std::tie(term.first, term.second) = *pool;
        return term;
    }
    if (startsWith(word, "state:")) {
        for (const char* state : {"live", "freed", "before"})
            if (same(behind("state:"), state)) {
                term.field = Field::State;
                term.word = state;
                return term;
            }
        return badTerm(word, "a state is live, freed or before, as in state:live");
    }
    if (startsWith(word, "event:")) {
        const auto range = eventRange(behind("event:"));
        if (!range)
            return badTerm(word, "events are numbers, as in event:12 or event:12..40");
        term.field = Field::Event;
        std::tie(term.first, term.second) = *range;
        return term;
    }
    if (const auto size = comparison(word, "size")) {
        const auto bytes = parseBytes(size->second);
        if (!bytes)
            return badTerm(word, "a size is a number with or without a unit, as in size>64M");
        term.field = Field::Size;
        term.compare = static_cast<Compare>(size->first);
        term.number = *bytes;
        return term;
    }
    if (const auto age = comparison(word, "age")) {
        const std::int64_t us = parseDuration(age->second).value_or(-1);
        if (us < 0)
            return badTerm(word, "a life is a number with a unit, as in age<1s");
        term.field = Field::Age;
        term.compare = static_cast<Compare>(age->first);
        term.number = static_cast<std::uint64_t>(us);
        return term;
    }
    if (auto unknown = unknownField(word))
        return *std::move(unknown);
    term.text = containing(word);
    return term;
}

} // namespace tidemark
