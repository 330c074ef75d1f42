// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/recent_files.hpp"
#include "widgets/style/style.hpp"

#include <QWidget>

class QLabel;
class QPushButton;
class QVBoxLayout;
class QFrame;

namespace tidemark {

/// What the window shows without a file: ways to open one, recent files, and how to record one.
class StartPage : public QWidget {
    Q_OBJECT
public:
    StartPage(RecentFiles& recent, const Style& style, bool hasSample, QWidget* parent = nullptr);

    QPushButton* openButton() const { return m_open; }
    QPushButton* sampleButton() const { return m_sample; }
    /// One per recent file that is shown, newest first.
    const std::vector<QPushButton*>& recentButtons() const { return m_recentButtons; }

signals:
    void openRequested();
    void sampleRequested();
    void pathRequested(const QString& path);
    void helpRequested(const QString& page);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void fillRecent();
    void restyle();

    RecentFiles& m_recent;
    const Style& m_style;
    QLabel* m_logo;
    QLabel* m_title;
    QLabel* m_lead;
    QPushButton* m_open;
    QPushButton* m_sample;
    QLabel* m_recentTitle;
    QVBoxLayout* m_recentList;
    std::vector<QPushButton*> m_recentButtons;
    QLabel* m_howTitle;
    QLabel* m_howText;
    QFrame* m_codeBox;
    QLabel* m_code;
    QPushButton* m_copy;
    QPushButton* m_recording;
};

} // namespace tidemark
