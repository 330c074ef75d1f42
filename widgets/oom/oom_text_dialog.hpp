// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/oom.hpp"

#include <QDialog>

#include <optional>

class QFormLayout;
class QLabel;
class QPlainTextEdit;
class QPushButton;

namespace tidemark {

class Style;

/// Explains the text of an OutOfMemoryError, without any file: paste it, and the verdict and its numbers are
/// there. Not modal. GUI thread.
class OomTextDialog : public QDialog {
    Q_OBJECT
public:
    OomTextDialog(Style& style, QWidget* parent = nullptr);

    void setText(const QString& text);
    /// What it says at the moment: title, explanation, and one line for each number.
    QString title() const;
    QString explanation() const;
    QStringList figures() const;

private:
    void explain();
    void showAnswer(const OomText& answer);
    void addFigure(const QString& name, const QString& figure, const QString& tip);
    void clearFigures();
    void restyle();
    void copy() const;

    Style& m_style;
    QPlainTextEdit* m_text;
    QLabel* m_icon;
    QLabel* m_title;
    QLabel* m_explanation;
    QWidget* m_figureBox;
    QFormLayout* m_figures;
    QPushButton* m_copy;
    QStringList m_lines;
    bool m_known = false;
};

} // namespace tidemark
