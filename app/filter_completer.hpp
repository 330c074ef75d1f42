// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session.hpp"

#include <QCompleter>
#include <QStringList>

class QLineEdit;
class QStringListModel;

namespace tidemark {

/// The word of a filter's text that is being typed, as positions [first, second).
std::pair<int, int> filterWord(const QString& text, int cursor);
/// What the word may be: fields of the language, or the values of its field in the open file, most likely
/// first. Empty when there is nothing to offer.
QStringList filterCompletions(const Session& session, const QString& word);

/// Offers what may stand at the cursor of the filter field, and puts in what is chosen. GUI thread.
class FilterCompleter : public QObject {
    Q_OBJECT
public:
    FilterCompleter(QLineEdit& field, const Session& session);

    /// The list that is open; empty when none is.
    QStringList offered() const;
    /// Whether a key is for the open list: Enter when something in it is chosen, Escape to close it.
    bool takesKeys(int key) const;

private:
    void offer();
    void take(const QString& completion);

    QLineEdit& m_field;
    const Session& m_session;
    QStringListModel* m_model;
    QCompleter m_completer;
};

} // namespace tidemark
