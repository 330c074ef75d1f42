// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/recent_files.hpp"

#include <QFileInfo>

#include <algorithm>

namespace tidemark {

namespace {

QString normalized(const QString& path)
{
    return QFileInfo(path).absoluteFilePath();
}

} // namespace

RecentFiles::RecentFiles(Settings& settings, QObject* parent)
    : QObject(parent)
    , m_settings(settings)
{
    const QStringList paths = settings.get(setting::recentPaths);
    const QStringList times = settings.get(setting::recentTimes);
    const QStringList cards = settings.get(setting::recentCards);
    for (qsizetype i = 0; i < paths.size() && m_entries.size() < limit; ++i) {
        Entry entry{paths[i], QDateTime::fromString(times.value(i), Qt::ISODate), std::nullopt};
        bool ok = false;
        if (const qulonglong card = cards.value(i).toULongLong(&ok); ok && card > 0)
            entry.cardSize = card;
        m_entries.push_back(std::move(entry));
    }
}

std::vector<RecentFiles::Entry>::iterator RecentFiles::find(const QString& path)
{
    return std::find_if(m_entries.begin(), m_entries.end(),
        [wanted = normalized(path)](const Entry& e) { return e.path == wanted; });
}

void RecentFiles::add(const QString& path)
{
    Entry entry{normalized(path), QDateTime::currentDateTimeUtc(), std::nullopt};
    if (const auto old = find(path); old != m_entries.end()) {
        entry.cardSize = old->cardSize;
        m_entries.erase(old);
    }
    m_entries.insert(m_entries.begin(), std::move(entry));
    if (m_entries.size() > limit)
        m_entries.resize(limit);
    save();
}

void RecentFiles::remove(const QString& path)
{
    if (const auto entry = find(path); entry != m_entries.end()) {
        m_entries.erase(entry);
        save();
    }
}

void RecentFiles::clear()
{
    m_entries.clear();
    save();
}

std::optional<std::uint64_t> RecentFiles::cardSize(const QString& path) const
{
    for (const Entry& entry : m_entries)
        if (entry.path == normalized(path))
            return entry.cardSize;
    return std::nullopt;
}

void RecentFiles::setCardSize(const QString& path, std::optional<std::uint64_t> bytes)
{
    if (const auto entry = find(path); entry != m_entries.end() && entry->cardSize != bytes) {
        entry->cardSize = bytes;
        save();
    }
}

void RecentFiles::save()
{
    QStringList paths;
    QStringList times;
    QStringList cards;
    for (const Entry& entry : m_entries) {
        paths << entry.path;
        times << entry.opened.toString(Qt::ISODate);
        cards << (entry.cardSize ? QString::number(*entry.cardSize) : QStringLiteral("0"));
    }
    m_settings.set(setting::recentPaths, paths);
    m_settings.set(setting::recentTimes, times);
    m_settings.set(setting::recentCards, cards);
    emit changed();
}

} // namespace tidemark
