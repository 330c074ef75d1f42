// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/ids.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tidemark {

/// All texts of a snapshot, each distinct one once, in one arena. Bytes are as in the file (they may be
/// invalid UTF-8 or hold NUL and control characters): widgets and terminals show them through core/text.hpp.
class StringTable {
public:
    /// The id of `text`, adding it on first sight. Cost: one hash.
    StringId intern(std::string_view text);
    /// Views stay valid for the life of the table as long as nothing is added.
    std::string_view view(StringId id) const;
    std::size_t size() const { return m_entries.size(); }
    /// Bytes of all texts.
    std::size_t bytes() const { return m_bytes.size(); }

private:
    friend class CacheAccess;
    struct Entry {
        std::uint64_t offset;
        std::uint32_t length;
        std::uint32_t hash;
    };
    void grow();

    std::vector<char> m_bytes;
    std::vector<Entry> m_entries;
    std::vector<std::uint32_t> m_slots; // open addressing, 0 = empty, else id + 1
};

/// One level of a call stack. `line` is 0 when unknown (C++ frames).
struct Frame {
    StringId name = StringId::none;
    StringId file = StringId::none;
    std::uint32_t line = 0;

    bool operator==(const Frame&) const = default;
};

/// Fields added by `_dump_snapshot(augment_with_fx_traces=True)`; none where absent or None.
struct FxInfo {
    StringId op = StringId::none;
    StringId name = StringId::none;
    StringId target = StringId::none;
    StringId trace = StringId::none;
};

class FrameTable {
public:
    FrameId intern(const Frame& frame);
    const Frame& operator[](FrameId id) const { return m_frames[index(id)]; }
    std::size_t size() const { return m_frames.size(); }

    void setFx(FrameId id, const FxInfo& info) { m_fx[id] = info; }
    /// FX fields of a frame, null when it has none.
    const FxInfo* fx(FrameId id) const;

private:
    friend class CacheAccess;
    std::vector<Frame> m_frames;
    std::vector<std::uint32_t> m_slots;
    std::unordered_map<FrameId, FxInfo> m_fx;
};

/// Call stacks, innermost frame first, each distinct list once. An empty stack has its own id: it says
/// "recorded, but without frames", while StackId::none says "nothing was recorded".
class StackTable {
public:
    StackId intern(std::span<const FrameId> frames);
    std::span<const FrameId> operator[](StackId id) const;
    std::size_t size() const { return m_ends.size(); }
    /// Frames of all stacks.
    std::size_t frames() const { return m_frames.size(); }

private:
    friend class CacheAccess;
    std::vector<FrameId> m_frames;
    std::vector<std::uint64_t> m_ends;
    std::vector<std::uint32_t> m_hashes;
    std::vector<std::uint32_t> m_slots;
};

} // namespace tidemark
