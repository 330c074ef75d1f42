// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/style/controls.hpp"

#include "widgets/style/style.hpp"

#include <QAbstractButton>
#include <QButtonGroup>
#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>

namespace tidemark {

void makePrimary(QPushButton& button, const Style& style)
{
    const auto paint = [&button, &style] {
        QPalette p = style.theme().palette();
        p.setColor(QPalette::Active, QPalette::Button, style.color(Tone::Sel));
        p.setColor(QPalette::Inactive, QPalette::Button, style.color(Tone::Sel));
        p.setColor(QPalette::Active, QPalette::ButtonText, style.color(Tone::SelText));
        p.setColor(QPalette::Inactive, QPalette::ButtonText, style.color(Tone::SelText));
        button.setPalette(p);
    };
    paint();
    QObject::connect(&style, &Style::changed, &button, paint);
}

/// One of the joined buttons.
class Segmented::Part : public QAbstractButton {
public:
    Part(const Style& style, bool first, bool last, QWidget* parent)
        : QAbstractButton(parent)
        , m_style(style)
        , m_first(first)
        , m_last(last)
    {
        setCheckable(true);
        setFocusPolicy(Qt::StrongFocus);
        setAttribute(Qt::WA_Hover);
    }

    QSize sizeHint() const override
    {
        const int pad = m_style.metrics().px(9);
        return {fontMetrics().horizontalAdvance(text()) + 2 * pad, fontMetrics().height() + 2};
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        const int radius = m_style.metrics().radius;
        // Drawn wider than the widget on joined sides, so that only the outer corners are round.
        QRectF box = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
        if (!m_first)
            box.setLeft(box.left() - radius - 2);
        if (!m_last)
            box.setRight(box.right() + radius + 2);
        const bool on = isChecked();
        if (on && isEnabled()) {
            painter.setBrush(m_style.color(Tone::Sel));
            painter.setPen(QPen(m_style.color(Tone::Sel), 1));
        } else {
            QLinearGradient fill(0, 0, 0, height());
            fill.setColorAt(0, m_style.color(underMouse() && isEnabled() ? Tone::Base : Tone::Btn1));
            fill.setColorAt(1, m_style.color(Tone::Btn2));
            painter.setBrush(on ? QBrush(m_style.color(Tone::Line)) : QBrush(fill));
            painter.setPen(QPen(m_style.color(Tone::Line), 1));
        }
        painter.drawRoundedRect(box, radius, radius);
        if (!m_last) {
            painter.setPen(QPen(m_style.color(Tone::Line), 1));
            painter.drawLine(QPointF(width() - 0.5, 1), QPointF(width() - 0.5, height() - 1));
        }
        painter.setPen(m_style.color(!isEnabled() ? Tone::Dim : on ? Tone::SelText : Tone::Text));
        painter.drawText(rect(), Qt::AlignCenter, text());
        if (hasFocus()) {
            painter.setBrush(Qt::NoBrush);
            painter.setPen(QPen(m_style.color(on ? Tone::SelText : Tone::Sel), 1, Qt::DotLine));
            painter.drawRect(QRectF(rect()).adjusted(2.5, 2.5, -2.5, -2.5));
        }
    }

private:
    const Style& m_style;
    bool m_first;
    bool m_last;
};

Segmented::Segmented(const Style& style, const QStringList& texts, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
    , m_group(new QButtonGroup(this))
{
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    for (qsizetype i = 0; i < texts.size(); ++i) {
        auto* part = new Part(style, i == 0, i + 1 == texts.size(), this);
        part->setText(texts[i]);
        part->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Expanding);
        m_group->addButton(part, static_cast<int>(i));
        layout->addWidget(part);
        m_parts.push_back(part);
    }
    if (!m_parts.empty())
        m_parts.front()->setChecked(true);
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    connect(m_group, &QButtonGroup::idClicked, this, &Segmented::chosen);
    connect(&style, &Style::changed, this, [this] {
        updateGeometry();
        update();
    });
}

int Segmented::current() const
{
    return m_group->checkedId();
}

void Segmented::setCurrent(int index)
{
    if (auto* button = m_group->button(index))
        button->setChecked(true);
}

void Segmented::setPartEnabled(int index, bool enabled)
{
    if (auto* button = m_group->button(index))
        button->setEnabled(enabled);
}

void Segmented::setPartToolTip(int index, const QString& text)
{
    if (auto* button = m_group->button(index))
        button->setToolTip(text);
}

void Segmented::setPartShown(int index, bool shown)
{
    if (auto* button = m_group->button(index))
        button->setVisible(shown);
    updateGeometry();
}

void Segmented::setLogicalHeight(int height)
{
    m_height = height;
    updateGeometry();
}

QSize Segmented::sizeHint() const
{
    int width = 0;
    for (const Part* part : m_parts)
        width += part->isVisibleTo(this) ? part->sizeHint().width() : 0;
    return {width, std::max(m_style.metrics().px(m_height), fontMetrics().height() + 2)};
}

} // namespace tidemark
