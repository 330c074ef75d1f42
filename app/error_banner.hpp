// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/files.hpp"
#include "widgets/style/style.hpp"

#include <QWidget>

class QLabel;
class QPushButton;
class QToolButton;

namespace tidemark {

/// A red-edged row under the tabs: what could not be done, with what can be done about it.
class ErrorBanner : public QWidget {
    Q_OBJECT
public:
    explicit ErrorBanner(const Style& style, QWidget* parent = nullptr);

    void setProblem(const std::optional<FileProblem>& problem);
    QString sentence() const;
    QPushButton* partialButton() const { return m_partial; }
    QPushButton* rangeButton() const { return m_range; }
    QPushButton* copyButton() const { return m_copy; }
    QPushButton* folderButton() const { return m_folder; }

signals:
    void partialRequested(const QString& path);
    /// To choose a range of the file's events.
    void rangeRequested(const QString& path);
    void dismissed();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void restyle();
    void openFolder();

    const Style& m_style;
    FileProblem m_problem;
    QLabel* m_icon;
    QLabel* m_text;
    QPushButton* m_partial;
    QPushButton* m_range;
    QPushButton* m_copy;
    QPushButton* m_folder;
    QToolButton* m_close;
};

} // namespace tidemark
