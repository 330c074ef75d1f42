// SPDX-License-Identifier: GPL-3.0-or-later
// How inputs of the targets that read snapshots are changed: mostly as trees of values, so that what comes
// out is a whole file with absurd content; else as bytes.
#include "tests/fuzz/snapshot_tree.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t maxSize);

extern "C" std::size_t LLVMFuzzerCustomMutator(
    std::uint8_t* data, std::size_t size, std::size_t maxSize, unsigned seed)
{
    using namespace tidemark::fuzz;
    std::mt19937 random(seed);
    if (random() % 4 == 0)
        return LLVMFuzzerMutate(data, size, maxSize);
    auto tree = treeOf({reinterpret_cast<const char*>(data), size});
    if (!tree) {
        if (random() % 16 != 0)
            return LLVMFuzzerMutate(data, size, maxSize);
        tree = tidemark::test::pySample();
    }
    disturb(*tree, random);
    const std::string out = written(*tree, random);
    if (out.size() > maxSize)
        return LLVMFuzzerMutate(data, size, maxSize);
    std::memcpy(data, out.data(), out.size());
    return out.size();
}
