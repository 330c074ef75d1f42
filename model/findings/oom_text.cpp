// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/oom.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <initializer_list>

namespace tidemark {

namespace {

/// A size as the message prints it, with how far the print may be off.
struct Amount {
    std::uint64_t bytes = 0;
    std::uint64_t roundedBy = 0;
};

bool isDigit(char c)
{
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// "830.56 MiB", "2.00 GiB", "512 bytes" at the start of `text`.
std::optional<Amount> amountAt(std::string_view text)
{
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || !std::isfinite(number) || number < 0 || number > 1e18)
        return std::nullopt;
    const std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.data()));
    std::string_view unit = text.substr(digits.size());
    while (unit.starts_with(' '))
        unit.remove_prefix(1);
    struct Unit {
        std::string_view name;
        double bytes;
    };
    static constexpr Unit units[] = {{"GiB", 1073741824.0}, {"MiB", 1048576.0}, {"KiB", 1024.0},
        {"TiB", 1099511627776.0}, {"bytes", 1.0}, {"B", 1.0}};
    for (const Unit& each : units) {
        if (!unit.starts_with(each.name))
            continue;
        const std::size_t point = digits.find('.');
        const double step = point == std::string_view::npos
            ? 1.0
            : std::pow(10.0, -static_cast<double>(digits.size() - point - 1));
        const double half = each.bytes == 1.0 ? 0.0 : step * each.bytes / 2;
        const double bytes = number * each.bytes;
        if (bytes > 9e18)
            return std::nullopt;
        return Amount{
            static_cast<std::uint64_t>(std::llround(bytes)), static_cast<std::uint64_t>(std::llround(half))};
    }
    return std::nullopt;
}

/// The amount right behind the first of `words` that has one behind it.
std::optional<Amount> after(std::string_view text, std::initializer_list<std::string_view> words)
{
    for (const std::string_view word : words)
        for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
            if (const auto amount = amountAt(text.substr(at + word.size())))
                return amount;
    return std::nullopt;
}

/// The amount right in front of the first of `words` that has one in front of it.
std::optional<Amount> before(std::string_view text, std::initializer_list<std::string_view> words)
{
    for (const std::string_view word : words)
        for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
            std::size_t first = at;
            while (first > 0 && text[first - 1] != ' ')
                --first;
            while (first > 0 && text[first - 1] == ' ')
                --first;
            while (first > 0 && (isDigit(text[first - 1]) || text[first - 1] == '.'))
                --first;
            // The end of something else, as of "-3.00" or "1,024.00", is no figure.
            if (first > 0 && text[first - 1] != ' ' && text[first - 1] != '(')
                continue;
            if (const auto amount = amountAt(text.substr(first)))
                return amount;
        }
    return std::nullopt;
}

/// Line breaks and runs of blanks become one blank, as pasted text is wrapped anywhere.
std::string unwrapped(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
        if (!blank)
            out += c;
        else if (!out.empty() && out.back() != ' ')
            out += ' ';
    }
    return out;
}

std::string size(std::uint64_t bytes)
{
    return formatBytes(static_cast<std::int64_t>(bytes));
}

std::optional<std::uint64_t> bytesOf(const std::optional<Amount>& amount)
{
    return amount ? std::optional(amount->bytes) : std::nullopt;
}

/// Free bytes inside the allocator: stated, or reserved minus allocated in the wording of PyTorch 1.4 to 2.0,
/// or the "cached" of the versions before.
std::optional<Amount> unallocated(std::string_view text, const std::optional<Amount>& allocated)
{
    if (const auto stated = before(text, {" is reserved by PyTorch but unallocated"}))
        return stated;
    if (const auto reserved = before(text, {" reserved in total by PyTorch"}); reserved && allocated)
        return Amount{reserved->bytes > allocated->bytes ? reserved->bytes - allocated->bytes : 0,
            reserved->roundedBy + allocated->roundedBy};
    return before(text, {" cached)", " cached;"});
}

/// Why the figures cannot all be true, as a sentence; empty: nothing speaks against them. Reserved memory
/// above the card's is no contradiction: some drivers lend system memory.
std::string contradiction(const OomText& t)
{
    static constexpr std::uint64_t most = 1ULL << 50; // bytes no card has
    const std::pair<const char*, std::optional<std::uint64_t>> figures[] = {{"the request", t.tried},
        {"the card's capacity", t.total}, {"the free memory", t.free}, {"the allocated memory", t.allocated},
        {"the memory reserved but unallocated", t.reservedUnallocated}};
    for (const auto& [name, bytes] : figures)
        if (bytes && *bytes > most)
            return "The text cannot be right: " + std::string(name) + " is " + size(*bytes) + ".";
    if (t.tried == 0)
        return "The text cannot be right: the request is of no size.";
    if (t.total && *t.total == 0)
        return "The text cannot be right: the card has no memory.";
    if (t.total && t.free && *t.free > *t.total)
        return "The text cannot be right: " + size(*t.free) + " are free on a card of " + size(*t.total)
            + ".";
    return {};
}

/// A request that the free part of the card alone would have served fails for another reason than its pieces.
bool servedByTheCard(const OomText& t, std::uint64_t doubt)
{
    constexpr std::uint64_t most = 20ULL << 20; // what a segment may be larger than the request it is for
    return t.free && *t.free >= t.tried + most + doubt;
}

std::string explain(const OomText& t)
{
    if (!t.slack)
        return "The text does not say how much was free and how much was reserved but unallocated, so it "
               "cannot tell "
               "whether memory was short or in pieces. A memory snapshot of the failure would.";
    if (t.verdict == Verdict::Unknown)
        return size(*t.free) + " were free on the card, more than the " + size(t.tried)
            + " that were asked for, so neither a lack of memory nor pieces explain the failure. A limit for "
              "the "
              "process (per_process_memory_fraction), or another process that let go just then, would.";
    const std::uint64_t magnitude = static_cast<std::uint64_t>(std::abs(*t.slack));
    std::string text = t.verdict == Verdict::Capacity ? "Even perfectly packed, memory was short by "
            + size(magnitude) + " for the " + size(t.tried) + " that were asked for. "
                                                      : "With all free memory in one piece the request of "
            + size(t.tried) + " would have fitted with " + size(magnitude)
            + " to spare: the free memory is in pieces or in another stream's or pool's hands. ";
    if (t.thinMargin)
        text += "The margin is thin: a little more or less decides it.";
    else if (t.verdict == Verdict::Capacity)
        text += t.advisesExpandable
            ? "PyTorch's hint about expandable segments does not apply: it adds no memory."
            : "Less has to live at that moment; no allocator setting adds memory.";
    else
        text += "Expandable segments are the first thing to try, where nothing bars them; a snapshot shows "
                "which "
                "blocks hold the free memory apart.";
    return text;
}

} // namespace

Result<OomText> parseOomText(std::string_view given)
{
    const std::string text = unwrapped(given);
    OomText out;
    out.advisesExpandable = text.find("expandable_segments") != std::string::npos;
    const auto tried = after(text, {"Tried to allocate "});
    if (!tried && text.find("Tried to allocate ") != std::string::npos) {
        out.explanation
            = "The size behind \"Tried to allocate\" cannot be read, so nothing can be said. Paste "
              "the message as PyTorch printed it, or open a memory snapshot of the failure.";
        return out;
    }
    if (!tried) {
        std::string lower = text;
        std::transform(lower.begin(), lower.end(), lower.begin(),
            [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        if (lower.find("out of memory") == std::string::npos
            && lower.find("out_of_memory") == std::string::npos)
            return Error{ErrorCode::Malformed,
                "this is not the text of an out-of-memory error: it lacks \"Tried to allocate\".",
                std::nullopt};
        out.verdict = Verdict::OutsideAllocator;
        out.explanation
            = "Another library than PyTorch's allocator ran out of memory (NCCL, Triton, cuBLAS and the "
              "like), since the message names no size. Less reserved memory leaves it more.";
        return out;
    }
    const auto free = before(text, {" is free", " free;", " free)"});
    const auto allocated = before(text, {" is allocated by PyTorch", " already allocated"});
    const auto inside = unallocated(text, allocated);
    const auto used = after(text, {"this process has "});
    out.tried = tried->bytes;
    out.total = bytesOf(after(text, {"total capacity of ", "total capacty of "}));
    if (!out.total)
        out.total = bytesOf(before(text, {" total capacity"}));
    out.free = bytesOf(free);
    out.allocated = bytesOf(allocated);
    out.reservedUnallocated = bytesOf(inside);
    out.privatePools = bytesOf(before(text, {" allocated in private pools"}));
    out.processUsed = bytesOf(used);
    if (std::string why = contradiction(out); !why.empty()) {
        out.explanation = std::move(why) + " Nothing can be said from such figures.";
        return out;
    }
    // What PyTorch could not find out is printed as more than any card has.
    if (out.processUsed && out.total && *out.processUsed > *out.total)
        out.processUsed.reset();
    if (allocated && inside) {
        const std::uint64_t torch = allocated->bytes + inside->bytes;
        const std::optional<std::uint64_t> all = out.processUsed ? out.processUsed
            : out.total && free && *out.total > free->bytes      ? std::optional(*out.total - free->bytes)
                                                                 : std::nullopt;
        if (all)
            out.nonPyTorch = *all > torch ? *all - torch : 0;
    }
    if (free && inside) {
        const auto amount = [](const Amount& a) { return static_cast<std::int64_t>(a.bytes); };
        out.slack = amount(*free) + amount(*inside) - amount(*tried);
        const std::uint64_t doubt = free->roundedBy + inside->roundedBy + tried->roundedBy;
        out.verdict = *out.slack < 0      ? Verdict::Capacity
            : servedByTheCard(out, doubt) ? Verdict::Unknown
                                          : Verdict::Fragmentation;
        const std::uint64_t usable
            = allocated ? allocated->bytes + inside->bytes + free->bytes : out.total.value_or(0);
        out.thinMargin = out.verdict != Verdict::Unknown
            && static_cast<std::uint64_t>(std::abs(*out.slack)) < std::max(usable / 100, doubt);
    }
    out.explanation = explain(out);
    return out;
}

} // namespace tidemark
