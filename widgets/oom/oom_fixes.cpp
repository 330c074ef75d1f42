// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/oom/oom_fixes.hpp"

#include "widgets/common/wrapped_label.hpp"
#include "widgets/findings/finding_card.hpp"
#include "widgets/findings/finding_texts.hpp"
#include "widgets/style/style.hpp"
#include "widgets/style/text.hpp"

#include <QBoxLayout>
#include <QGridLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>

#include <algorithm>

namespace tidemark {

namespace {

constexpr double besideFrom = 720; ///< width from which heading and button stand beside the list

/// What bars a fix, else what it would do; empty when neither is known.
QString noteOf(const Fix& fix)
{
    return fix.blockedBy.empty() ? fixEffect(fix)
                                 : OomFixes::tr("Not here: %1").arg(shownText(fix.blockedBy));
}

} // namespace

std::optional<std::size_t> findingOfFailure(
    const Diagnosis& diagnosis, std::size_t deviceIndex, EventIndex event)
{
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < diagnosis.findings.size(); ++i) {
        const Finding& finding = diagnosis.findings[i];
        if (finding.deviceIndex != deviceIndex || finding.eventRange != std::pair(event, event))
            continue;
        // Some only remark on it: the cause comes first, and of remarks one with something to do.
        const auto rank = [](const Finding& each) {
            return std::pair(static_cast<int>(each.severity), each.fixes.empty());
        };
        if (!best || rank(finding) < rank(diagnosis.findings[*best]))
            best = i;
    }
    return best;
}

std::vector<std::size_t> bestFixes(const Finding& finding, std::size_t most)
{
    std::vector<std::size_t> places;
    for (const bool barred : {false, true})
        for (std::size_t i = 0; i < finding.fixes.size() && places.size() < most; ++i)
            if (finding.fixes[i].blockedBy.empty() != barred)
                places.push_back(i);
    std::sort(places.begin(), places.end());
    return places;
}

OomFixes::OomFixes(Style& style, QWidget* parent)
    : QWidget(parent)
    , m_style(style)
    , m_row(new QBoxLayout(QBoxLayout::LeftToRight, this))
    , m_head(new QBoxLayout(QBoxLayout::TopToBottom))
    , m_heading(new QLabel(tr("What to do"), this))
    , m_all(new QPushButton(style.icon(QStringLiteral("findings")), tr("Show finding"), this))
{
    setAccessibleName(tr("What to do"));
    m_all->setToolTip(tr("The finding with all its fixes and numbers"));
    m_head->addWidget(m_heading);
    m_head->addWidget(m_all);
    m_head->addStretch(1);
    m_row->addLayout(m_head);
    connect(m_all, &QPushButton::clicked, this, [this] {
        if (m_finding)
            emit findingRequested(*m_finding);
    });
    connect(&style, &Style::changed, this, &OomFixes::rebuild);
    rebuild();
}

void OomFixes::setFinding(std::shared_ptr<const Diagnosis> diagnosis, std::optional<std::size_t> finding)
{
    m_diagnosis = std::move(diagnosis);
    m_finding = m_diagnosis ? finding : std::nullopt;
    rebuild();
}

QStringList OomFixes::lines() const
{
    QStringList out;
    for (const std::size_t place : m_shown) {
        const Fix& fix = m_diagnosis->findings[*m_finding].fixes[place];
        const QString note = noteOf(fix);
        out << shownText(fix.text) + (note.isEmpty() ? QString() : QStringLiteral(" ") + note);
    }
    return out;
}

void OomFixes::rebuild()
{
    m_shown.clear();
    if (m_finding)
        m_shown = bestFixes(m_diagnosis->findings[*m_finding], most);
    // Not from inside the click of one of its own buttons.
    if (m_list) {
        m_list->hide();
        m_row->removeWidget(m_list);
        m_list->deleteLater();
    }
    m_list = new QWidget(this);
    m_grid = new QGridLayout(m_list);
    const Metrics& metrics = m_style.metrics();
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setHorizontalSpacing(metrics.padding);
    m_grid->setVerticalSpacing(metrics.unit);
    m_grid->setColumnStretch(1, 1);
    int row = 0;
    for (const std::size_t place : m_shown)
        addRow(row++, m_diagnosis->findings[*m_finding].fixes[place], place);
    m_row->insertWidget(1, m_list, 1);
    m_heading->setFont(m_style.font(FontRole::Strong));
    m_row->setContentsMargins(2 * metrics.padding, metrics.unit, metrics.padding, metrics.unit);
    m_row->setSpacing(2 * metrics.padding);
    arrange();
    setVisible(!m_shown.empty());
    updateGeometry();
}

void OomFixes::addRow(int row, const Fix& fix, std::size_t place)
{
    auto* const number = new QLabel(QString::number(row + 1), m_list);
    QPalette quiet = m_style.theme().palette();
    quiet.setColor(QPalette::WindowText, m_style.color(Tone::Text2));
    number->setPalette(quiet);
    const bool barred = !fix.blockedBy.empty();
    auto* const text = new WrappedLabel(m_list);
    text->setTextFormat(Qt::RichText);
    text->setFont(m_style.font(FontRole::Base));
    text->setMinimumWidth(1); // nothing is wider than the view
    QString words = QStringLiteral("<span style=\"color:%1\">%2</span>")
                        .arg(m_style.color(barred ? Tone::Dim : Tone::Text).name(),
                            breakable(shownText(fix.text)).toHtmlEscaped());
    if (const QString note = noteOf(fix); !note.isEmpty())
        words += QStringLiteral(" <span style=\"color:%1\">%2</span>")
                     .arg(m_style.color(barred ? Tone::Warn : Tone::Text2).name(),
                         breakable(note).toHtmlEscaped());
    text->showText(words);
    if (!fix.cost.empty())
        text->setToolTip(tr("Cost: %1").arg(shownText(fix.cost)));
    m_grid->addWidget(number, row, 0, Qt::AlignTop);
    m_grid->addWidget(text, row, 1, Qt::AlignTop);
    m_grid->addWidget(new GradeBox(fix.grade, m_style, m_list), row, 2, Qt::AlignTop);
    if (!fix.predictable())
        return;
    auto* const button = new QPushButton(m_style.icon(QStringLiteral("sandbox")), tr("Try"), m_list);
    button->setToolTip(tr("What it would have done to this run: opens the fix sandbox"));
    button->setAccessibleName(tr("Try fix %1").arg(row + 1));
    connect(button, &QPushButton::clicked, this, [this, place] { emit tryRequested(*m_finding, place); });
    m_grid->addWidget(button, row, 3, Qt::AlignTop);
}

void OomFixes::arrange()
{
    const bool beside = width() >= m_style.metrics().px(besideFrom);
    m_head->setDirection(beside ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
    m_head->setSpacing(m_style.metrics().unit);
    m_row->setDirection(beside ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    m_row->setSpacing(beside ? 2 * m_style.metrics().padding : m_style.metrics().unit);
}

void OomFixes::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    arrange();
}

void OomFixes::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_style.color(Tone::Base));
    painter.setPen(m_style.color(Tone::Line));
    painter.drawLine(0, height() - 1, width(), height() - 1);
}

} // namespace tidemark
