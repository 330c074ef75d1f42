// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

namespace tidemark {

/// Names for files in a list, in their order: the file's name, with as many of its folders before it as tell
/// it from others of the same name ("rank3/snapshot.pickle"). Shown as they are: control characters made
/// visible.
QStringList shortNames(const QStringList& paths);

} // namespace tidemark
