// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace tidemark {

/// Calls work(first, end) for consecutive parts of 0…count, one of them here and the rest on threads of their
/// own, and returns when all are done. Parts begin at multiples of `grain`; `most` bounds their number, and
/// so do the machine's cores. The parts must not touch the same memory.
template <typename Work>
void inParts(std::size_t count, std::size_t grain, std::size_t most, const Work& work)
{
    const std::size_t grains = (count + grain - 1) / grain;
    const std::size_t parts
        = std::clamp<std::size_t>(std::min<std::size_t>(most, std::thread::hardware_concurrency()), 1,
            std::max<std::size_t>(grains, 1));
    const auto begin = [&](std::size_t part) { return std::min(count, grains * part / parts * grain); };
    std::vector<std::jthread> others;
    for (std::size_t part = 1; part < parts; ++part)
        others.emplace_back([&work, from = begin(part), to = begin(part + 1)] { work(from, to); });
    work(std::size_t{0}, begin(1));
}

} // namespace tidemark
