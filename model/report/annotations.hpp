// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tidemark::report {

enum class AnnotationKind : std::uint8_t { Note, Box, Arrow, Ruler, Pin };
const char* annotationKindName(AnnotationKind kind); ///< "note", "box", "arrow", "ruler", "pin"
std::optional<AnnotationKind> annotationKindFromName(std::string_view name);

/// A point of a plot: the moment after an event, and bytes on the other axis.
struct PointAnchor {
    std::int64_t event = 0; ///< −1: before the first
    std::int64_t bytes = 0;
    bool operator==(const PointAnchor&) const = default;
};
/// An allocation, found again by its alloc event, or (older than the recording) by address and generation.
struct AllocationAnchor {
    std::optional<std::int64_t> allocEvent;
    std::uint64_t address = 0;
    std::uint32_t generation = 0; ///< allocations at the address before it
    bool operator==(const AllocationAnchor&) const = default;
};
/// A segment: its address, at the moment after an event.
struct SegmentAnchor {
    std::uint64_t address = 0;
    std::int64_t event = 0;
    bool operator==(const SegmentAnchor&) const = default;
};
/// A finding: the n-th of its rule, from 0.
struct FindingAnchor {
    std::string rule;
    std::uint32_t index = 0;
    bool operator==(const FindingAnchor&) const = default;
};
using Anchor = std::variant<std::monostate, PointAnchor, AllocationAnchor, SegmentAnchor, FindingAnchor>;

/// One remark, tied to the data, so that it stays right through zoom, theme and export.
struct Annotation {
    std::uint64_t id = 0; ///< unique in its list, never used again; 0: not in a list
    AnnotationKind kind = AnnotationKind::Note;
    std::string view = "timeline"; ///< "timeline", "segments", "compare", "ranks"
    std::uint32_t input = 0; ///< position among the session's inputs
    std::int32_t device = 0; ///< ordinal
    Anchor from;
    Anchor to; ///< other corner of a box, head of an arrow, end of a ruler
    std::string text;
    double labelX = 0; ///< where the label stands, logical pixels from the anchor
    double labelY = 0;
    std::string extra; ///< unknown keys of the file it came from, as a JSON object; kept
    bool operator==(const Annotation&) const = default;
};

/// A list of remarks with undo and redo. A value: copies are independent and cheap.
class Annotations {
public:
    using Items = std::vector<Annotation>;
    /// Steps kept.
    static constexpr std::size_t depth = 200;

    Annotations();
    explicit Annotations(Items items); ///< gives ids to those without, or with one that is taken

    const Items& items() const { return *m_now; }
    const Annotation* find(std::uint64_t id) const;
    /// At the end, or in front of position `at`. Returns the new id.
    std::uint64_t add(Annotation annotation, std::optional<std::size_t> at = std::nullopt);
    /// Replaces the one with this id, which stays; false when there is none or nothing changes.
    bool edit(std::uint64_t id, Annotation annotation);
    /// To a position in the list without it; false when there is none or it stays where it is.
    bool move(std::uint64_t id, std::size_t to);
    bool remove(std::uint64_t id);

    bool canUndo() const { return !m_past.empty(); }
    bool canRedo() const { return !m_future.empty(); }
    bool undo(); ///< false when there is nothing to undo
    bool redo();

private:
    void change(Items items);
    std::size_t position(std::uint64_t id) const;

    std::shared_ptr<const Items> m_now;
    std::vector<std::shared_ptr<const Items>> m_past;
    std::vector<std::shared_ptr<const Items>> m_future;
    std::uint64_t m_nextId = 1;
};

/// "event 212 at 34.50 GiB", "allocation 0x7f40… made by event 12", "finding fragmentation": what a remark
/// is tied to.
std::string anchorText(const Anchor& anchor);
/// "from … to …": both anchors; a ruler also tells its length in events and bytes.
std::string placeText(const Annotation& annotation);

} // namespace tidemark::report
