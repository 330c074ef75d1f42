// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/latest_task.hpp"
#include "widgets/session.hpp"

#include <QCompleter>
#include <QStringList>

#include <memory>
#include <vector>

class QLineEdit;
class QStringListModel;

namespace tidemark {

/// The word of a filter's text that is being typed, as positions [first, second).
std::pair<int, int> filterWord(const QString& text, int cursor);
/// Sites by the largest allocation of each: by what they ever held at once would cost a pass each. Cost: a
/// pass over all allocations. Any thread.
std::vector<SiteId> sitesByLargest(const Replay& replay, const Sites& sites);
/// What the word may be: fields of the language, or the values of its field in the open file, most likely
/// first; call sites are offered in the order of `sites`. Empty when there is nothing to offer.
QStringList filterCompletions(const Session& session, const QString& word, const std::vector<SiteId>& sites);

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
    struct Order {
        std::weak_ptr<const Replay> replay; ///< which it is of, without keeping a closed file
        std::weak_ptr<const Sites> sites;
        std::vector<SiteId> order;
    };
    void offer();
    bool knowsSites(const QString& word);
    void take(const QString& completion);

    QLineEdit& m_field;
    const Session& m_session;
    QStringListModel* m_model;
    QCompleter m_completer;
    Order m_order;
    LatestTask<Order> m_task;
};

} // namespace tidemark
