// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/simulate/allocator_model.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tidemark::test {

/// The same sequence of numbers for the same seed everywhere (SplitMix64).
class SeededNumbers {
public:
    explicit SeededNumbers(std::uint64_t seed)
        : m_state(seed)
    { }
    std::uint64_t below(std::uint64_t limit);

private:
    std::uint64_t m_state;
};

/// A random program under random settings, run on an AllocatorModel. tests/data/allocator_placements.py
/// runs the same one on the Python reference: whoever changes one changes the other and makes
/// tests/data/allocator_placements.txt anew.
class MadeUpProgram {
public:
    explicit MadeUpProgram(std::uint64_t seed);

    /// Runs to the end and returns the line that the Python program prints; `look` is called after every
    /// step.
    std::string run(const std::function<void(const AllocatorModel&)>& look = {});

private:
    static constexpr int steps = 400;
    static constexpr int check = 40;
    static constexpr std::int64_t otherStream = 11;

    void step();
    void allocate();
    void free();
    std::uint64_t size();
    void add(std::initializer_list<std::uint64_t> words);
    void addEvents();
    static AllocatorModel makeModel(SeededNumbers& numbers, bool& pools);

    std::uint64_t m_seed;
    SeededNumbers m_numbers;
    bool m_pools = false;
    AllocatorModel m_model;
    std::uint64_t m_sum = 0xCBF29CE484222325ULL;
    PoolId m_pool{1};
    bool m_opened = false;
    std::uint64_t m_failures = 0;
    std::vector<BlockRef> m_live;
};

} // namespace tidemark::test
