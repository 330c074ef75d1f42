// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

namespace tidemark {

/// Where a file recorded elsewhere lies here, by rules such as "/job/src = /home/me/src; /opt/env=/usr": the
/// rule with the longest matching folder counts, and a path that no rule fits stays as it is.
QString mappedPath(const QString& recorded, const QString& rules);

/// Lines of a source file.
struct SourceSnippet {
    int firstLine = 0; ///< counted from 1
    QStringList lines;
};
/// `around` lines before and behind `line`. Empty lines list: there is no such plain file here, it is larger
/// than 8 MiB, or it has no such line. Cost: reads the file up to there.
SourceSnippet sourceSnippet(const QString& path, int line, int around);

} // namespace tidemark
