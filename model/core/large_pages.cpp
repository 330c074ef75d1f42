// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/large_pages.hpp"

#include <cstdint>
#include <sys/mman.h>

namespace tidemark {

void preferLargePages(void* begin, std::size_t bytes) noexcept
{
    constexpr std::uintptr_t page = 2U << 20;
    const auto from = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) & ~(page - 1);
    const auto to = (reinterpret_cast<std::uintptr_t>(begin) + bytes) & ~(page - 1);
    if (from < to)
        ::madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);
}

} // namespace tidemark
