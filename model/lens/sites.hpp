// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/replay.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// A rule that says which frames belong to frameworks rather than to the user's program. The table is the
/// single place that decides (visible in the help); sites and folded stacks both use it.
struct FrameRule {
    enum class Match { NameContains, NameIs, FileContains, FileIs };
    Match match;
    const char* text;
    const char* why;
};
std::span<const FrameRule> frameRules();
/// True for frames of PyTorch, CPython, C++ runtimes and the like.
bool isFrameworkFrame(std::string_view name, std::string_view file);

/// How sites are chosen from stacks.
enum class SiteMode {
    User, ///< innermost frame that is not framework-internal
    Raw, ///< innermost frame of all
};

/// Call sites of one snapshot: one per distinct `function@file:line`, found once per distinct stack.
class Sites {
public:
    static Sites build(const Snapshot& snapshot, SiteMode mode);

    /// Site of a stack; SiteId::none for StackId::none and empty stacks.
    SiteId of(StackId stack) const;
    /// `function@file:line` with the file's base name; `function` alone for frames without a file.
    const std::string& name(SiteId site) const { return m_names[index(site)]; }
    std::size_t count() const { return m_names.size(); }

    /// Indices of a stack's frames that are the user's own, innermost first.
    std::vector<std::uint32_t> ownFrames(const Snapshot& snapshot, StackId stack) const;

private:
    std::vector<SiteId> m_ofStack;
    std::vector<std::string> m_names;
    std::vector<std::uint8_t> m_frameworkFrame;
};

/// The site's name of an allocation as tables and pictures show it: for predating ones "before recording →
/// end" or "before recording → function@file:line" (where it was freed); "no stack" when nothing was
/// recorded.
std::string allocationSite(const Replay& replay, const Sites& sites, AllocationId id);

/// Why an allocation has no stack, in one sentence; empty when it has one (cases U-12).
std::string whyNoStack(const Replay& replay, AllocationId id);

} // namespace tidemark
