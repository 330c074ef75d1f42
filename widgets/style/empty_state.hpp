// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <functional>
#include <vector>

class QLabel;
class QBoxLayout;
class QHBoxLayout;
class QToolButton;
class QFrame;

namespace tidemark {

class Style;

/// What a pane says when it has nothing to draw: one heading, one sentence why, and the cure as copyable
/// lines or buttons. Lay it over or instead of the view. GUI thread.
class EmptyState : public QWidget {
    Q_OBJECT
public:
    struct Action {
        QString text;
        QString icon; ///< name in resources/icons, may be empty
        std::function<void()> run;
        bool primary = false;
    };
    struct Content {
        QString icon; ///< name in resources/icons
        QString heading;
        QString sentence;
        QString caption; ///< line above `code`, may be empty
        QString code; ///< lines to copy, may be empty
        std::vector<Action> actions;
    };

    explicit EmptyState(const Style& style, QWidget* parent = nullptr);
    void setContent(Content content);
    QString heading() const { return m_content.heading; }

    /// The lines that record a snapshot with history, for `code`.
    static QString recordingLines();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void restyle();
    void arrange();
    int boxWidth() const;

    const Style& m_style;
    Content m_content;
    QLabel* m_icon;
    QLabel* m_heading;
    QLabel* m_sentence;
    QLabel* m_caption;
    QFrame* m_box;
    QBoxLayout* m_boxLayout = nullptr;
    QLabel* m_code;
    QToolButton* m_copy;
    QHBoxLayout* m_buttons;
};

} // namespace tidemark
