// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/choice_bar.hpp"

#include "widgets/style/style.hpp"

#include <QAbstractButton>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPainter>

namespace tidemark {

/// One of the joined buttons; draws itself because styles round every button's own corners.
class ChoiceBar::Button : public QAbstractButton {
public:
    Button(Style& style, const QString& label)
        : m_style(style)
    {
        setText(label);
        setCheckable(true);
        setAutoExclusive(true);
        setFocusPolicy(Qt::NoFocus);
        setAttribute(Qt::WA_Hover);
    }

    QSize sizeHint() const override
    {
        const QFontMetrics metrics(m_style.font(FontRole::Small));
        return {metrics.horizontalAdvance(text()) + m_style.metrics().px(16), m_style.metrics().px(18)};
    }
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        const bool on = isChecked();
        QLinearGradient fill(0, 0, 0, height());
        fill.setColorAt(0, m_style.color(on ? Tone::Sel : Tone::Btn1));
        fill.setColorAt(1, m_style.color(on ? Tone::Sel : underMouse() ? Tone::Head2 : Tone::Btn2));
        painter.fillRect(rect(), fill);
        painter.setPen(m_style.color(on ? Tone::Sel : Tone::Line));
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
        painter.setFont(m_style.font(FontRole::Small));
        painter.setPen(m_style.color(!isEnabled() ? Tone::Dim : on ? Tone::SelText : Tone::Text));
        painter.drawText(rect(), Qt::AlignCenter, text());
        if (on && parentWidget() && parentWidget()->hasFocus()) {
            painter.setPen(m_style.color(Tone::SelText));
            painter.drawRect(rect().adjusted(2, 2, -3, -3));
        }
    }

private:
    Style& m_style;
};

ChoiceBar::ChoiceBar(Style& style, const QString& accessibleName, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
{
    auto* const row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    setAccessibleName(accessibleName);
    setFocusPolicy(Qt::TabFocus);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    connect(&style, &Style::changed, this, [this] {
        updateGeometry();
        for (const auto& [value, button] : m_buttons)
            button->updateGeometry();
    });
}

void ChoiceBar::addChoice(int value, const QString& text, const QString& toolTip)
{
    auto* const button = new Button(m_style, text);
    button->setToolTip(toolTip);
    m_buttons.emplace_back(value, button);
    layout()->addWidget(button);
    connect(button, &QAbstractButton::clicked, this, [this, value] {
        if (m_current == value)
            return;
        m_current = value;
        emit chosen(value);
    });
}

void ChoiceBar::setChoiceVisible(int value, bool visible)
{
    for (const auto& [each, button] : m_buttons)
        if (each == value)
            button->setVisible(visible);
}

void ChoiceBar::setChoiceEnabled(int value, bool enabled)
{
    for (const auto& [each, button] : m_buttons)
        if (each == value)
            button->setEnabled(enabled);
}

void ChoiceBar::setCurrent(int value)
{
    m_current = value;
    for (const auto& [each, button] : m_buttons)
        if (each == value)
            button->setChecked(true);
}

QSize ChoiceBar::sizeHint() const
{
    return layout()->sizeHint();
}

void ChoiceBar::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Left || event->key() == Qt::Key_Right)
        step(event->key() == Qt::Key_Left ? -1 : 1);
    else
        QWidget::keyPressEvent(event);
}

void ChoiceBar::step(int direction)
{
    const auto usable = [](const Button* button) { return button->isEnabled() && !button->isHidden(); };
    const int count = static_cast<int>(m_buttons.size());
    int at = 0;
    while (at < count && m_buttons[static_cast<std::size_t>(at)].first != m_current)
        ++at;
    for (at += direction; at >= 0 && at < count; at += direction) {
        Button* const button = m_buttons[static_cast<std::size_t>(at)].second;
        if (usable(button)) {
            button->click();
            return;
        }
    }
}

} // namespace tidemark
