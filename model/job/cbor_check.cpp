// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/job/cbor_check.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace tidemark {

namespace {

enum Major : unsigned { Unsigned, Negative, Bytes, Text, Array, Map, Tag, Simple };

/// The argument of an item's head; false where there is none of definite length.
bool argument(std::string_view bytes, std::size_t& at, unsigned info, std::uint64_t& value)
{
    if (info < 24) {
        value = info;
        return true;
    }
    if (info > 27)
        return false;
    const std::size_t length = std::size_t{1} << (info - 24);
    if (bytes.size() - at < length)
        return false;
    value = 0;
    for (std::size_t i = 0; i < length; ++i)
        value = value << 8U | static_cast<unsigned char>(bytes[at++]);
    return true;
}

} // namespace

bool isPlainCbor(std::string_view bytes, std::size_t maxDepth, std::size_t maxItems)
{
    std::vector<std::uint64_t> open; // items still to come, by level
    std::size_t at = 0;
    std::size_t items = 0;
    do {
        if (at == bytes.size() || ++items > maxItems)
            return false;
        const auto head = static_cast<unsigned char>(bytes[at++]);
        const unsigned major = head >> 5U;
        std::uint64_t value = 0;
        if (!argument(bytes, at, head & 31U, value))
            return false;
        if (!open.empty())
            --open.back();
        switch (major) {
        case Unsigned:
        case Negative:
            break;
        case Bytes:
        case Text:
            if (value > bytes.size() - at)
                return false;
            at += value;
            break;
        case Array:
        case Map:
            if (value > bytes.size() || open.size() >= maxDepth)
                return false;
            open.push_back(major == Map ? 2 * value : value);
            break;
        case Simple:
            if ((head & 31U) < 20 || (head & 31U) == 24 || (head & 31U) == 23)
                return false;
            break;
        default:
            return false;
        }
        while (!open.empty() && open.back() == 0)
            open.pop_back();
    } while (!open.empty());
    return at == bytes.size();
}

} // namespace tidemark
