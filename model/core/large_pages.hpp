// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <vector>

namespace tidemark {

/// Tells the system that a piece of memory will be filled from end to end, so that it may use pages of 2 MiB:
/// a hundred MiB of columns otherwise cost some 25,000 page faults. Without effect where the system has none.
void preferLargePages(void* begin, std::size_t bytes) noexcept;

/// vector::reserve for a column that will be filled.
template <typename T>
void reserveLarge(std::vector<T>& column, std::size_t count)
{
    if (count <= column.capacity())
        return;
    column.reserve(count);
    preferLargePages(column.data(), column.capacity() * sizeof(T));
}

} // namespace tidemark
