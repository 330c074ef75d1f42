// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

/// Every bound the engine puts on input, in one place. A limit refuses or shortens with a sentence, never
/// silently.
namespace tidemark::limits {

/// Events of one device: indices are 32 bits wide and the topmost values are markers.
inline constexpr std::uint64_t maxEvents = 0xfffffff0ULL;
/// Nesting of lists and dicts kept while reading; PyTorch writes at most 6 levels.
inline constexpr std::size_t maxDepth = 256;
/// Memo slots of a pickle below this are kept in an array whatever their order; higher ones only while they
/// come about in sequence, else in a hash table. So a slot number never decides how much memory is taken.
inline constexpr std::size_t flatMemoSlots = 1U << 20;
/// Brackets open at once in a JSON text that is only skipped over.
inline constexpr std::size_t maxJsonDepth = 1U << 20;
/// Bytes of one string that is kept whole (a C++ symbol of 75 kB exists); longer ones are cut and counted.
inline constexpr std::size_t maxStringBytes = 1U << 20;
/// A string above this is long; once maxLongTextBytes of distinct long ones are kept, further ones are cut to
/// it.
inline constexpr std::size_t longTextBytes = 4096;
inline constexpr std::size_t maxLongTextBytes = 32U << 20;
/// Memory for lists and dicts that are no part of a snapshot (under unknown keys); what is beyond is not
/// kept.
inline constexpr std::size_t maxLooseBytes = 64U << 20;
/// A list of this many bare numbers is not kept.
inline constexpr std::size_t maxLooseItems = 1U << 16;
/// Names of foreign classes told apart in one file.
inline constexpr std::size_t maxForeignNames = 64;
/// Highest device ordinal taken for real.
inline constexpr std::int64_t maxDevice = 4095;
/// Values a pickle may hold open at once: this many plus one per 16 bytes read, and open MARKs.
inline constexpr std::size_t maxOpenValues = 1U << 22;
inline constexpr std::size_t maxOpenMarks = 1U << 16;
/// Objects a file may make (containers that can be referred to, events, segments, blocks, range marks, memo
/// slots): this many plus one per 8 bytes read. A real one needs some 20 bytes and more.
inline constexpr std::size_t maxObjects = 1U << 22;
/// Numbers kept beside the values themselves (fractions, and whole ones of more than 55 bits): this many plus
/// one per 8 bytes.
inline constexpr std::size_t maxBoxedNumbers = 1U << 24;
/// Bytes of all different texts: this many plus two per byte read. Beyond, texts made of others are cut.
inline constexpr std::size_t maxTextBytes = 64U << 20;
inline constexpr std::size_t shortTextBytes = 80;
/// Frames of all different stacks: this many plus one per byte read. Beyond, stacks are cut.
inline constexpr std::size_t maxStackCells = 1U << 24;
inline constexpr std::size_t shortStackFrames = 64;
/// Rows of a profiler's memory timeline: this many plus one per 8 bytes read. A real one needs 30 and more.
inline constexpr std::size_t maxTimelineRows = 1U << 20;
/// Pairs of a dict that is kept whatever else is dropped because it is a part of a snapshot.
inline constexpr std::size_t maxKeptPairs = 256;
/// Events a file may list: this many plus one per 16 bytes. More are references to the same few, without end.
inline constexpr std::size_t maxRepeatedEvents = 1U << 21;
/// Different pairs of numbers (pool ids) told apart.
inline constexpr std::size_t maxPairs = 1U << 18;
/// Frames kept of one stack; what is beyond is counted, not stored.
inline constexpr std::size_t maxStackFrames = 4096;
/// Names kept as examples in one data-quality note.
inline constexpr std::size_t maxExamples = 8;

} // namespace tidemark::limits
