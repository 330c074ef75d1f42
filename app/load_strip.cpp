// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/load_strip.hpp"

#include "widgets/style/text.hpp"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include <cmath>

namespace tidemark {

namespace {

constexpr int barSteps = 1000;

} // namespace

LoadStrip::LoadStrip(const Style& style, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
    , m_text(new QLabel(this))
    , m_bar(new QProgressBar(this))
    , m_stop(new QPushButton(style.icon(QStringLiteral("stop")), tr("Stop"), this))
{
    // Inside a toolbar labels would else take the colour of buttons.
    setBackgroundRole(QPalette::Window);
    m_text->setTextFormat(Qt::PlainText);
    m_bar->setTextVisible(false);
    m_stop->setToolTip(tr("Stop loading (Esc)"));
    m_stop->setFocusPolicy(Qt::NoFocus);
    connect(m_stop, &QPushButton::clicked, this, &LoadStrip::stopRequested);
    auto* column = new QVBoxLayout;
    column->setSpacing(3);
    column->addStretch(1);
    column->addWidget(m_text);
    column->addWidget(m_bar);
    column->addStretch(1);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(12, 0, 12, 0);
    row->setSpacing(12);
    row->addLayout(column, 1);
    row->addWidget(m_stop, 0, Qt::AlignVCenter);
    connect(&style, &Style::changed, this, &LoadStrip::restyle);
    restyle();
}

void LoadStrip::restyle()
{
    m_text->setFont(m_style.font(FontRole::Small));
    m_bar->setFixedHeight(m_style.metrics().px(12));
    setFixedHeight(m_style.metrics().strip);
    QPalette quiet = m_style.theme().palette();
    quiet.setColor(QPalette::WindowText, m_style.color(Tone::Text2));
    m_text->setPalette(quiet);
}

void LoadStrip::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_style.color(Tone::SelSoft));
    painter.setPen(m_style.color(Tone::Line));
    painter.drawLine(0, height() - 1, width(), height() - 1);
    painter.drawLine(0, 0, width(), 0);
}

QString LoadStrip::text() const
{
    return m_text->text();
}

void LoadStrip::begin(const LoadRequest& request)
{
    LoadProgress progress;
    progress.name = QFileInfo(request.path).fileName();
    show(progress);
}

QString LoadStrip::describe(const LoadProgress& p)
{
    QString text = tr("Opening %1").arg(shownText(p.name.toStdString()));
    const auto add = [&text](const QString& part) { text += QStringLiteral(" · ") + part; };
    const bool bytes = p.stage == Stage::Open || p.stage == Stage::Read;
    if (p.stage == Stage::Read) {
        if (p.total > 0)
            add(tr("reading %1 of %2").arg(bytesText(p.done), bytesText(p.total)));
        else if (p.done > 0)
            add(tr("reading, %1 so far").arg(bytesText(p.done)));
        else
            add(tr("reading"));
    } else if (p.stage == Stage::Replay) {
        const double share = p.total > 0 ? static_cast<double>(p.done) / static_cast<double>(p.total) : 0;
        add(p.total > 0 ? tr("replaying events, %1").arg(percentText(share)) : tr("replaying events"));
    } else if (p.stage == Stage::Findings) {
        add(tr("finding"));
    }
    if (bytes && p.perSecond)
        add(tr("%1/s").arg(bytesText(static_cast<std::int64_t>(*p.perSecond))));
    if (p.secondsLeft && *p.secondsLeft >= 1)
        add(tr("about %1 left")
                .arg(durationText(static_cast<std::int64_t>(std::ceil(*p.secondsLeft)) * 1000000)));
    return text;
}

void LoadStrip::show(const LoadProgress& progress)
{
    m_text->setText(describe(progress));
    if (progress.total > 0 && progress.done > 0) {
        m_bar->setRange(0, barSteps);
        const double share = static_cast<double>(progress.done) / static_cast<double>(progress.total);
        m_bar->setValue(static_cast<int>(std::min(1.0, share) * barSteps));
    } else {
        m_bar->setRange(0, 0);
    }
}

} // namespace tidemark
