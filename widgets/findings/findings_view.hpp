// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/diagnosis.hpp"
#include "widgets/session.hpp"
#include "widgets/style/style.hpp"
#include "widgets/view_state.hpp"

#include <QScrollArea>

#include <vector>

class QVBoxLayout;

namespace tidemark {

class FindingCard;

/// What was found in the open file: findings by severity and bytes, settings that conflict, rules that could
/// not decide and what they need, rules that found nothing, and what the file cannot tell. Selecting a
/// finding opens it in place and sets ViewState::finding(); showing it fades everything else in all views.
/// windowTitle() is the dock's subtitle. GUI thread.
class FindingsView : public QScrollArea {
    Q_OBJECT
public:
    FindingsView(Session& session, ViewState& view, Style& style, QWidget* parent = nullptr);

    /// Selects the next (+1) or previous (−1) finding and shows it.
    void step(int direction);
    /// Lays the selected finding over the views, or takes it off.
    void toggleShown();
    bool isShown() const { return m_view.shownFinding() != nullptr; }
    /// Cursor and range to where the selected finding shows.
    void goThere();
    std::size_t count() const { return m_cards.size(); }
    const FindingCard* card(std::size_t index) const { return m_cards[index]; }
    /// Everything below the cards, a line a row.
    QString footText() const;
    /// The findings are being looked for.
    void setBusy(bool busy);

signals:
    /// The fixes of a finding are to be tried in the sandbox.
    void sandboxRequested(std::size_t finding);
    void runSettingsRequested();
    void cardSizeRequested();

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void rebuild();
    /// New findings of the same file: the selected one stays selected if it is still there.
    void replace();
    void addCards(const Diagnosis& diagnosis);
    void addChecks(const Diagnosis& diagnosis);
    void addUndecided(const Diagnosis& diagnosis);
    void addClear(const Diagnosis& diagnosis);
    void addQuality(const Diagnosis& diagnosis);
    void toggleClear();
    /// A row with an icon, a strong line and small lines below.
    QWidget* addRow(const QString& icon, Tone tone, const QString& title, const QString& text);
    void addButtons(const std::vector<std::pair<QString, void (FindingsView::*)()>>& buttons);
    void followSelection();
    void choose(std::size_t index);
    void setShown(bool shown);
    void updateTitle();

    Session& m_session;
    ViewState& m_view;
    const Style& m_style;
    std::shared_ptr<const Diagnosis> m_diagnosis;
    QWidget* m_page = nullptr;
    QVBoxLayout* m_column = nullptr;
    std::vector<FindingCard*> m_cards;
    QStringList m_foot;
    bool m_busy = false;
    bool m_clearOpen = false; ///< the rules that found nothing are listed
};

} // namespace tidemark
