// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/recent_files.hpp"
#include "app/settings.hpp"
#include "widgets/style/style.hpp"

#include <QDialog>

class QCheckBox;
class QComboBox;
class QLineEdit;
class QSpinBox;

namespace tidemark {

/// What is remembered and has no better place; every change holds at once.
class SettingsWindow : public QDialog {
    Q_OBJECT
public:
    SettingsWindow(Settings& settings, RecentFiles& recent, Style& style, QWidget* parent = nullptr);
    void open() override;

signals:
    void pathRulesChosen(const QString& rules);
    void themeChosen(tidemark::ThemeChoice choice);
    void textSizeChosen(int percent);
    void singleLettersChosen(bool on);

private:
    void fill();

    Settings& m_settings;
    Style& m_style;
    QComboBox* m_theme;
    QSpinBox* m_text;
    QCheckBox* m_letters;
    QLineEdit* m_editor;
    QLineEdit* m_paths;
};

} // namespace tidemark
