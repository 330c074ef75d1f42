// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/counted.hpp"

#include "model/core/units.hpp"

namespace tidemark {

std::string counted(std::uint64_t count, const char* one, const char* many)
{
    return formatUnsigned(count) + " " + (count == 1 ? one : many);
}

} // namespace tidemark
