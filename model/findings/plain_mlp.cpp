// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/plain_mlp.hpp"

#include "model/findings/stack_facts.hpp"
#include "model/lens/frame_matcher.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tidemark {

namespace {

/// A function's lines lie this near to the one that calls the activation: a short body, and less than what
/// separates the bodies of two classes one below the other.
constexpr std::uint64_t linesBefore = 8;
constexpr std::uint64_t linesAfter = 12;

enum class Kind : std::uint8_t { Other, Torch, Native, Activation, Convolution };

constexpr std::array activationNames{std::string_view("silu"), std::string_view("gelu"),
    std::string_view("relu"), std::string_view("relu2"), std::string_view("squared_relu"),
    std::string_view("swiglu"), std::string_view("geglu"), std::string_view("glu"),
    std::string_view("quick_gelu"), std::string_view("leaky_relu"), std::string_view("mish")};

Kind kindOf(std::string_view name, std::string_view file)
{
    name = bareName(name);
    if (std::find(activationNames.begin(), activationNames.end(), name) != activationNames.end())
        return Kind::Activation;
    const bool module = name == "forward";
    if (module
        && (file.ends_with("torch/nn/modules/activation.py")
            || file.ends_with("transformers/activations.py")))
        return Kind::Activation;
    if (file.ends_with("torch/nn/modules/conv.py"))
        return Kind::Convolution;
    const std::size_t torch = file.rfind("torch/");
    if (torch != std::string_view::npos && (torch == 0 || file[torch - 1] == '/'))
        return Kind::Torch;
    return file.ends_with(".py") || file.starts_with('<') ? Kind::Other : Kind::Native;
}

/// A function by name, file and its callers, and the lines at which it calls an activation.
struct Function {
    std::set<std::uint64_t> lines;
    /// Holds attention, a convolution or another such function: a whole block, not its feed-forward part. Or
    /// holds adapters, whose copies lora-extra-copies speaks of.
    bool more = false;
};

class Search {
public:
    Search(const Snapshot& snapshot, std::span<const std::uint64_t> facts)
        : m_snapshot(snapshot)
        , m_facts(facts)
    {
        m_kinds.reserve(snapshot.frames.size());
        for (std::size_t i = 0; i < snapshot.frames.size(); ++i) {
            const Frame& frame = snapshot.frames[static_cast<FrameId>(i)];
            std::string file(valid(frame.file) ? snapshot.strings.view(frame.file) : std::string_view());
            std::replace(file.begin(), file.end(), '\\', '/');
            m_kinds.push_back(
                valid(frame.name) ? kindOf(snapshot.strings.view(frame.name), file) : Kind::Native);
        }
    }

    std::vector<bool> run()
    {
        std::vector<bool> inside(m_facts.size());
        forEachStack([this](std::size_t, std::span<const FrameId> frames) { collect(frames); });
        if (m_functions.empty())
            return inside;
        forEachStack([this](std::size_t stack, std::span<const FrameId> frames) { reject(stack, frames); });
        forEachStack([&](std::size_t stack, std::span<const FrameId> frames) {
            inside[stack] = (m_facts[stack] & excluded) == 0 && encloses(frames);
        });
        return inside;
    }

private:
    static constexpr std::uint64_t excluded = in::MegatronCore | in::Replay | in::Moe | in::SharedExperts;

    template <class Visit>
    void forEachStack(Visit visit) const
    {
        for (std::size_t i = 0; i < m_facts.size(); ++i)
            visit(i, m_snapshot.stacks[static_cast<StackId>(i)]);
    }
    Kind kind(FrameId frame) const { return m_kinds[index(frame)]; }
    std::uint64_t line(FrameId frame) const { return m_snapshot.frames[frame].line; }
    std::uint64_t mixed(std::uint64_t key, std::uint64_t value) const
    {
        return (key ^ (value + 0x9e3779b97f4a7c15ULL)) * 0xff51afd7ed558ccdULL + (key >> 29U);
    }
    /// Walks outside in; `visit` gets the frame's position and its function's key. What lies between two
    /// functions of the program (torch's own calls, the interpreter) differs from call to call.
    template <class Visit>
    void walk(std::span<const FrameId> frames, Visit visit) const
    {
        std::uint64_t callers = 1;
        for (std::size_t i = frames.size(); i-- > 0;) {
            if (kind(frames[i]) != Kind::Other)
                continue;
            const Frame& frame = m_snapshot.frames[frames[i]];
            visit(i, mixed(mixed(callers, index(frame.name)), index(frame.file)));
            callers = mixed(callers, index(frames[i]));
        }
    }

    /// The function that calls the outermost activation of a stack.
    void collect(std::span<const FrameId> frames)
    {
        std::size_t caller = frames.size();
        for (std::size_t i = frames.size(); i-- > 0 && caller == frames.size();)
            if (kind(frames[i]) == Kind::Activation)
                for (std::size_t j = i + 1; j < frames.size() && caller == frames.size(); ++j)
                    if (kind(frames[j]) == Kind::Other)
                        caller = j;
        if (caller == frames.size())
            return;
        walk(frames, [&](std::size_t i, std::uint64_t key) {
            if (i == caller)
                m_functions[key].lines.insert(line(frames[i]));
        });
    }
    void reject(std::size_t stack, std::span<const FrameId> frames)
    {
        const bool more = (m_facts[stack] & (in::PlainAttention | in::FusedAttention | in::AnyLora)) != 0
            || std::any_of(frames.begin(), frames.end(),
                [this](FrameId frame) { return kind(frame) == Kind::Convolution; });
        Function* outer = nullptr;
        walk(frames, [&](std::size_t, std::uint64_t key) {
            const auto found = m_functions.find(key);
            if (found == m_functions.end())
                return;
            found->second.more = found->second.more || more;
            if (outer != nullptr)
                outer->more = true;
            outer = &found->second;
        });
    }
    bool encloses(std::span<const FrameId> frames) const
    {
        bool found = false;
        walk(frames, [&](std::size_t i, std::uint64_t key) {
            const auto function = m_functions.find(key);
            if (found || function == m_functions.end() || function->second.more)
                return;
            const std::uint64_t at = line(frames[i]);
            const auto near = function->second.lines.lower_bound(at - std::min(at, linesAfter));
            found = near != function->second.lines.end() && *near <= at + linesBefore;
        });
        return found;
    }

    const Snapshot& m_snapshot;
    std::span<const std::uint64_t> m_facts;
    std::vector<Kind> m_kinds; ///< by frame
    std::unordered_map<std::uint64_t, Function> m_functions;
};

} // namespace

std::vector<bool> plainMlpStacks(const Snapshot& snapshot, std::span<const std::uint64_t> factsOfStack)
{
    return Search(snapshot, factsOfStack).run();
}

} // namespace tidemark
