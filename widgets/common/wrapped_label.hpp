// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QEvent>
#include <QLabel>

namespace tidemark {

/// A label that wraps and never gets less height than its lines need: layouts nested in scroll areas know the
/// smallest height of a widget, but not how it depends on the width. GUI thread.
class WrappedLabel : public QLabel {
public:
    explicit WrappedLabel(QWidget* parent = nullptr)
        : QLabel(parent)
    {
        setWordWrap(true);
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
        // The hint of a wrapped label is for a narrow column: it would leave room below the text.
        const int wanted = heightForWidth(width());
        if (wanted > 0 && (wanted != minimumHeight() || wanted != maximumHeight()))
            setFixedHeight(wanted);
    }
};

} // namespace tidemark
