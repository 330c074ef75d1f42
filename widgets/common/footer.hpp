// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/style/style.hpp"

#include <QPainter>
#include <QWidget>

namespace tidemark {

/// The ground of a pane's footer, with a line above. GUI thread.
class Footer : public QWidget {
public:
    explicit Footer(const Style& style, QWidget* parent = nullptr)
        : QWidget(parent)
        , m_style(style)
    { }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        painter.fillRect(rect(), m_style.color(Tone::Alt));
        painter.setPen(m_style.color(Tone::Line));
        painter.drawLine(0, 0, width(), 0);
    }

private:
    const Style& m_style;
};

} // namespace tidemark
