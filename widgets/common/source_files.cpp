// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/source_files.hpp"

#include <QFile>
#include <QFileInfo>

namespace tidemark {

namespace {

constexpr qint64 largestSource = 8 << 20;
constexpr int longestLine = 120;

/// "/a/b" is in the folder "/a", "/ab" is not.
bool isIn(const QString& path, const QString& folder)
{
    return path.startsWith(folder)
        && (path.size() == folder.size() || folder.endsWith(QLatin1Char('/'))
            || path.at(folder.size()) == QLatin1Char('/'));
}

} // namespace

QString mappedPath(const QString& recorded, const QString& rules)
{
    QString best;
    QString to;
    for (const QString& rule : rules.split(QLatin1Char(';'), Qt::SkipEmptyParts)) {
        const qsizetype equals = rule.indexOf(QLatin1Char('='));
        const QString from = rule.left(equals).trimmed();
        if (equals < 0 || from.isEmpty() || from.size() <= best.size() || !isIn(recorded, from))
            continue;
        best = from;
        to = rule.mid(equals + 1).trimmed();
    }
    return best.isEmpty() ? recorded : to + recorded.mid(best.size());
}

SourceSnippet sourceSnippet(const QString& path, int line, int around)
{
    SourceSnippet out;
    const QFileInfo info(path);
    if (line < 1 || !info.isFile() || info.size() > largestSource)
        return out;
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return out;
    out.firstLine = std::max(1, line - around);
    for (int at = 1; at <= line + around && !file.atEnd(); ++at) {
        QString text = QString::fromUtf8(file.readLine());
        while (text.endsWith(QLatin1Char('\n')) || text.endsWith(QLatin1Char('\r')))
            text.chop(1);
        if (at >= out.firstLine)
            out.lines << text.replace(QLatin1Char('\t'), QLatin1String("    ")).left(longestLine);
    }
    if (out.firstLine + out.lines.size() <= line)
        out.lines.clear();
    return out;
}

} // namespace tidemark
