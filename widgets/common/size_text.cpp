// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/size_text.hpp"

#include <QRegularExpression>

#include <cmath>

namespace tidemark {

std::optional<std::uint64_t> parseSize(const QString& text)
{
    static const QRegularExpression pattern(
        QStringLiteral("^\\s*([0-9][0-9,_]*(?:\\.[0-9]+)?)[\\s\\x{a0}]*([kmgt]?)(?:i?b)?\\s*$"),
        QRegularExpression::CaseInsensitiveOption);
    const QRegularExpressionMatch match = pattern.match(text);
    if (!match.hasMatch())
        return std::nullopt;
    QString digits = match.captured(1);
    digits.remove(QLatin1Char(',')).remove(QLatin1Char('_'));
    const QString unit = match.captured(2).toLower();
    const int power = unit.isEmpty() ? 0 : 1 + static_cast<int>(QStringLiteral("kmgt").indexOf(unit));
    const double bytes = std::round(std::ldexp(digits.toDouble(), 10 * power));
    if (!(bytes >= 1) || bytes >= std::ldexp(1.0, 63))
        return std::nullopt;
    return static_cast<std::uint64_t>(bytes);
}

} // namespace tidemark
