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
    enum class Match {
        NameContains,
        NameIs,
        NameStartsWith,
        /// File rules see paths with / between folders and one in front.
        FileContains,
        FileIs,
        FileEndsWith,
        /// A bare symbol, as linkers name functions, without a file: Python frames always have one.
        SymbolWithoutFile,
        /// Below lib/python3.N (Windows: Python3N/Lib), but not an installed package.
        StandardLibrary,
    };
    Match match;
    const char* text;
    const char* why;
};
std::span<const FrameRule> frameRules();
/// True for frames of PyTorch, CPython, C++ runtimes and the like. Cost: the whole table; ask once a frame.
bool isFrameworkFrame(std::string_view name, std::string_view file);
/// `function@file:line` with the file's base name, safe to show; `function` alone for frames without a file.
std::string frameText(const Snapshot& snapshot, FrameId frame);

/// Name of the autograd node a frame's function runs, as in the graph: "MulBackward0", "AccumulateGrad"; empty
/// for other functions.
std::string_view autogradNode(std::string_view function);

/// How sites are chosen from stacks.
enum class SiteMode {
    User, ///< innermost frame that is not framework-internal
    Raw, ///< innermost frame of all, apart from the recorder's and the allocator's own
};

/// Call sites of one snapshot: one per distinct text, found once per distinct stack. Stacks of frameworks
/// only (the backward thread runs no Python) get the autograd node: "DivBackward0 (backward)", else the
/// innermost Python frame, else the operator: "aten::sum (backward)".
class Sites {
public:
    static Sites build(const Snapshot& snapshot, SiteMode mode);

    /// Site of a stack; SiteId::none for StackId::none and empty stacks.
    SiteId of(StackId stack) const { return valid(stack) ? m_ofStack[index(stack)] : SiteId::none; }
    /// `function@file:line`, safe to show.
    const std::string& name(SiteId site) const { return m_names[index(site)]; }
    std::size_t count() const { return m_names.size(); }
    SiteMode mode() const { return m_mode; }

    /// Whether a frame is a framework's, by frameRules().
    bool isFramework(FrameId frame) const { return m_frameworkFrame[index(frame)] != 0; }
    /// Indices of a stack's frames that are the user's own, innermost first.
    std::vector<std::uint32_t> ownFrames(const Snapshot& snapshot, StackId stack) const;

private:
    SiteMode m_mode{};
    std::vector<SiteId> m_ofStack;
    std::vector<std::string> m_names;
    std::vector<std::uint8_t> m_frameworkFrame;
};

/// The site's name of an allocation as tables and pictures show it: for predating ones without a stack of
/// their own "before recording → end" or "before recording → function@file:line" (where it was freed); "no
/// stack" when nothing was recorded.
std::string allocationSite(const Replay& replay, const Sites& sites, AllocationId id);

/// Why an allocation has no stack, in one sentence; empty when it has one.
std::string whyNoStack(const Replay& replay, AllocationId id);

} // namespace tidemark
