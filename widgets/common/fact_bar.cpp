// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/fact_bar.hpp"

#include "widgets/style/style.hpp"

#include <QEvent>
#include <QLabel>
#include <QPainter>

namespace tidemark {

FactBar::FactBar(Style& style, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
    , m_right(label())
{
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    connect(&style, &Style::changed, this, &FactBar::restyle);
    restyle();
}

QLabel* FactBar::label()
{
    auto* const result = new QLabel(this);
    result->setTextFormat(Qt::PlainText);
    result->setTextInteractionFlags(Qt::TextSelectableByMouse);
    result->setForegroundRole(QPalette::PlaceholderText);
    return result;
}

void FactBar::restyle()
{
    const QFont font = m_style.font(FontRole::Small);
    m_right->setFont(font);
    for (const Item& item : m_items)
        item.text->setFont(font);
    updateGeometry();
    arrange();
}

void FactBar::setFacts(const std::vector<Fact>& facts, const QString& right)
{
    while (m_items.size() < facts.size()) {
        m_items.push_back({new QLabel(this), label(), {}, {}});
        m_items.back().text->setFont(m_style.font(FontRole::Small));
    }
    for (std::size_t i = 0; i < facts.size(); ++i) {
        m_items[i].sample->setPixmap(facts[i].sample);
        m_items[i].full = facts[i].text;
        m_items[i].brief = facts[i].brief.isEmpty() ? facts[i].text : facts[i].brief;
    }
    m_used = facts.size();
    m_right->setText(right);
    setToolTip(text());
    setAccessibleName(text());
    arrange();
}

void FactBar::setControl(QWidget* control)
{
    m_control = control;
    m_control->setParent(this);
    m_control->show();
    arrange();
}

QString FactBar::text() const
{
    QStringList parts;
    for (std::size_t i = 0; i < m_used; ++i)
        parts << m_items[i].full;
    if (!m_right->text().isEmpty())
        parts << m_right->text();
    return parts.join(QStringLiteral(" · "));
}

QSize FactBar::sizeHint() const
{
    return {0, m_style.metrics().header};
}

QSize FactBar::minimumSizeHint() const
{
    return {0, m_style.metrics().header};
}

bool FactBar::event(QEvent* event)
{
    if (event->type() == QEvent::LayoutRequest)
        arrange();
    return QWidget::event(event);
}

void FactBar::resizeEvent(QResizeEvent*)
{
    arrange();
}

void FactBar::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_style.color(Tone::Alt));
    painter.setPen(m_style.color(Tone::Line));
    painter.drawLine(0, 0, width(), 0);
}

void FactBar::arrange()
{
    const Metrics& metrics = m_style.metrics();
    int right = width() - metrics.unit;
    if (m_control && m_control->parentWidget() == this) {
        const QSize size = m_control->sizeHint().boundedTo(QSize(right, height()));
        m_control->setGeometry(
            right - size.width(), (height() - size.height() + 1) / 2, size.width(), size.height());
        right -= size.width() + metrics.unit;
    }
    const int rightWidth = m_right->sizeHint().width();
    const bool rightFits = rightWidth < right - metrics.padding;
    m_right->setVisible(rightFits && !m_right->text().isEmpty());
    if (m_right->isVisibleTo(this)) {
        m_right->setGeometry(right - rightWidth, 1, rightWidth, height() - 1);
        right -= rightWidth + metrics.padding;
    }
    const int between = metrics.padding + metrics.unit;
    int whole = metrics.padding;
    for (std::size_t i = 0; i < m_used; ++i)
        whole += widthOf(m_items[i], m_items[i].full) + between;
    const bool brief = whole - between > right;
    int x = metrics.padding;
    bool full = false;
    for (std::size_t i = 0; i < m_items.size(); ++i) {
        const Item& item = m_items[i];
        const QString& text = brief ? item.brief : item.full;
        const int wanted = widthOf(item, text);
        full = full || x + wanted > right;
        const bool shown = i < m_used && !full;
        const bool sampled = !item.sample->pixmap().isNull();
        item.sample->setVisible(shown && sampled);
        item.text->setVisible(shown);
        if (!shown)
            continue;
        item.text->setText(text);
        const QSize sample = item.sample->sizeHint();
        if (sampled)
            item.sample->setGeometry(
                x, (height() - sample.height()) / 2 + 1, sample.width(), sample.height());
        const int textX = sampled ? x + sample.width() + metrics.unit + 1 : x;
        item.text->setGeometry(textX, 1, x + wanted - textX, height() - 1);
        x += wanted + between;
    }
}

int FactBar::widthOf(const Item& item, const QString& text) const
{
    const int sample
        = item.sample->pixmap().isNull() ? 0 : item.sample->sizeHint().width() + m_style.metrics().unit + 1;
    return sample + item.text->fontMetrics().horizontalAdvance(text) + 2;
}

} // namespace tidemark
