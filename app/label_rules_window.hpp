// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/diagnoser.hpp"
#include "app/settings.hpp"
#include "widgets/session.hpp"
#include "widgets/style/style.hpp"

#include <QDialog>

class QLabel;
class QPushButton;
class QTableWidget;

namespace tidemark {

/// The user's own label rules: which file, and what each rule did in the open trace: how much it took, where
/// an earlier rule was before it, whether it never matches. GUI thread.
class LabelRulesWindow : public QDialog {
    Q_OBJECT
public:
    LabelRulesWindow(
        Session& session, Diagnoser& diagnoser, Settings& settings, Style& style, QWidget* parent = nullptr);
    void open() override;

    QTableWidget& table() { return *m_table; }
    QString fileText() const;
    QString sumText() const;
    /// Puts a file in force and remembers it; "" for none.
    void use(const QString& file);

signals:
    void helpRequested(const QString& page);

private:
    void choose();
    void fill();
    void fillRows(const Labels& labels);

    Session& m_session;
    Diagnoser& m_diagnoser;
    Settings& m_settings;
    Style& m_style;
    QLabel* m_file;
    QLabel* m_problem;
    QTableWidget* m_table;
    QLabel* m_sum;
    QPushButton* m_reload;
    QPushButton* m_forget;
};

} // namespace tidemark
