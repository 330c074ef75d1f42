// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/result.hpp"
#include "model/replay/block_rules.hpp"
#include "model/snapshot/snapshot.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark {

/// The settings of PyTorch's CUDA caching allocator that decide where memory goes. Bytes. Defaults are
/// PyTorch's. Source: CUDAAllocatorConfig of c10/cuda/CUDAAllocatorConfig.h, PyTorch 2.6;
/// large_segment_size_mb and per_process_memory_fraction as configuration keys: c10/core/AllocatorConfig.h,
/// PyTorch 2.10 and later.
struct AllocatorSettings {
    bool expandableSegments = false;
    /// Rounding of requests (roundup_power2_divisions, Ascend's padding), max_split_size_mb and
    /// large_segment_size_mb.
    BlockRules rounding;
    /// How much larger than the request an unsplittable block may be; max_non_split_rounding_mb.
    std::uint64_t maxNonSplitRounding = 20ULL << 20;
    /// Share of the allowed memory from which cached segments are given back; acts only together with a
    /// limit.
    double garbageCollectionThreshold = 0;
    /// Share of the device that this process may reserve; per_process_memory_fraction.
    std::optional<double> memoryFraction;
    /// Private pools may use expandable segments; since PyTorch 2.5.
    bool expandablePrivatePools = true;
    /// Blocks of 2 MiB and more in expandable ranges begin at multiples of this; Ascend: 16 KiB, CUDA: 0.
    std::uint64_t baseAlign = 0;

    bool operator==(const AllocatorSettings&) const;
    bool splitLimited() const { return rounding.maxSplitSize != ~std::uint64_t{0}; }

    /// What a recording says of its own: `allocator_settings`, and what segments, blocks and events show.
    static AllocatorSettings of(const Snapshot& snapshot, const DeviceTrace& device);
    /// Changes what the text of a PYTORCH_CUDA_ALLOC_CONF names. Keys that do not touch placement (backend,
    /// pinned_…) are accepted and ignored. Errors: unknown keys, values that PyTorch would refuse; nothing is
    /// changed then.
    Result<void> apply(std::string_view conf);
    /// The same process started with this PYTORCH_CUDA_ALLOC_CONF instead of its own. Errors: as apply.
    Result<AllocatorSettings> withConf(std::string_view conf) const;
    /// Gives a setting PyTorch's default again. Errors: a key that is none.
    Result<void> reset(std::string_view key);
    /// The text for PYTORCH_CUDA_ALLOC_CONF: what differs from PyTorch's defaults; empty when nothing does.
    std::string conf() const;
};

/// The variable that the recorded process read: "PYTORCH_CUDA_ALLOC_CONF", on Ascend
/// "PYTORCH_NPU_ALLOC_CONF", or the name that stands in the file.
std::string settingsVariable(const Snapshot& snapshot, const AllocatorSettings& settings);
/// The whole line to paste into a shell for a run with these settings: "PYTORCH_CUDA_ALLOC_CONF=a:b,c:d", or
/// "unset PYTORCH_CUDA_ALLOC_CONF" when nothing is left to set. The variable is settingsVariable. Keys of the
/// recorded text that do not touch placement are kept, except those with characters that a shell would act
/// on.
std::string settingsLine(const Snapshot& snapshot, const AllocatorSettings& settings);

} // namespace tidemark
