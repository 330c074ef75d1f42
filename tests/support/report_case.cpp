// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/report_case.hpp"

#include "model/core/text.hpp"
#include "model/report/escape.hpp"
#include "tests/support/small_runs.hpp"
#include "tests/support/trace_maker.hpp"

#include <algorithm>
#include <set>

namespace tidemark::test {

report::ReportInput reportInput(std::shared_ptr<const Snapshot> snapshot, RunConfig config)
{
    const compare::Side side = diagnosedSide(std::move(snapshot), std::move(config));
    report::ReportInput input;
    input.rank = side.rank;
    input.diagnosis = side.diagnosis;
    input.device = side.rank->devices.empty() ? 0 : side.rank->mainDevice();
    return input;
}

std::vector<std::pair<std::string, std::string>> attackFrames()
{
    using namespace std::string_literals;
    return {
        {"\"><script>alert_secret(1)</script>", "/home/janedoe/acme-model/se\"cret_train.py"},
        {"pipe|tick``back`_secret", "/home/janedoe/acme-model/we|ird`.py"},
        {"\xE2\x80\xAE"s + "reversed_secret_fn", "/home/janedoe/acme-model/bidi\xE2\x80\xAE.py"},
        {"nul\0secret_tail"s, "/home/janedoe/acme-model/nul\0name.py"s},
        {"![x](http://evil.example/secret.png)", "/home/janedoe/acme-model/link.py"},
        {"@octocat_secret <img src=http://evil.example/a.png onerror=x>",
            "C:\\Users\\janedoe\\Proj X\\win.py"},
        {"</details></table>\n\n# heading_secret", "/home/janedoe/acme-model/head.py"},
        {"bad\xFFutf8_secret\xC0", "/home/janedoe/acme-model/bad.py"},
        {"Long_secret_" + std::string(1 << 20, 'Q') + "_end_of_secret", "/home/janedoe/acme-model/long.py"},
        {"AcmeFusedAttention_forward", "/lustre/projects/acme/models/attention_impl.py"},
        {"plainword", "/home/janedoe/acme-model/plain.py"},
        {"$(rm_secret)&amp;#x3c;", "<ipython-input-3-secretcell>"},
    };
}

std::shared_ptr<const Snapshot> attackSnapshot()
{
    TraceMaker maker;
    SnapshotBuilder& builder = maker.builder();
    const auto frame = [&](const std::string& name, const std::string& file, std::uint32_t line) {
        return builder.frames().intern(
            {builder.strings().intern(name), builder.strings().intern(file), line});
    };
    const FrameId library = frame(
        "_call_impl", "/home/janedoe/env/lib/python3.11/site-packages/torch/nn/modules/module.py", 1511);
    const FrameId root = frame("acme_main_entry", "/home/janedoe/acme-model/run.py", 3);
    std::uint64_t address = 0x7f0000000000ULL;
    std::int64_t size = 1 << 20;
    std::uint32_t line = 10;
    maker.setTime(1'700'000'000'000'000);
    for (const auto& [name, file] : attackFrames()) {
        const std::vector<FrameId> frames{frame(name, file, line++), library, root};
        EventRow& row = maker.event(Action::Alloc, address, size, builder.stacks().intern(frames));
        row.userMetadata
            = builder.strings().intern("experiment of Jane: project zeppelin " + std::to_string(line));
        address += 0x10000000ULL;
        size += 1 << 16;
    }
    return maker.finish();
}

namespace {

const std::set<std::string> voidTags{"meta", "link", "img", "br"};
const std::set<std::string> knownTags{"html", "head", "meta", "link", "title", "style", "body", "main",
    "header", "footer", "section", "h1", "h2", "h3", "h4", "p", "strong", "code", "span", "small", "dl",
    "div", "dt", "dd", "table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "ul", "ol", "li",
    "figure", "img", "figcaption", "details", "summary", "pre", "script", "svg", "g", "path", "rect", "text",
    "line", "defs", "desc"};

struct Tag {
    std::string name;
    bool closes = false;
    bool closed = false; ///< "/>"
    std::vector<std::pair<std::string, std::string>> attributes;
    std::string fault;
};

bool isName(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == ':';
}

/// Reads the tag at `at` and moves behind it.
Tag readTag(const std::string& page, std::size_t& at)
{
    Tag tag;
    ++at;
    tag.closes = page[at] == '/';
    at += tag.closes;
    while (at < page.size() && isName(page[at]))
        tag.name.push_back(page[at++]);
    while (at < page.size() && page[at] != '>') {
        if (page[at] == ' ' || page[at] == '\n') {
            ++at;
            continue;
        }
        if (page[at] == '/') {
            tag.closed = true;
            ++at;
            continue;
        }
        std::string name;
        while (at < page.size() && isName(page[at]))
            name.push_back(page[at++]);
        std::string value;
        if (name.empty()) {
            tag.fault = "stray character in <" + tag.name + ">";
            return tag;
        }
        if (page[at] == '=') {
            if (page[at + 1] != '"') {
                tag.fault = "attribute without quotes in <" + tag.name + ">";
                return tag;
            }
            const std::size_t end = page.find('"', at + 2);
            value = page.substr(at + 2, end - at - 2);
            if (value.find('<') != std::string::npos)
                tag.fault = "< inside an attribute of <" + tag.name + ">";
            at = end + 1;
        }
        tag.attributes.emplace_back(name, report::unescapeHtml(value));
    }
    ++at;
    return tag;
}

template <typename Visit>
std::string walk(const std::string& page, const Visit& visit)
{
    std::vector<std::string> open;
    std::size_t at = page.starts_with("<!DOCTYPE html>") ? 15 : 0;
    while ((at = page.find('<', at)) != std::string::npos) {
        const std::size_t from = at;
        const Tag tag = readTag(page, at);
        const std::string where = " near byte " + std::to_string(from) + ": " + page.substr(from, 60);
        if (!tag.fault.empty())
            return tag.fault + where;
        if (!knownTags.contains(tag.name))
            return "unknown tag" + where;
        visit(tag);
        if (tag.closes) {
            if (open.empty() || open.back() != tag.name)
                return "does not close <" + (open.empty() ? std::string() : open.back()) + ">" + where;
            open.pop_back();
        } else if (!voidTags.contains(tag.name) && !tag.closed) {
            open.push_back(tag.name);
            if (tag.name == "style" || tag.name == "script")
                at = page.find("</" + tag.name, at);
        }
    }
    return open.empty() ? std::string() : "<" + open.back() + "> stays open";
}

} // namespace

std::string htmlFault(const std::string& page)
{
    if (!page.starts_with("<!DOCTYPE html>"))
        return "no document type";
    if (!isValidUtf8(page))
        return "no valid UTF-8";
    for (const char c : page)
        if (static_cast<unsigned char>(c) < 0x20 && c != '\n')
            return "control character";
    for (const char* bidi : {"\xE2\x80\xAE", "\xE2\x80\xAD", "\xE2\x81\xA6"})
        if (page.find(bidi) != std::string::npos)
            return "bidirectional override";
    return walk(page, [](const Tag&) {});
}

std::vector<std::string> htmlAttributes(const std::string& page, const std::string& name)
{
    std::vector<std::string> out;
    walk(page, [&](const Tag& tag) {
        for (const auto& [key, value] : tag.attributes)
            if (key == name)
                out.push_back(value);
    });
    return out;
}

std::string shownText(const std::string& written, const std::string& extension)
{
    std::string text;
    if (extension == ".json")
        return written;
    if (extension == ".html")
        return report::unescapeHtml(written);
    for (std::size_t i = 0; i < written.size(); ++i)
        if (written[i] != '\\' || i + 1 == written.size())
            text.push_back(written[i]);
    return report::unescapeHtml(text);
}

std::size_t characters(const std::string& text)
{
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

const report::Table* tableOf(
    const report::Document& document, const std::string& section, const std::string& id)
{
    const report::Section* found = document.section(section);
    if (found != nullptr)
        for (const report::Block& block : found->blocks)
            if (const auto* table = std::get_if<report::Table>(&block); table != nullptr && table->id == id)
                return table;
    return nullptr;
}

const report::Figure* figureOf(const report::Document& document, const std::string& id)
{
    for (const report::Section& section : document.sections)
        for (const report::Block& block : section.blocks)
            if (const auto* figures = std::get_if<report::Figures>(&block))
                for (const report::Figure& each : figures->figures)
                    if (each.id == id)
                        return &each;
    return nullptr;
}

std::int64_t numberOf(const report::Cell& cell)
{
    const auto* number = std::get_if<std::int64_t>(&cell.exact);
    return number != nullptr ? *number : -1;
}

} // namespace tidemark::test
