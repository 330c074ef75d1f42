// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/frame_matcher.hpp"

#include <algorithm>
#include <unordered_map>

namespace tidemark {

namespace {

/// Longest name compared with a pattern; symbols of compiled code go on for kilobytes.
constexpr std::size_t maxName = 200;
/// Of a function and of a path, what expressions see.
constexpr std::size_t maxExpressionText = 4096;

bool fitsName(const FramePattern& pattern, std::string_view name)
{
    if (pattern.functions.empty())
        return true;
    const std::string_view bare = bareName(name);
    return name.size() <= maxName
        && std::ranges::any_of(pattern.functions, [name, bare](const std::string& wanted) {
               return wanted.find('*') == std::string::npos
                   ? wanted == name || wanted == bare
                   : fitsGlob(wanted, name) || fitsGlob(wanted, bare);
           });
}

/// `whole`: the frame's text, made when first asked for.
bool fitsExpression(
    const FramePattern& pattern, const Snapshot& snapshot, const Frame& frame, std::string& whole)
{
    if (whole.empty()) {
        whole = std::string(snapshot.strings.view(frame.name).substr(0, maxExpressionText)) + "@"
            + std::string(snapshot.strings.view(frame.file).substr(0, maxExpressionText));
        if (frame.line > 0)
            whole += ":" + std::to_string(frame.line);
    }
    return pattern.expression(whole);
}

} // namespace

std::string_view bareName(std::string_view name)
{
    if (name.find("::") != std::string_view::npos)
        return name;
    const std::size_t dot = name.rfind('.');
    return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

bool fitsGlob(std::string_view pattern, std::string_view text)
{
    // The usual walk with one place to come back to per kind of star: "**" takes over from "*".
    struct Retry {
        std::size_t pattern = std::string_view::npos;
        std::size_t text = 0;
    };
    Retry star;
    Retry doubleStar;
    std::size_t p = 0;
    std::size_t t = 0;
    for (;;) {
        if (p < pattern.size() && pattern[p] == '*') {
            const bool two = pattern.substr(p).starts_with("**");
            p += two ? 2 : 1;
            (two ? doubleStar : star) = {p, t};
            if (two)
                star = {};
            continue;
        }
        if (p == pattern.size() && t == text.size())
            return true;
        if (p < pattern.size() && t < text.size() && pattern[p] == text[t]) {
            ++p;
            ++t;
            continue;
        }
        if (star.pattern != std::string_view::npos && star.text < text.size() && text[star.text] != '/') {
            p = star.pattern;
            t = ++star.text;
            continue;
        }
        if (doubleStar.pattern == std::string_view::npos || doubleStar.text >= text.size())
            return false;
        star = {};
        p = doubleStar.pattern;
        t = ++doubleStar.text;
    }
}

bool fitsPathEnd(std::string_view pattern, std::string_view path)
{
    if (pattern.empty())
        return true;
    std::string plain;
    if (path.find('\\') != std::string_view::npos) {
        plain = path;
        std::ranges::replace(plain, '\\', '/');
        path = plain;
    }
    if (pattern.find('*') == std::string_view::npos)
        return path.ends_with(pattern)
            && (path.size() == pattern.size() || path[path.size() - pattern.size() - 1] == '/');
    for (std::size_t from = 0; from != std::string_view::npos;) {
        if (fitsGlob(pattern, path.substr(from)))
            return true;
        const std::size_t slash = path.find('/', from);
        from = slash == std::string_view::npos ? slash : slash + 1;
    }
    return false;
}

std::size_t FrameMatcher::add(std::span<const FramePattern> anyOf)
{
    for (const FramePattern& pattern : anyOf)
        m_patterns.push_back({&pattern, m_groups});
    return m_groups++;
}

void FrameMatcher::build(const Snapshot& snapshot)
{
    m_words = (m_groups + 63) / 64;
    m_bits.assign(snapshot.frames.size() * m_words, 0);
    std::unordered_map<StringId, std::vector<Pattern>> ofFile;
    std::string whole;
    for (std::uint32_t i = 0; i < snapshot.frames.size(); ++i) {
        const Frame& frame = snapshot.frames[FrameId{i}];
        const auto [entry, added] = ofFile.try_emplace(frame.file);
        if (added)
            std::ranges::copy_if(m_patterns, std::back_inserter(entry->second), [&](const Pattern& p) {
                return p.pattern->expression
                    || fitsPathEnd(p.pattern->path, snapshot.strings.view(frame.file));
            });
        const std::string_view name = snapshot.strings.view(frame.name);
        whole.clear();
        for (const Pattern& p : entry->second)
            if (p.pattern->expression ? fitsExpression(*p.pattern, snapshot, frame, whole)
                                      : fitsName(*p.pattern, name))
                m_bits[i * m_words + p.group / 64] |= std::uint64_t{1} << (p.group % 64);
    }
}

} // namespace tidemark
