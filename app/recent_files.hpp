// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/settings.hpp"

#include <QDateTime>
#include <QObject>

#include <cstdint>
#include <optional>
#include <vector>

namespace tidemark {

/// Files opened before, newest first, each with the card size the user typed for it. GUI thread.
class RecentFiles : public QObject {
    Q_OBJECT
public:
    struct Entry {
        QString path;
        QDateTime opened;
        std::optional<std::uint64_t> cardSize;
    };
    static constexpr std::size_t limit = 12;

    explicit RecentFiles(Settings& settings, QObject* parent = nullptr);

    const std::vector<Entry>& entries() const { return m_entries; }
    void add(const QString& path);
    void remove(const QString& path);
    void clear();
    std::optional<std::uint64_t> cardSize(const QString& path) const;
    void setCardSize(const QString& path, std::optional<std::uint64_t> bytes);

signals:
    void changed();

private:
    void save();
    std::vector<Entry>::iterator find(const QString& path);

    Settings& m_settings;
    std::vector<Entry> m_entries;
};

} // namespace tidemark
