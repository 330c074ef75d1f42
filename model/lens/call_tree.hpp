// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/scope.hpp"
#include "model/lens/sites.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tidemark {

enum class TreeDirection : std::uint8_t { FromRoot, FromLeaf };
enum class TreeWeight : std::uint8_t { Bytes, BytesTime, Count };
/// What makes two frames one.
enum class FrameKey : std::uint8_t {
    Line, ///< function@file:line
    Function,
    File,
    Module, ///< the file's place below site-packages, with dots
};

/// What a call tree is made of.
struct CallTreeWish {
    Scope scope;
    ScopePart part = ScopePart::Allocated;
    TreeDirection direction = TreeDirection::FromRoot;
    TreeWeight weight = TreeWeight::Bytes;
    FrameKey key = FrameKey::Line;
    /// Frames of frameworks are left out; stacks of nothing else keep their site's name.
    bool ownFramesOnly = true;
    /// One flag per AllocationId: matches of a search, counted apart. Null: none.
    std::shared_ptr<const std::vector<std::uint8_t>> matches;
};

/// Who asked for memory, by call stack. Node 0 is everything; nodes follow in depth-first order, heaviest
/// first, so the nodes below one are those up to its `end`. Every node's figures are the sums of the stacks
/// that pass through it; what the children lack ends in the node itself. Immutable after build.
struct CallTree {
    static constexpr std::uint32_t none = 0xffffffffU;
    struct Node {
        std::uint32_t name = 0; ///< place in names
        std::uint32_t parent = none;
        std::uint32_t end = 0; ///< first node behind those below it
        std::uint32_t depth = 0;
        std::uint32_t children = 0; ///< their places are childList[firstChild …]
        std::uint32_t firstChild = 0;
        std::uint32_t row = 0; ///< place among its parent's children
        std::uint64_t bytes = 0; ///< requested
        std::uint64_t count = 0;
        double byteTime = 0; ///< Σ bytes × microseconds within the scope
        std::uint64_t matchedBytes = 0;
        std::uint64_t matchedCount = 0;
        /// The largest allocation of the stacks that pass through, for its colour.
        AllocationId largest = AllocationId::none;
        bool predating = false; ///< all of it is older than the recording and has no stack
    };
    TreeDirection direction = TreeDirection::FromRoot;
    TreeWeight weight = TreeWeight::Bytes;
    Scope scope;
    ScopePart part = ScopePart::Allocated;
    bool filtered = false;
    std::vector<Node> nodes;
    std::vector<std::uint32_t> childList;
    std::vector<std::string> names; ///< safe to show
    /// Where the stack of an allocation ends: by StackId, then what has no stack, by number of its place.
    std::vector<std::uint32_t> leafOf;
    std::vector<std::uint32_t> placeOf; ///< of allocations of the scope, place in leafOf; by `ids`
    std::vector<AllocationId> ids;

    const std::string& name(std::uint32_t node) const { return names[nodes[node].name]; }
    double value(std::uint32_t node, TreeWeight by) const;
    double value(std::uint32_t node) const { return value(node, weight); }
    std::uint32_t child(std::uint32_t node, std::uint32_t row) const
    {
        return childList[nodes[node].firstChild + row];
    }
    /// The allocations whose stacks pass through a node, by id. Cost: a pass over the scope's.
    std::vector<AllocationId> allocations(std::uint32_t node) const;
    /// "main@a.py:1;forward@b.py:2 1024", a line for each stack with something in it, from the root: what
    /// flame-graph tools read. Bytes, counts, or byte × time in byte seconds.
    std::string folded() const;
    /// The tree below a node as indented text with figures, to paste; nodes below 1/1000 of it are summed up.
    std::string text(std::uint32_t node) const;
};

/// Cost: one pass over the scope's allocations and one step per frame of each distinct stack. Absent when
/// stopped. Any thread.
std::optional<CallTree> buildCallTree(
    const Replay& replay, const Sites& sites, const CallTreeWish& wish, const Job& job);

} // namespace tidemark
