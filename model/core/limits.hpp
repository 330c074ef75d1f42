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
/// Highest memo slot accepted in a pickle, far above what real files use per byte.
inline constexpr std::uint64_t maxMemoSlots = 1ULL << 28;
/// Bytes of one string that is kept whole (a C++ symbol of 75 kB exists); longer ones are cut and counted.
inline constexpr std::size_t maxStringBytes = 1U << 20;
/// Frames kept of one stack; what is beyond is counted, not stored.
inline constexpr std::size_t maxStackFrames = 4096;
/// Names kept as examples in one data-quality note.
inline constexpr std::size_t maxExamples = 8;

} // namespace tidemark::limits
