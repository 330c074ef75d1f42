// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/style/pattern.hpp"

#include <QPixmap>
#include <QTransform>

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

int period(Pattern pattern, double ratio)
{
    const double logical = [pattern] {
        switch (pattern) {
        case Pattern::Predating:
            return 7.0;
        case Pattern::Waiting:
            return 4.0;
        case Pattern::Pinned:
            return 5.0;
        case Pattern::PoolHeld:
        case Pattern::CutOff:
            return 6.0;
        case Pattern::Finding:
            return 8.0;
        }
        return 6.0;
    }();
    return std::max(2, static_cast<int>(std::lround(logical * ratio)));
}

int wrap(int value, int size)
{
    const int r = value % size;
    return r < 0 ? r + size : r;
}

// Ink of a diagonal line of `width` device pixels through phase 0, softened by one pixel at its edges.
int diagonalInk(int phase, int size, double width)
{
    const double distance = std::min(phase, size - phase) / std::sqrt(2.0);
    const double coverage = std::clamp(width / 2 + 0.5 - distance, 0.0, 1.0);
    return static_cast<int>(std::lround(coverage * 255));
}

} // namespace

int patternInk(Pattern pattern, int x, int y, double ratio)
{
    const int size = period(pattern, ratio);
    const double thin = 0.8 * std::max(1.0, ratio);
    switch (pattern) {
    case Pattern::Predating:
        return diagonalInk(wrap(x + y, size), size, std::max(1.0, ratio));
    case Pattern::Pinned:
        return diagonalInk(wrap(x + y, size), size, thin);
    case Pattern::Finding:
        return wrap(x - y, size) < std::max(1, static_cast<int>(ratio)) ? 255 : 0;
    case Pattern::PoolHeld:
        return std::max(
            diagonalInk(wrap(x + y, size), size, thin), diagonalInk(wrap(x - y, size), size, thin));
    case Pattern::Waiting:
        return wrap(x, size) < std::max(1, static_cast<int>(ratio)) ? 255 : 0;
    case Pattern::CutOff: {
        const int dot = std::max(1, static_cast<int>(std::lround(ratio)));
        const int half = size / 2;
        const int px = wrap(x, size);
        const int py = wrap(y, size);
        const bool first = px < dot && py < dot;
        const bool second = px >= half && px < half + dot && py >= half && py < half + dot;
        return first || second ? 255 : 0;
    }
    }
    return 0;
}

QBrush patternBrush(Pattern pattern, const QColor& line, double ratio)
{
    const int size = period(pattern, ratio);
    QImage tile(size, size, QImage::Format_ARGB32_Premultiplied);
    for (int y = 0; y < size; ++y)
        for (int x = 0; x < size; ++x) {
            const int alpha = patternInk(pattern, x, y, ratio) * line.alpha() / 255;
            tile.setPixel(x, y, qPremultiply(qRgba(line.red(), line.green(), line.blue(), alpha)));
        }
    QBrush brush(tile);
    brush.setTransform(QTransform::fromScale(1 / ratio, 1 / ratio));
    return brush;
}

} // namespace tidemark
