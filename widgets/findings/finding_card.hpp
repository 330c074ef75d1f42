// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/diagnosis.hpp"
#include "widgets/style/style.hpp"

#include <QFrame>

class QLabel;
class QToolButton;
class QVBoxLayout;

namespace tidemark {

/// One finding in the list: severity, one sentence, its ids; selected it opens in place with why, the numbers
/// and the fixes. GUI thread.
class FindingCard : public QFrame {
    Q_OBJECT
public:
    FindingCard(const Finding& finding, const Diagnosis& diagnosis, const Style& style, QWidget* parent);

    const Finding& finding() const { return m_finding; }
    void setOpen(bool open);
    bool isOpen() const { return m_open; }
    /// Its allocations are laid over the views.
    void setShown(bool shown);
    /// What the card says, for tests and screen readers.
    QString text() const;

signals:
    void chosen();
    void goRequested();
    void showToggled(bool shown);
    void sandboxRequested();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;

private:
    void restyle();
    void makeBody();
    void addEvidence(QVBoxLayout& column);
    void addFixes(QVBoxLayout& column);
    void addButtons(QVBoxLayout& column);
    QLabel* addText(QVBoxLayout& column, const QString& text, FontRole role, Tone tone);

    const Finding& m_finding;
    const Style& m_style;
    QLabel* m_icon;
    QLabel* m_title;
    QLabel* m_subtitle;
    QVBoxLayout* m_column;
    QWidget* m_body = nullptr;
    QToolButton* m_show = nullptr;
    bool m_open = false;
    bool m_shown = false;
};

/// The letter of a grade in a small frame, its meaning as tool tip.
class GradeBox : public QWidget {
    Q_OBJECT
public:
    GradeBox(Grade grade, const Style& style, QWidget* parent);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Grade m_grade;
    const Style& m_style;
};

} // namespace tidemark
