// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/recent_files.hpp"
#include "app/settings.hpp"
#include "widgets/style/style.hpp"

#include <QDialog>

class QCheckBox;
class QFormLayout;
class QPushButton;
class QComboBox;
class QLineEdit;
class QSpinBox;

namespace tidemark {

class FileCache;

/// What is remembered and has no better place; every change holds at once.
class SettingsWindow : public QDialog {
    Q_OBJECT
public:
    SettingsWindow(
        Settings& settings, RecentFiles& recent, Style& style, FileCache* cache, QWidget* parent = nullptr);
    void open() override;
    QCheckBox* cacheSwitch() const { return m_cacheOn; }
    QSpinBox* cacheLimit() const { return m_cacheLimit; }
    QPushButton* clearCacheButton() const { return m_clearCache; }

signals:
    void pathRulesChosen(const QString& rules);
    void themeChosen(tidemark::ThemeChoice choice);
    void textSizeChosen(int percent);
    void singleLettersChosen(bool on);

private:
    void fill();
    void addCache(QFormLayout& form);
    void showCacheUse();

    Settings& m_settings;
    Style& m_style;
    FileCache* m_cache;
    QComboBox* m_theme;
    QSpinBox* m_text;
    QCheckBox* m_letters;
    QLineEdit* m_editor;
    QLineEdit* m_paths;
    QCheckBox* m_cacheOn;
    QSpinBox* m_cacheLimit;
    QPushButton* m_clearCache;
};

} // namespace tidemark
