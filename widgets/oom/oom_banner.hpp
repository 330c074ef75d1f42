// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/oom/oom_texts.hpp"

#include <QWidget>

class QComboBox;
class QGridLayout;
class QLabel;
class QPushButton;

namespace tidemark {

class Style;
class WrappedLabel;

/// The verdict: icon, title, sentences with the grade of their figures, what can be done with it, and a list
/// of events where there are several. GUI thread.
class OomBanner : public QWidget {
    Q_OBJECT
public:
    OomBanner(Style& style, QWidget* parent = nullptr);

    void setWords(const OomWords& words);
    /// More than one shows the list.
    void setEvents(const QStringList& events, int current);
    QString title() const;
    /// Without markup.
    QString sentences() const;
    QString grade() const;
    QComboBox& events() { return *m_events; }

signals:
    void copyRequested();
    void goToRequested();
    void eventChosen(int event);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void restyle();
    /// The buttons stand beside the words where those keep enough room, else below them.
    void placeButtons();
    Style& m_style;
    QLabel* m_icon;
    QGridLayout* m_grid;
    QWidget* m_buttons;
    WrappedLabel* m_title;
    WrappedLabel* m_sentences;
    QLabel* m_grade;
    QComboBox* m_events;
    QPushButton* m_goTo;
    QPushButton* m_copy;
    OomWords m_words;
};

/// The conditions behind the verdict, each with a sign, its name and its numbers. GUI thread.
class OomChecks : public QWidget {
    Q_OBJECT
public:
    OomChecks(Style& style, QWidget* parent = nullptr);
    void setChecks(std::vector<OomCheck> checks);
    const std::vector<OomCheck>& checks() const { return m_checks; }

private:
    void rebuild();
    Style& m_style;
    std::vector<OomCheck> m_checks;
};

} // namespace tidemark
