// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <functional>
#include <vector>

class QBoxLayout;
class QLabel;

namespace tidemark {

class Style;

/// What a view shows in place of data it cannot have: one heading, one sentence why, and the cure as lines to
/// copy or as buttons (help/window.md). GUI thread.
class EmptyState : public QWidget {
    Q_OBJECT
public:
    struct Cure {
        QString text;
        QString icon; ///< of resources/icons, or empty
        std::function<void()> act;
    };
    struct Content {
        QString icon;
        QString heading;
        QString why;
        QString linesCaption; ///< above the lines
        QString lines; ///< to copy; empty for none
        std::vector<Cure> cures; ///< the first is the primary button

        bool sameTexts(const Content& other) const;
    };

    explicit EmptyState(Style& style, QWidget* parent = nullptr);

    void setContent(const Content& content);
    const Content& content() const { return m_content; }

private:
    void rebuild();
    QWidget* linesBox();
    QWidget* buttonRow();

    Style& m_style;
    Content m_content;
    QWidget* m_body = nullptr;
    QBoxLayout* m_layout = nullptr;
};

/// The two lines that record a snapshot, for empty states about missing history or stacks.
QString recordingLines();

} // namespace tidemark
