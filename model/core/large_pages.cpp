// SPDX-License-Identifier: GPL-3.0-or-later
// Large pieces of memory on pages of 2 MiB: the columns of a snapshot otherwise cost some 30,000 page faults,
// a quarter of the time it takes to open one. Every vector gets its memory from operator new, so this is the
// one place to ask for them. Sanitizers bring an operator new of their own.
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <algorithm>
#include <cstdlib>
#include <new>
#include <sys/mman.h>

namespace {

constexpr std::size_t largePage = 2U << 20;

/// Rounded to whole pages where a rest is worth one; pages that stay unused cost nothing.
void* allocate(std::size_t bytes) noexcept
{
    if (bytes < largePage / 2)
        return std::malloc(bytes == 0 ? 1 : bytes);
    const std::size_t large = (bytes / largePage + (bytes % largePage >= largePage / 2 ? 1 : 0)) * largePage;
    void* const piece = std::aligned_alloc(largePage, std::max(bytes, large));
    if (piece)
        ::madvise(piece, large, MADV_HUGEPAGE);
    return piece;
}

} // namespace

void* operator new(std::size_t bytes)
{
    for (;;) {
        if (void* const piece = allocate(bytes))
            return piece;
        const std::new_handler handler = std::get_new_handler();
        if (!handler)
            throw std::bad_alloc();
        handler();
    }
}

void operator delete(void* piece) noexcept
{
    std::free(piece);
}

void operator delete(void* piece, std::size_t) noexcept
{
    std::free(piece);
}

#endif
