// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/worker.hpp"
#include "model/lens/filter.hpp"
#include "widgets/session.hpp"
#include "widgets/view_state.hpp"

#include <QObject>
#include <QStringList>
#include <QTimer>

namespace tidemark {

/// Turns what stands in the search field into ViewState::matches, off the GUI thread and a moment after the
/// last key, and sums what of it is live at the cursor. GUI thread.
class Search : public QObject {
    Q_OBJECT
public:
    Search(Session& session, ViewState& state, QObject* parent = nullptr);

    /// Starts searching after a short pause; "" clears at once.
    void setText(const QString& text);
    /// Without the pause.
    void start();
    QString text() const { return m_text; }

    /// A term that must hold, as it stands in the text.
    struct Term {
        int from = 0;
        QString text;
    };
    /// Those of the text, whether or not it has been searched for yet; none when it is no filter.
    QList<Term> terms() const;
    /// The text without one of them.
    QString without(qsizetype term) const;

    /// Filters that were in force, to go back to: each one that stood for a moment. GUI thread.
    bool canUndo() const { return m_at > 0 || m_text.trimmed() != m_history[m_at]; }
    bool canRedo() const { return m_at + 1 < m_history.size(); }
    void undo();
    /// The filter as it stands is one to go back to, even if it has stood for no time: something else takes
    /// its place.
    void remember();
    void redo() { go(m_at + 1); }

    bool isSearching() const { return m_searching; }
    /// The matches are those of the text as it stands.
    bool isSettled() const { return !m_searching && !m_pause.isActive(); }
    /// Why the text is no search; empty when it is one.
    QString problem() const { return m_problem; }
    bool isActive() const { return m_state.matches() != nullptr; }
    std::uint64_t count() const { return m_count; }
    /// "214 matches, 1.20 of 22.54 GiB live", "no match", "searching…", the problem, or "No filter".
    QString summary() const;

signals:
    void changed();
    /// A filter of the history is to stand in the field.
    void wanted(const QString& text);
    void historyChanged();

private:
    void go(qsizetype at);
    void found(std::uint64_t generation, const std::shared_ptr<const std::vector<std::uint8_t>>& flags);

    Session& m_session;
    ViewState& m_state;
    QString m_text;
    QString m_problem;
    bool m_searching = false;
    std::uint64_t m_count = 0;
    std::uint64_t m_generation = 0;
    /// The sum last told, with what it is of: several places show it at every move of the cursor.
    mutable std::shared_ptr<const std::vector<std::uint8_t>> m_summed;
    mutable StateIndex m_summedAt = 0;
    mutable MatchSum m_sum;
    QStringList m_history{QString()};
    qsizetype m_at = 0;
    bool m_going = false;
    QTimer m_pause;
    QTimer m_rest; ///< until a filter counts as one that was wanted
    Worker m_worker; // last: stopped before the rest goes
};

} // namespace tidemark
