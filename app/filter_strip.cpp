// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/filter_strip.hpp"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QToolButton>

#include <algorithm>

namespace tidemark {

namespace {

constexpr int stripHeight = 28;
constexpr int chipHeight = 20;
constexpr int widestChip = 240;
constexpr int side = 8; // left of the text

} // namespace

FilterChip::FilterChip(const QString& term, const Style& style, QWidget* parent)
    : QWidget(parent)
    , m_term(term)
    , m_style(style)
{
    setFont(style.font(FontRole::Small));
    setMouseTracking(true);
    setFocusPolicy(Qt::TabFocus);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    setAccessibleName(tr("Term of the filter: %1").arg(term));
    setToolTip(tr("%1\nClick: edit it in the field. Cross or Del: take it away.").arg(term));
}

QSize FilterChip::sizeHint() const
{
    const Metrics& m = m_style.metrics();
    const int high = std::max(m.px(chipHeight), fontMetrics().height() + m.px(4));
    const int text = std::min(m.px(widestChip), fontMetrics().horizontalAdvance(m_term));
    return {m.px(side) + text + m.px(4) + high, high};
}

QRect FilterChip::cross() const
{
    return {width() - height(), 0, height(), height()};
}

void FilterChip::paintEvent(QPaintEvent*)
{
    const Metrics& m = m_style.metrics();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(m_style.color(hasFocus() ? Tone::Sel : Tone::Line));
    painter.setBrush(m_style.color(Tone::SelSoft));
    const double round = height() / 2.0;
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), round, round);
    painter.setPen(m_style.color(Tone::Text));
    const QRect text = rect().adjusted(m.px(side), 0, -height() - m.px(2), 0);
    painter.drawText(text, Qt::AlignVCenter | Qt::AlignLeft,
        fontMetrics().elidedText(m_term, Qt::ElideMiddle, text.width()));
    painter.setPen(QPen(m_style.color(m_onCross ? Tone::Text : Tone::Text2), 1.4));
    const QPointF middle = QRectF(cross()).center();
    const double arm = m.px(3);
    painter.drawLine(middle - QPointF(arm, arm), middle + QPointF(arm, arm));
    painter.drawLine(middle - QPointF(arm, -arm), middle + QPointF(arm, -arm));
}

void FilterChip::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    if (cross().contains(event->pos()))
        emit removed();
    else
        emit chosen();
}

void FilterChip::mouseMoveEvent(QMouseEvent* event)
{
    m_onCross = cross().contains(event->pos());
    update();
}

void FilterChip::leaveEvent(QEvent*)
{
    m_onCross = false;
    update();
}

void FilterChip::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Delete || event->key() == Qt::Key_Backspace)
        emit removed();
    else if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Space)
        emit chosen();
    else
        QWidget::keyPressEvent(event);
}

FilterStrip::FilterStrip(Search& search, ViewState& state, Style& style, QWidget* parent)
    : QWidget(parent)
    , m_search(search)
    , m_style(style)
    , m_row(new QHBoxLayout(this))
    , m_more(new QLabel(this))
    , m_summary(new QLabel(this))
    , m_previous(new QToolButton(this))
    , m_next(new QToolButton(this))
    , m_list(new QToolButton(this))
    , m_clear(new QToolButton(this))
{
    m_previous->setToolTip(tr("Previous match (Shift+Enter in the field)"));
    m_previous->setAccessibleName(tr("Previous match"));
    m_next->setToolTip(tr("Next match (Enter in the field)"));
    m_next->setAccessibleName(tr("Next match"));
    m_list->setToolTip(tr("All matches as a list"));
    m_list->setText(tr("Results"));
    m_list->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_clear->setToolTip(tr("Clear the filter (Ctrl+Z brings it back)"));
    m_clear->setAccessibleName(tr("Clear the filter"));
    for (QToolButton* button : {m_previous, m_next, m_list, m_clear})
        button->setAutoRaise(true);
    m_summary->setSizePolicy(QSizePolicy::Minimum, QSizePolicy::Preferred);
    m_row->addWidget(m_more);
    m_row->addStretch(1);
    for (QWidget* widget : {static_cast<QWidget*>(m_summary), static_cast<QWidget*>(m_previous),
             static_cast<QWidget*>(m_next), static_cast<QWidget*>(m_list), static_cast<QWidget*>(m_clear)})
        m_row->addWidget(widget);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);

    connect(&search, &Search::changed, this, &FilterStrip::refresh);
    connect(&state, &ViewState::cursorChanged, this, &FilterStrip::refresh);
    connect(&style, &Style::changed, this, &FilterStrip::restyle);
    connect(m_previous, &QToolButton::clicked, this, [this] { emit matchRequested(-1); });
    connect(m_next, &QToolButton::clicked, this, [this] { emit matchRequested(1); });
    connect(m_list, &QToolButton::clicked, this, &FilterStrip::listRequested);
    connect(m_clear, &QToolButton::clicked, this, [this] { emit wanted(QString()); });
    restyle();
}

void FilterStrip::restyle()
{
    const Metrics& m = m_style.metrics();
    setFixedHeight(
        std::max(m.px(stripHeight), QFontMetrics(m_style.font(FontRole::Small)).height() + m.px(8)));
    m_row->setContentsMargins(m.padding, 0, m.padding, 1);
    m_row->setSpacing(m.px(6));
    for (QWidget* widget :
        {static_cast<QWidget*>(m_more), static_cast<QWidget*>(m_summary), static_cast<QWidget*>(m_list)})
        widget->setFont(m_style.font(FontRole::Small));
    m_previous->setIcon(m_style.icon(QStringLiteral("back")));
    m_next->setIcon(m_style.icon(QStringLiteral("forward")));
    m_list->setIcon(m_style.icon(QStringLiteral("table")));
    m_clear->setIcon(m_style.icon(QStringLiteral("clear")));
    m_text.clear();
    qDeleteAll(m_chips);
    m_chips.clear();
    refresh();
}

void FilterStrip::refresh()
{
    const QString text = m_search.text();
    const bool has = !text.trimmed().isEmpty();
    if (has && text != m_text && m_search.problem().isEmpty()) {
        qDeleteAll(m_chips);
        m_chips.clear();
        const QList<Search::Term> terms = m_search.terms();
        for (qsizetype i = 0; i < terms.size(); ++i) {
            auto* chip = new FilterChip(terms[i].text, m_style, this);
            connect(
                chip, &FilterChip::removed, this, [this, i] { emit wanted(m_search.without(i)); },
                Qt::QueuedConnection);
            connect(chip, &FilterChip::chosen, this,
                [this, at = terms[i]] { emit editRequested(at.from, static_cast<int>(at.text.size())); });
            m_row->insertWidget(static_cast<int>(i), chip);
            m_chips << chip;
        }
        m_text = text;
    }
    const bool wrong = !m_search.problem().isEmpty();
    m_summary->setText(m_search.summary());
    QPalette palette = m_summary->palette();
    palette.setColor(QPalette::WindowText, m_style.color(wrong ? Tone::Crit : Tone::Text));
    m_summary->setPalette(palette);
    for (QToolButton* button : {m_previous, m_next, m_list})
        button->setEnabled(m_search.count() > 0);
    fit();
    if (has != m_has) {
        m_has = has;
        emit hasFilterChanged(has);
    }
}

// Chips that have no room are counted instead.
void FilterStrip::fit()
{
    int room = width() - m_summary->sizeHint().width() - m_style.metrics().px(190);
    int hidden = 0;
    for (FilterChip* chip : m_chips) {
        room -= chip->sizeHint().width() + m_row->spacing();
        const bool fits = room > 0 || chip == m_chips.front();
        chip->setVisible(fits);
        hidden += fits ? 0 : 1;
    }
    m_more->setVisible(hidden > 0);
    m_more->setText(tr("and %1 more").arg(hidden));
}

void FilterStrip::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fit();
}

void FilterStrip::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_style.color(Tone::Win));
    painter.setPen(m_style.color(Tone::Line));
    painter.drawLine(0, height() - 1, width(), height() - 1);
}

QStringList FilterStrip::terms() const
{
    QStringList terms;
    for (const FilterChip* chip : m_chips)
        terms << chip->term();
    return terms;
}

QString FilterStrip::summary() const
{
    return m_summary->text();
}

FilterChip* FilterStrip::chip(int at) const
{
    return m_chips.value(at);
}

} // namespace tidemark
