// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/trace_maker.hpp"

#include <string>
#include <vector>

namespace tidemark::test {

/// A small training run written by hand: 4 layers, saved activations of 1000 bytes each, a temporary of 10,
/// gradients of 40, Adam state of 80, weights of 70.
struct TrainingTrace {
    int steps = 3;
    int microbatches = 1;
    /// Python and C++ frames, frees with stacks of their own; else Python only, as Megatron Bridge records.
    bool full = false;
    /// Where packages are installed.
    std::string prefix = "/opt/a/lib/python3.12/site-packages/";
    bool optimizer = true;
    bool leak = false;
    bool recompute = false;
    /// Steps whose set-up came before the recording are told by leaving it out.
    bool setUp = true;
    /// Stop in the forward pass of the last step, after this many layers; 0: run to the end.
    int cutAfterLayers = 0;

    static constexpr int layers = 4;
    std::shared_ptr<const Snapshot> make() const;
};

} // namespace tidemark::test
