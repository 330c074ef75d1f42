// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFontMetrics>
#include <QString>

#include <cstdint>
#include <string_view>

/// The engine's figures (core/units.hpp) and texts as QString, and the ways to shorten them.
namespace tidemark {

/// "22.54 GiB".
QString bytesText(std::int64_t bytes);
QString bytesText(std::uint64_t bytes);
/// "+1.20 GiB", "−512 MiB".
QString deltaText(std::int64_t bytes);
/// "268,435,456 B".
QString exactBytesText(std::int64_t bytes);
QString exactBytesText(std::uint64_t bytes);
/// "22,331".
QString countText(std::int64_t count);
QString countText(std::uint64_t count);
/// "26.6 %".
QString percentText(double fraction);
/// "+77.7 ms".
QString offsetText(std::int64_t us);
/// "77.7 ms".
QString durationText(std::int64_t us);
/// "0x7f4001600000".
QString addressText(std::uint64_t address);
/// Text from a file, safe to show (core/text.hpp).
QString shownText(std::string_view raw);
/// A site `function@file:line` shortened in the middle of the function so that file and line survive.
QString elidedSite(const QString& site, const QFontMetrics& metrics, int width);

} // namespace tidemark
