// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/recorded_snapshot.hpp"

#include <cstdint>

namespace tidemark::test {

/// Size of the invented training run; the defaults make the bundled sample.
struct SampleTraining {
    std::uint64_t hidden = 2048;
    std::uint64_t layers = 12;
    std::uint64_t heads = 16;
    std::uint64_t vocabulary = 32000;
    std::uint64_t batch = 4;
    std::uint64_t capacityBytes = std::uint64_t{47} << 29; ///< 23.5 GiB
    int steps = 8;
    /// After every so many steps a validation, with a batch that does not always fit: it catches that and
    /// tries again with half of it.
    int validateEvery = 4;
};

/// Plays a training run of an invented program, "harbor", a picture-captioning transformer, against
/// CachingAllocator and returns what PyTorch would have recorded of it: the model loaded before recording
/// starts, batches of changing length that a second stream copies, forward, backward and AdamW, metrics that
/// keep one more tensor each step, one failed request, and holes that all this leaves. The same input gives
/// the same bytes on every machine.
RecordedSnapshot recordSampleTraining(const SampleTraining& training = {});

} // namespace tidemark::test
