// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QEvent>
#include <QLabel>
#include <QTextDocument>

#include <algorithm>
#include <cmath>

namespace tidemark {

/// A label that wraps and has exactly the height its lines need: layouts nested in scroll areas know the
/// smallest height of a widget, but not how it depends on the width. Plain text unless told. GUI thread.
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
        // Before it is laid out there is no width to count lines in: one line, never less.
        const int room = width() - around.left() - around.right();
        const int lines = room > 0 ? linesHeight(room) : 0;
        const int wanted = std::max(lines, fontMetrics().height()) + around.top() + around.bottom();
        // Fixed: the hint of a wrapped label is for a narrow column and would leave room below the text.
        if (wanted != minimumHeight() || wanted != maximumHeight())
            setFixedHeight(wanted);
    }
    int linesHeight(int room) const
    {
        if (textFormat() != Qt::RichText)
            return fontMetrics()
                .boundingRect(QRect(0, 0, room, QWIDGETSIZE_MAX), Qt::AlignLeft | Qt::TextWordWrap, text())
                .height();
        QTextDocument lines;
        lines.setDefaultFont(font());
        lines.setDocumentMargin(0);
        lines.setHtml(text());
        lines.setTextWidth(room);
        return static_cast<int>(std::ceil(lines.size().height()));
    }
};

} // namespace tidemark
