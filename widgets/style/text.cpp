// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/style/text.hpp"

#include "model/core/text.hpp"
#include "model/core/units.hpp"

#include <limits>

namespace tidemark {

namespace {

std::int64_t clamped(std::uint64_t value)
{
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return static_cast<std::int64_t>(value < most ? value : most);
}

} // namespace

QString bytesText(std::int64_t bytes)
{
    return QString::fromStdString(formatBytes(bytes));
}
QString bytesText(std::uint64_t bytes)
{
    return bytesText(clamped(bytes));
}
QString deltaText(std::int64_t bytes)
{
    return QString::fromStdString(formatBytesDelta(bytes));
}
QString exactBytesText(std::int64_t bytes)
{
    return QString::fromStdString(formatExactBytes(bytes));
}
QString exactBytesText(std::uint64_t bytes)
{
    return exactBytesText(clamped(bytes));
}
QString countText(std::int64_t count)
{
    return QString::fromStdString(formatCount(count));
}
QString countText(std::uint64_t count)
{
    return countText(clamped(count));
}
QString percentText(double fraction)
{
    return QString::fromStdString(formatPercent(fraction));
}
QString offsetText(std::int64_t us)
{
    return QString::fromStdString(formatOffset(us));
}
QString durationText(std::int64_t us)
{
    return QString::fromStdString(formatDuration(us));
}
QString addressText(std::uint64_t address)
{
    return QString::fromStdString(formatAddress(address));
}
QString shownText(std::string_view raw)
{
    return QString::fromStdString(displayText(raw));
}

QString elidedSite(const QString& site, const QFontMetrics& metrics, int width)
{
    if (metrics.horizontalAdvance(site) <= width)
        return site;
    const qsizetype at = site.lastIndexOf(QLatin1Char('@'));
    if (at <= 0)
        return metrics.elidedText(site, Qt::ElideMiddle, width);
    const QString place = site.mid(at);
    const int left = width - metrics.horizontalAdvance(place);
    const int least = metrics.horizontalAdvance(QStringLiteral("mm…"));
    if (left < least)
        return metrics.elidedText(site, Qt::ElideMiddle, width);
    return metrics.elidedText(site.left(at), Qt::ElideRight, left) + place;
}

} // namespace tidemark
