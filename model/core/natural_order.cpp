// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/natural_order.hpp"

namespace tidemark {

namespace {

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

std::string_view digitsAt(std::string_view text, std::size_t at)
{
    std::size_t end = at;
    while (end < text.size() && isDigit(text[end]))
        ++end;
    return text.substr(at, end - at);
}

std::string_view withoutZeros(std::string_view digits)
{
    const std::size_t first = digits.find_first_not_of('0');
    return first == std::string_view::npos ? std::string_view{} : digits.substr(first);
}

} // namespace

bool naturallyLess(std::string_view a, std::string_view b)
{
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() && j < b.size()) {
        if (isDigit(a[i]) && isDigit(b[j])) {
            const std::string_view first = digitsAt(a, i);
            const std::string_view second = digitsAt(b, j);
            const std::string_view x = withoutZeros(first);
            const std::string_view y = withoutZeros(second);
            if (x.size() != y.size())
                return x.size() < y.size();
            if (x != y)
                return x < y;
            i += first.size();
            j += second.size();
        } else if (a[i] != b[j]) {
            return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
        } else {
            ++i;
            ++j;
        }
    }
    const std::size_t restA = a.size() - i;
    const std::size_t restB = b.size() - j;
    return restA != restB ? restA < restB : a < b;
}

} // namespace tidemark
