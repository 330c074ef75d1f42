// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/oom/oom_banner.hpp"

#include "widgets/common/wrapped_label.hpp"
#include "widgets/findings/finding_texts.hpp"
#include "widgets/style/style.hpp"

#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QTextDocumentFragment>
#include <QVBoxLayout>

namespace tidemark {

namespace {

constexpr double besideFrom = 380; ///< width the words keep beside the buttons

} // namespace

OomBanner::OomBanner(Style& style, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
    , m_icon(new QLabel(this))
    , m_grid(new QGridLayout)
    , m_buttons(new QWidget(this))
    , m_title(new WrappedLabel(this))
    , m_sentences(new WrappedLabel(this))
    , m_grade(new QLabel(m_buttons))
    , m_events(new QComboBox(m_buttons))
    , m_goTo(new QPushButton(style.icon(QStringLiteral("oom")), tr("Go to event"), m_buttons))
    , m_copy(new QPushButton(style.icon(QStringLiteral("copy")), tr("Copy text"), m_buttons))
{
    m_sentences->setTextFormat(Qt::RichText);
    for (QLabel* label : {m_title, m_sentences})
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_grade->setAlignment(Qt::AlignCenter);
    m_grade->setFrameShape(QFrame::Box);
    m_events->setAccessibleName(tr("Out-of-memory event"));
    m_events->setToolTip(tr("This file has several out-of-memory events"));
    m_events->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_events->hide();
    m_goTo->setToolTip(tr("Sets the cursor to the failed request"));
    m_copy->setToolTip(tr("Copies the verdict with all numbers behind it"));
    auto* const buttons = new QHBoxLayout(m_buttons);
    buttons->setContentsMargins(0, 0, 0, 0);
    buttons->addWidget(m_grade);
    buttons->addSpacing(8);
    buttons->addWidget(m_events);
    buttons->addWidget(m_goTo);
    buttons->addWidget(m_copy);
    m_grid->setVerticalSpacing(2);
    m_grid->addWidget(m_title, 0, 0);
    m_grid->addWidget(m_sentences, 1, 0);
    m_grid->setColumnStretch(0, 1);
    auto* const row = new QHBoxLayout(this);
    row->addWidget(m_icon, 0, Qt::AlignTop);
    row->addLayout(m_grid, 1);
    connect(m_copy, &QPushButton::clicked, this, &OomBanner::copyRequested);
    connect(m_goTo, &QPushButton::clicked, this, &OomBanner::goToRequested);
    connect(m_events, &QComboBox::activated, this, &OomBanner::eventChosen);
    connect(&style, &Style::changed, this, &OomBanner::restyle);
    restyle();
}

void OomBanner::restyle()
{
    const Metrics& metrics = m_style.metrics();
    const int side = metrics.px(28);
    m_icon->setPixmap(
        m_style.pixmap(m_words.decided ? QStringLiteral("sev-critical") : QStringLiteral("sev-unknown"),
            m_words.decided ? Tone::Crit : Tone::Unknown, side, devicePixelRatioF()));
    m_icon->setAccessibleName(m_words.decided ? tr("critical") : tr("cannot decide"));
    m_title->setFont(m_style.font(FontRole::Title));
    m_sentences->setFont(m_style.font(FontRole::Base));
    m_grade->setFont(m_style.font(FontRole::Small));
    const int box = QFontMetrics(m_style.font(FontRole::Small)).height() + metrics.unit;
    m_grade->setFixedSize(box, box);
    QPalette quiet = m_style.theme().palette();
    quiet.setColor(QPalette::WindowText, m_style.color(Tone::Text2));
    m_grade->setPalette(quiet);
    layout()->setContentsMargins(2 * metrics.padding, metrics.padding, metrics.padding, metrics.padding);
    layout()->setSpacing(2 * metrics.padding);
    placeButtons();
    update();
}

void OomBanner::placeButtons()
{
    const bool beside = width() - m_buttons->sizeHint().width() >= m_style.metrics().px(besideFrom);
    m_grid->removeWidget(m_buttons);
    if (beside)
        m_grid->addWidget(m_buttons, 0, 1, 2, 1, Qt::AlignTop);
    else
        m_grid->addWidget(m_buttons, 2, 0, Qt::AlignLeft);
}

void OomBanner::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    placeButtons();
}

void OomBanner::setWords(const OomWords& words)
{
    m_words = words;
    m_title->showText(words.title);
    m_sentences->showText(words.sentences);
    const QString grade(QLatin1Char(static_cast<char>(words.grade)));
    m_grade->setText(grade);
    m_grade->setToolTip(gradeMeaning(words.grade));
    m_grade->setAccessibleName(gradeMeaning(words.grade));
    m_grade->setVisible(words.decided);
    setAccessibleName(words.title);
    setAccessibleDescription(sentences());
    restyle();
}

void OomBanner::setEvents(const QStringList& events, int current)
{
    const QSignalBlocker quiet(m_events);
    m_events->clear();
    m_events->addItems(events);
    m_events->setCurrentIndex(current);
    m_events->setVisible(events.size() > 1);
    placeButtons();
}

QString OomBanner::title() const
{
    return m_title->text();
}

QString OomBanner::sentences() const
{
    return QTextDocumentFragment::fromHtml(m_words.sentences).toPlainText();
}

QString OomBanner::grade() const
{
    return m_grade->isVisibleTo(this) ? m_grade->text() : QString();
}

void OomBanner::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_style.color(m_words.decided ? Tone::CritBg : Tone::Alt));
    painter.setPen(m_style.color(Tone::Line));
    painter.drawLine(0, height() - 1, width(), height() - 1);
}

OomChecks::OomChecks(Style& style, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
{
    setAccessibleName(tr("Checks behind the verdict"));
    connect(&style, &Style::changed, this, &OomChecks::rebuild);
}

void OomChecks::setChecks(std::vector<OomCheck> checks)
{
    m_checks = std::move(checks);
    rebuild();
}

void OomChecks::rebuild()
{
    qDeleteAll(findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly));
    delete layout();
    const Metrics& metrics = m_style.metrics();
    auto* const grid = new QGridLayout(this);
    grid->setContentsMargins(metrics.padding, 0, metrics.padding, metrics.unit);
    grid->setHorizontalSpacing(metrics.unit);
    grid->setVerticalSpacing(metrics.unit);
    grid->setColumnStretch(1, 1);
    QPalette quiet = m_style.theme().palette();
    quiet.setColor(QPalette::WindowText, m_style.color(Tone::Text2));
    for (std::size_t i = 0; i < m_checks.size(); ++i) {
        const OomCheck& check = m_checks[i];
        const bool holds = check.state == OomCheck::State::Holds;
        const bool fails = check.state == OomCheck::State::Fails;
        auto* const icon = new QLabel(this);
        icon->setPixmap(m_style.pixmap(holds ? QStringLiteral("sev-ok")
                : fails                      ? QStringLiteral("sev-critical")
                                             : QStringLiteral("sev-unknown"),
            holds       ? Tone::Ok
                : fails ? Tone::Crit
                        : Tone::Unknown,
            metrics.smallIcon, devicePixelRatioF()));
        icon->setAccessibleName(checkStateText(check.state));
        auto* const text = new WrappedLabel(this);
        auto* const figure = new QLabel(check.figure, this);
        for (QLabel* label : std::initializer_list<QLabel*>{text, figure}) {
            label->setTextFormat(Qt::PlainText);
            label->setFont(m_style.font(FontRole::Small));
            label->setToolTip(check.tip);
        }
        text->showText(check.text);
        text->setAccessibleName(check.text + QStringLiteral(": ") + checkStateText(check.state)
            + QStringLiteral(", ") + check.figure);
        if (check.state == OomCheck::State::Unknown)
            figure->setPalette(quiet);
        const int row = static_cast<int>(i);
        grid->addWidget(icon, row, 0);
        grid->addWidget(text, row, 1);
        grid->addWidget(figure, row, 2, Qt::AlignRight);
    }
}

} // namespace tidemark
