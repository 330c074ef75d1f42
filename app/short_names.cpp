// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/short_names.hpp"

#include "widgets/style/text.hpp"

#include <QDir>
#include <QHash>

#include <vector>

namespace tidemark {

namespace {

QString lastParts(const QString& path, qsizetype count)
{
    const QStringList parts = path.split(QLatin1Char('/'), Qt::SkipEmptyParts);
    return parts.mid(std::max<qsizetype>(0, parts.size() - count)).join(QLatin1Char('/'));
}

} // namespace

QStringList shortNames(const QStringList& paths)
{
    constexpr qsizetype deepest = 8;
    std::vector<QString> whole;
    QStringList names;
    for (const QString& path : paths) {
        whole.push_back(QDir::cleanPath(QDir::fromNativeSeparators(path)));
        names << lastParts(whole.back(), 1);
    }
    for (qsizetype depth = 2; depth <= deepest; ++depth) {
        QHash<QString, int> count;
        for (const QString& name : names)
            ++count[name];
        bool any = false;
        for (qsizetype i = 0; i < names.size(); ++i)
            if (count[names[i]] > 1) {
                names[i] = lastParts(whole[static_cast<std::size_t>(i)], depth);
                any = true;
            }
        if (!any)
            break;
    }
    for (QString& name : names)
        name = shownText(name.toStdString());
    return names;
}

} // namespace tidemark
