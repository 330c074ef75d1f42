// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/lens/sites.hpp"

#include "model/core/text.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace tidemark {

namespace {

/// Longest function name shown; C++ symbols go on for kilobytes.
constexpr std::size_t maxNameChars = 120;

bool isIdentifier(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The frames that record the stack and the allocator's own: they say nothing of who asked for memory.
bool isRecorder(std::string_view name)
{
    constexpr std::array parts{"unwind::unwind", "CapturedTraceback::gather", "gather_with_cpp",
        "CachingAllocator::", "CachingHostAllocator", "ExpandableSegment"};
    return std::any_of(parts.begin(), parts.end(),
        [name](const char* part) { return name.find(part) != std::string_view::npos; });
}

/// "f(int)" and "f<int>(int)" become "f"; operators and lambdas keep what comes after.
std::string_view withoutArguments(std::string_view name)
{
    std::size_t end = name.find('(');
    if (end == 0 || end == std::string_view::npos)
        return name;
    if (const std::size_t angle = name.substr(0, end).find('<'); angle != std::string_view::npos && angle > 0)
        end = angle;
    return name.substr(0, end);
}

} // namespace

std::string_view autogradNode(std::string_view name)
{
    constexpr std::string_view kineto = "autograd::engine::evaluate_function: ";
    if (name.starts_with(kineto))
        return name.substr(kineto.size());
    if (name.find("torch::autograd::") == std::string_view::npos)
        return {};
    if (name.find("::AccumulateGrad") != std::string_view::npos)
        return "AccumulateGrad";
    for (const std::string_view call : {"::apply(", "_apply_functional("}) {
        const std::size_t end = name.find(call);
        if (end == std::string_view::npos)
            continue;
        std::size_t begin = end;
        while (begin > 0 && isIdentifier(name[begin - 1]))
            --begin;
        const std::string_view node = name.substr(begin, end - begin);
        if (!node.empty() && node != "Node" && node != "PyNode" && node != "Engine")
            return node;
    }
    return {};
}

namespace {

/// Name of the operator a dispatcher or profiler frame calls: "aten::sum_dim_IntList".
std::string operatorOf(std::string_view name)
{
    if (name.starts_with("aten::"))
        return std::string(name);
    constexpr std::string_view scope = "at::_ops::";
    const std::size_t begin = name.find(scope);
    if (begin == std::string_view::npos)
        return {};
    std::string_view op = name.substr(begin + scope.size());
    const std::size_t end = op.find("::");
    if (end == std::string_view::npos)
        return {};
    op = op.substr(0, end);
    return "aten::" + std::string(op);
}

/// Finds the site's text of one stack.
class SiteFinder {
public:
    SiteFinder(const Snapshot& snapshot, const std::vector<std::uint8_t>& framework, SiteMode mode)
        : m_snapshot(snapshot)
        , m_framework(framework)
        , m_mode(mode)
    { }

    std::string find(std::span<const FrameId> stack) const
    {
        if (m_mode == SiteMode::Raw) {
            for (const FrameId frame : stack)
                if (!isRecorder(name(frame)))
                    return frameText(m_snapshot, frame);
            return frameText(m_snapshot, stack.front());
        }
        for (const FrameId frame : stack)
            if (m_framework[index(frame)] == 0)
                return frameText(m_snapshot, frame);
        return ofFrameworks(stack);
    }

private:
    std::string_view name(FrameId frame) const
    {
        return m_snapshot.strings.view(m_snapshot.frames[frame].name);
    }

    bool isPython(FrameId id) const
    {
        const Frame& frame = m_snapshot.frames[id];
        const std::string_view file = m_snapshot.strings.view(frame.file);
        return file.ends_with(".py") || file.starts_with('<');
    }

    std::string ofFrameworks(std::span<const FrameId> stack) const
    {
        for (const FrameId frame : stack)
            if (const std::string_view node = autogradNode(name(frame)); !node.empty())
                return displayText(node, maxNameChars) + (node == "AccumulateGrad" ? "" : " (backward)");
        for (const FrameId frame : stack)
            if (isPython(frame))
                return frameText(m_snapshot, frame);
        const bool backward = std::any_of(stack.begin(), stack.end(), [this](FrameId frame) {
            return name(frame).find("autograd::Engine::") != std::string_view::npos;
        });
        for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame)
            if (const std::string op = operatorOf(name(*frame)); !op.empty())
                return displayText(op, maxNameChars) + (backward ? " (backward)" : "");
        for (const FrameId frame : stack)
            if (!isRecorder(name(frame)))
                return frameText(m_snapshot, frame);
        return frameText(m_snapshot, stack.front());
    }

    const Snapshot& m_snapshot;
    const std::vector<std::uint8_t>& m_framework;
    SiteMode m_mode;
};

} // namespace

std::string frameText(const Snapshot& snapshot, FrameId id)
{
    const Frame& frame = snapshot.frames[id];
    const std::string_view name = snapshot.strings.view(frame.name);
    const std::string_view file = snapshot.strings.view(frame.file);
    // Without a line the file of a compiled function is that of its library or object: no place to look at.
    if (frame.line == 0 && (file.empty() || file == "none" || file == "??" || !file.ends_with(".py")))
        return displayText(
            name.find("::") != std::string_view::npos ? withoutArguments(name) : name, maxNameChars);
    std::string text = displayText(name, maxNameChars) + "@" + displayText(baseName(file), maxNameChars);
    if (frame.line != 0)
        text += ":" + std::to_string(frame.line);
    return text;
}

Sites Sites::build(const Snapshot& snapshot, SiteMode mode)
{
    Sites sites;
    sites.m_mode = mode;
    sites.m_frameworkFrame.reserve(snapshot.frames.size());
    for (std::uint32_t i = 0; i < snapshot.frames.size(); ++i) {
        const Frame& frame = snapshot.frames[FrameId{i}];
        sites.m_frameworkFrame.push_back(
            isFrameworkFrame(snapshot.strings.view(frame.name), snapshot.strings.view(frame.file)));
    }
    const SiteFinder finder(snapshot, sites.m_frameworkFrame, mode);
    std::unordered_map<std::string, SiteId> known;
    sites.m_ofStack.reserve(snapshot.stacks.size());
    for (std::uint32_t i = 0; i < snapshot.stacks.size(); ++i) {
        const std::span<const FrameId> stack = snapshot.stacks[StackId{i}];
        if (stack.empty()) {
            sites.m_ofStack.push_back(SiteId::none);
            continue;
        }
        const auto [entry, added]
            = known.try_emplace(finder.find(stack), SiteId{static_cast<std::uint32_t>(sites.m_names.size())});
        if (added)
            sites.m_names.push_back(entry->first);
        sites.m_ofStack.push_back(entry->second);
    }
    return sites;
}

std::vector<std::uint32_t> Sites::ownFrames(const Snapshot& snapshot, StackId stack) const
{
    std::vector<std::uint32_t> own;
    if (!valid(stack))
        return own;
    const std::span<const FrameId> frames = snapshot.stacks[stack];
    for (std::uint32_t i = 0; i < frames.size(); ++i)
        if (m_frameworkFrame[index(frames[i])] == 0)
            own.push_back(i);
    return own;
}

std::string allocationSite(const Replay& replay, const Sites& sites, AllocationId id)
{
    const AllocationColumns& c = replay.timeline.allocations();
    if (const SiteId site = sites.of(c.stack[index(id)]); valid(site))
        return sites.name(site);
    // In a file without history everything is older than the recording; saying so of each explains nothing.
    if (c.origin[index(id)] == Origin::Traced || replay.device().events.count() <= 1)
        return "no stack";
    if (c.origin[index(id)] == Origin::AliveAtEnd)
        return "before recording → end";
    const SiteId freed = sites.of(replay.timeline.freeStack(id, replay.device()));
    return valid(freed) ? "before recording → " + sites.name(freed) : "before recording → freed";
}

} // namespace tidemark
