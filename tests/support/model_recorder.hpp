// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/simulate/allocator_model.hpp"
#include "model/snapshot/builder.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::test {

/// Records what a program does with an AllocatorModel, as PyTorch would: for recordings with any settings.
/// Private pools are PoolId 1 to 4.
class ModelRecorder {
public:
    explicit ModelRecorder(const AllocatorSettings& settings, std::optional<std::uint64_t> capacity = {},
        std::optional<std::uint64_t> deviceTotal = {});

    /// What failures tell to be free, instead of the truth; absent: they do not tell.
    void tellFree(std::optional<std::int64_t> bytes) { m_told = bytes; }
    /// The recorded PYTORCH_CUDA_ALLOC_CONF, if it is not that of the settings.
    void setConf(std::string conf) { m_conf = std::move(conf); }
    /// What was done before leaves no events.
    void startRecording() { m_recording = true; }
    /// Tag of the new allocation; absent when memory ran out (an `oom` event then stands in the trace).
    std::optional<std::uint32_t> allocate(std::uint64_t bytes, std::int64_t stream = 0, PoolId pool = {});
    void free(std::uint32_t tag);
    void requestFree(std::uint32_t tag);
    /// Nothing when a release of cached memory has completed it.
    void completeFree(std::uint32_t tag);
    void emptyCache();
    bool lives(std::uint32_t tag) const { return valid(m_blocks[tag]); }
    const AllocatorModel& model() const { return m_model; }
    /// The recorder is done for afterwards.
    std::shared_ptr<const Snapshot> finish();

private:
    void event(Action action, std::uint64_t address, std::uint64_t size, std::int64_t stream, StackId stack);
    void freeEvent(Action action, std::uint32_t tag);
    void driverEvents(StackId stack);

    struct Made {
        std::uint64_t address;
        std::uint64_t bytes;
        std::int64_t stream;
    };
    AllocatorModel m_model;
    SnapshotBuilder m_builder;
    EventBuffer m_events;
    StackId m_stack;
    StackId m_emptyCacheStack;
    std::string m_conf;
    bool m_recording = false;
    std::optional<std::optional<std::int64_t>> m_told;
    std::vector<BlockRef> m_blocks;
    std::vector<Made> m_made;
};

/// Activations, small pins among them, larger activations until memory runs out: native segments end up in
/// pieces, so that a request fails for which there is room. A capacity that never runs out ends it too.
std::shared_ptr<const Snapshot> fragmentedProgram(
    const AllocatorSettings& settings = {}, std::uint64_t capacity = 7950ULL << 20);

/// Random requests of all kinds, the first `late` of them not recorded. Stops when memory runs out. With
/// limits below the device no private pools: without pools in the events it is not to be told what was
/// theirs, nor whether a failed request was made in one's scope.
std::shared_ptr<const Snapshot> randomProgram(
    std::uint64_t seed, const AllocatorSettings& settings, std::optional<std::uint64_t> capacity, int late);

} // namespace tidemark::test
