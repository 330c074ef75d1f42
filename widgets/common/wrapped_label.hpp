// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QEvent>
#include <QLabel>

#include <algorithm>

namespace tidemark {

/// A label of plain text that wraps and has exactly the height its lines need: layouts nested in scroll areas
/// know the smallest height of a widget, but not how it depends on the width. GUI thread.
class WrappedLabel : public QLabel {
public:
    explicit WrappedLabel(QWidget* parent = nullptr)
        : QLabel(parent)
    {
        setWordWrap(true);
        setTextFormat(Qt::PlainText);
        QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed); // room to spare is not for texts
        policy.setHeightForWidth(true);
        setSizePolicy(policy);
    }
    void showText(const QString& text)
    {
        setText(text);
        fit();
    }

protected:
    void resizeEvent(QResizeEvent* event) override
    {
        QLabel::resizeEvent(event);
        fit();
    }
    void changeEvent(QEvent* event) override
    {
        QLabel::changeEvent(event);
        if (event->type() == QEvent::FontChange)
            fit();
    }

private:
    void fit()
    {
        if (text().isEmpty()) {
            setMinimumHeight(0);
            setMaximumHeight(QWIDGETSIZE_MAX);
            return;
        }
        // Measured here: QLabel::heightForWidth() is never below the minimum that is set, and would not
        // shrink.
        const QMargins around = contentsMargins();
        const QRect room(0, 0, std::max(1, width() - around.left() - around.right()), QWIDGETSIZE_MAX);
        const int wanted = fontMetrics().boundingRect(room, Qt::AlignLeft | Qt::TextWordWrap, text()).height()
            + around.top() + around.bottom();
        // Fixed: the hint of a wrapped label is for a narrow column and would leave room below the text.
        if (wanted != minimumHeight() || wanted != maximumHeight())
            setFixedHeight(wanted);
    }
};

} // namespace tidemark
