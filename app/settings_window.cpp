// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings_window.hpp"

#include "app/file_cache.hpp"
#include "widgets/style/text.hpp"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

namespace tidemark {

SettingsWindow::SettingsWindow(
    Settings& settings, RecentFiles& recent, Style& style, FileCache* cache, QWidget* parent)
    : QDialog(parent)
    , m_settings(settings)
    , m_style(style)
    , m_cache(cache)
    , m_theme(new QComboBox(this))
    , m_text(new QSpinBox(this))
    , m_letters(new QCheckBox(tr("Keys of one letter are commands"), this))
    , m_editor(new QLineEdit(this))
    , m_paths(new QLineEdit(this))
    , m_cacheOn(new QCheckBox(tr("Keep opened files to open them faster the next time"), this))
    , m_cacheLimit(new QSpinBox(this))
    , m_clearCache(new QPushButton(this))
{
    setWindowTitle(tr("Settings – Tidemark"));
    m_theme->addItems({tr("As the system"), tr("Light"), tr("Dark")});
    m_text->setRange(80, 200);
    m_text->setSingleStep(10);
    m_text->setSuffix(QStringLiteral(" %"));
    m_editor->setPlaceholderText(QStringLiteral("code -g {file}:{line}"));
    m_editor->setMinimumWidth(style.metrics().px(280));
    auto* editorHint
        = new QLabel(tr("Run by Ctrl+click on a frame. Empty: the desktop's program for the file."), this);
    editorHint->setWordWrap(true);
    m_paths->setPlaceholderText(QStringLiteral("/job/src=/home/me/src; /opt/env=/usr"));
    auto* pathsHint = new QLabel(tr("Where source files lie here that were recorded elsewhere: recorded "
                                    "folder = folder here, separated by semicolons."),
        this);
    pathsHint->setWordWrap(true);
    auto* forget = new QPushButton(tr("Forget recent files"), this);

    auto* form = new QFormLayout;
    form->addRow(tr("Theme"), m_theme);
    form->addRow(tr("Text size"), m_text);
    form->addRow(tr("Keys"), m_letters);
    form->addRow(tr("Editor"), m_editor);
    form->addRow(QString(), editorHint);
    form->addRow(tr("Source folders"), m_paths);
    form->addRow(QString(), pathsHint);
    form->addRow(tr("Files"), forget);
    addCache(*form);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(form);
    layout->addStretch(1);
    layout->addWidget(buttons);

    connect(m_theme, &QComboBox::activated, this,
        [this](int row) { emit themeChosen(static_cast<ThemeChoice>(row)); });
    connect(m_text, &QSpinBox::valueChanged, this, &SettingsWindow::textSizeChosen);
    connect(m_letters, &QCheckBox::toggled, this, &SettingsWindow::singleLettersChosen);
    connect(m_editor, &QLineEdit::textEdited, this,
        [this](const QString& text) { m_settings.set(setting::editorCommand, text.trimmed()); });
    connect(m_paths, &QLineEdit::textEdited, this, [this](const QString& text) {
        m_settings.set(setting::pathRules, text.trimmed());
        emit pathRulesChosen(text.trimmed());
    });
    connect(forget, &QPushButton::clicked, &recent, &RecentFiles::clear);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::close);
    connect(&style, &Style::changed, this, &SettingsWindow::fill);
}

void SettingsWindow::addCache(QFormLayout& form)
{
    for (QWidget* each : std::initializer_list<QWidget*>{m_cacheOn, m_cacheLimit, m_clearCache})
        each->setVisible(m_cache != nullptr);
    if (m_cache == nullptr)
        return;
    m_cacheLimit->setRange(64, 1 << 20);
    m_cacheLimit->setSingleStep(512);
    m_cacheLimit->setGroupSeparatorShown(true);
    m_cacheLimit->setSuffix(QStringLiteral("\u00a0MiB"));
    m_cacheLimit->setKeyboardTracking(false);
    m_cacheLimit->setAccessibleName(tr("Largest size of the cache"));
    auto* hint = new QLabel(
        tr("What is kept holds all that is in the files, names and paths included, unencrypted. It "
           "lies in %1 and is never sent anywhere. Switching it off deletes it.")
            .arg(shownText(m_cache->folder().string())),
        this);
    hint->setWordWrap(true);
    form.addRow(tr("Cache"), m_cacheOn);
    form.addRow(tr("At most"), m_cacheLimit);
    form.addRow(QString(), m_clearCache);
    form.addRow(QString(), hint);
    connect(m_cacheOn, &QCheckBox::toggled, this, [this](bool on) {
        m_cache->setOn(on);
        showCacheUse();
    });
    connect(m_cacheLimit, &QSpinBox::valueChanged, this, [this](int limit) {
        m_cache->setLimitMiB(limit);
        showCacheUse();
    });
    connect(m_clearCache, &QPushButton::clicked, this, [this] {
        m_cache->clear();
        showCacheUse();
    });
}

void SettingsWindow::showCacheUse()
{
    if (m_cache == nullptr)
        return;
    const std::uint64_t bytes = m_cache->bytes();
    m_cacheLimit->setEnabled(m_cache->isOn());
    m_clearCache->setText(tr("Clear the cache (%1)").arg(bytesText(static_cast<std::int64_t>(bytes))));
    m_clearCache->setEnabled(bytes > 0);
}

void SettingsWindow::fill()
{
    if (m_cache != nullptr) {
        const QSignalBlocker blockOn(m_cacheOn);
        const QSignalBlocker blockLimit(m_cacheLimit);
        m_cacheOn->setChecked(m_cache->isOn());
        m_cacheLimit->setValue(m_cache->limitMiB());
        showCacheUse();
    }
    const QSignalBlocker blockText(m_text);
    const QSignalBlocker blockLetters(m_letters);
    m_theme->setCurrentIndex(static_cast<int>(m_style.choice()));
    m_text->setValue(m_style.textPercent());
    m_letters->setChecked(m_settings.get(setting::singleLetters));
    m_editor->setText(m_settings.get(setting::editorCommand));
    m_paths->setText(m_settings.get(setting::pathRules));
}

void SettingsWindow::open()
{
    fill();
    show();
    raise();
    activateWindow();
}

} // namespace tidemark
