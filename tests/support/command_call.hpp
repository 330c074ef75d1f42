// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command_line.hpp"

#include <QStringList>

#include <optional>
#include <sstream>
#include <vector>

namespace tidemark::test {

/// What a call of the command line printed and returned.
struct CommandOutcome {
    std::optional<int> status;
    QString out;
    QString err;
    WindowRequest window;
};

inline CommandOutcome callCommand(const QStringList& arguments)
{
    std::vector<QByteArray> bytes;
    for (const QString& argument : arguments)
        bytes.push_back(argument.toUtf8());
    std::vector<const char*> pointers;
    for (const QByteArray& argument : bytes)
        pointers.push_back(argument.constData());
    std::ostringstream out;
    std::ostringstream err;
    CommandOutcome outcome;
    outcome.status = runCommandLine(pointers, out, err, &outcome.window);
    outcome.out = QString::fromStdString(out.str());
    outcome.err = QString::fromStdString(err.str());
    return outcome;
}

} // namespace tidemark::test
