// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/simulate/setting_search.hpp"
#include "widgets/style/style.hpp"

#include <QWidget>

#include <optional>
#include <string>
#include <vector>

class QLabel;
class QLineEdit;
class QPushButton;
class QStandardItemModel;

namespace tidemark {

class CopyTable;

/// Allocator settings to try: a line as PYTORCH_CUDA_ALLOC_CONF takes it, and a table of single changes, best
/// first; a click on one takes its line. GUI thread.
class SettingsPanel : public QWidget {
    Q_OBJECT
public:
    explicit SettingsPanel(const Style& style, QWidget* parent = nullptr);

    /// The settings of another recording, and the variable they are set by: its line is shown and the table
    /// is emptied. Absent: there is none.
    void setRecorded(const std::optional<AllocatorSettings>& settings, const QString& variable);
    /// What is typed where it differs from the recorded line; absent when it does not or cannot be read.
    std::optional<std::string> conf() const;
    /// As if typed and confirmed.
    void setLine(const QString& line);
    QString line() const;
    /// Why the line cannot be read; empty when it can.
    QString problem() const;
    /// Shows a ranking, or why there is none.
    void setTrials(const std::vector<SettingTrial>& trials);
    void setTrialsRefused(const QString& why);
    /// The ranking is being made.
    void setRanking(bool ranking);
    /// Rows of the table as text, with tabs.
    QString copyText() const;

    void restyle();

signals:
    /// conf() is another one.
    void changed();
    void rankingWanted();
    void rankingStopped();

private:
    void accept();
    void clearTrials();

    const Style& m_style;
    std::optional<AllocatorSettings> m_recorded;
    std::optional<std::string> m_conf;
    bool m_ranking = false;
    QLabel* m_title;
    QLabel* m_variable;
    QLineEdit* m_line;
    QLabel* m_problem;
    QPushButton* m_rank;
    QPushButton* m_asRecorded;
    QLabel* m_note;
    QStandardItemModel* m_model;
    CopyTable* m_table;
};

} // namespace tidemark
