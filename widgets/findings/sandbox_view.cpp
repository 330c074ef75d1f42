// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/findings/sandbox_view.hpp"

#include "widgets/findings/finding_card.hpp"
#include "widgets/findings/finding_texts.hpp"
#include "widgets/style/text.hpp"

#include <QCheckBox>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace tidemark {

namespace {

QLabel* textLabel(const QString& text, const QFont& font, const QColor& ink, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setFont(font);
    QPalette palette = label->palette();
    palette.setColor(QPalette::WindowText, ink);
    label->setPalette(palette);
    return label;
}

} // namespace

SandboxView::SandboxView(Session& session, ViewState& view, Style& style, QWidget* parent)
    : QScrollArea(parent)
    , m_session(session)
    , m_view(view)
    , m_style(style)
    , m_task([this](std::shared_ptr<const Prediction>&& prediction) {
        m_session.setPrediction(std::move(prediction));
        showResult();
    })
{
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setAccessibleName(tr("Fix sandbox"));
    setWindowTitle(tr("what if"));
    viewport()->setAutoFillBackground(true);
    viewport()->setBackgroundRole(QPalette::Base);
    connect(&session, &Session::opened, this, &SandboxView::rebuild);
    connect(&session, &Session::deviceChanged, this, &SandboxView::rebuild);
    connect(&session, &Session::diagnosisChanged, this, &SandboxView::rebuild);
    connect(&style, &Style::changed, this, &SandboxView::restyle);
    rebuild();
}

void SandboxView::restyle()
{
    const std::vector<FixPlace> before = ticked();
    rebuild();
    for (const FixPlace& place : before)
        setTicked(place, true);
}

void SandboxView::rebuild()
{
    m_task.cancel();
    m_rows.clear();
    m_diagnosis = m_session.diagnosis();
    m_page = new QWidget;
    m_column = new QVBoxLayout(m_page);
    const Metrics& m = m_style.metrics();
    m_column->setContentsMargins(m.px(10), m.px(8), m.px(10), m.px(8));
    m_column->setSpacing(m.px(6));
    if (m_diagnosis)
        for (std::size_t i = 0; i < m_diagnosis->findings.size(); ++i) {
            const Finding& finding = m_diagnosis->findings[i];
            if (finding.deviceIndex == m_session.deviceIndex())
                for (std::size_t j = 0; j < finding.fixes.size(); ++j)
                    addFix({i, j}, finding, finding.fixes[j]);
        }
    if (m_rows.empty())
        m_column->addWidget(
            textLabel(m_diagnosis ? tr("No fix to try: nothing was found that a change would mend.")
                                  : tr("Fixes appear here when the findings are there."),
                m_style.font(FontRole::Base), m_style.color(Tone::Text2), m_page));
    m_heading = textLabel({}, m_style.font(FontRole::Strong), m_style.color(Tone::Text), m_page);
    m_column->addWidget(m_heading);
    m_figures = new QWidget(m_page);
    m_grid = new QGridLayout(m_figures);
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setHorizontalSpacing(m.px(12));
    m_grid->setVerticalSpacing(m.px(2));
    m_grid->setColumnStretch(0, 1);
    m_column->addWidget(m_figures);
    m_sentence = textLabel({}, m_style.font(FontRole::Base), m_style.color(Tone::Text), m_page);
    m_column->addWidget(m_sentence);
    auto* buttons = new QHBoxLayout;
    m_go = new QPushButton(m_style.icon(QStringLiteral("peak")), tr("Go to the new peak"), m_page);
    connect(m_go, &QPushButton::clicked, this, &SandboxView::goToNewPeak);
    buttons->addWidget(m_go);
    m_clear = new QPushButton(tr("Untick all"), m_page);
    connect(m_clear, &QPushButton::clicked, this, [this] {
        for (const Row& row : m_rows) {
            const QSignalBlocker once(row.box);
            row.box->setChecked(false);
        }
        predictNow();
    });
    buttons->addWidget(m_clear);
    buttons->addStretch(1);
    m_column->addLayout(buttons);
    m_column->addWidget(textLabel(tr("Lifetimes as recorded, edited as the fixes would: requested bytes of "
                                     "the whole timeline. Reserved memory "
                                     "is not predicted, nor what happens after the recording's end."),
        m_style.font(FontRole::Small), m_style.color(Tone::Text2), m_page));
    m_column->addStretch(1);
    setWidget(m_page);
    showResult();
}

void SandboxView::addFix(const FixPlace& place, const Finding& finding, const Fix& fix)
{
    const Metrics& m = m_style.metrics();
    auto* row = new QHBoxLayout;
    row->setSpacing(m.px(8));
    auto* box = new QCheckBox(m_page);
    const bool predictable = fix.edits != nullptr && fix.blockedBy.empty();
    box->setEnabled(predictable);
    box->setAccessibleName(shownText(fix.text));
    row->addWidget(box, 0, Qt::AlignTop);
    auto* texts = new QVBoxLayout;
    texts->setSpacing(1);
    auto* title = textLabel(shownText(fix.text), m_style.font(FontRole::Base),
        m_style.color(predictable ? Tone::Text : Tone::Dim), m_page);
    title->setToolTip(shownText(finding.title));
    texts->addWidget(title);
    const auto small = [&](const QString& text, Tone tone) {
        if (!text.isEmpty())
            texts->addWidget(textLabel(text, m_style.font(FontRole::Small), m_style.color(tone), m_page));
    };
    small(QString::fromStdString(finding.rule), Tone::Text2);
    if (!fix.blockedBy.empty())
        small(tr("Not here: %1").arg(shownText(fix.blockedBy)), Tone::Warn);
    else if (!fix.edits)
        small(tr("Changes no lifetime: not predicted on the timeline"), Tone::Text2);
    if (!fix.cost.empty())
        small(tr("Cost: %1").arg(shownText(fix.cost)), Tone::Text2);
    row->addLayout(texts, 1);
    row->addWidget(new GradeBox(fix.grade, m_style, m_page), 0, Qt::AlignTop);
    m_column->addLayout(row);
    connect(box, &QCheckBox::toggled, this, &SandboxView::predictNow);
    m_rows.push_back({place, box});
}

void SandboxView::tryFinding(std::size_t finding)
{
    for (const Row& row : m_rows) {
        const QSignalBlocker once(row.box);
        row.box->setChecked(row.place.finding == finding && row.box->isEnabled());
    }
    predictNow();
}

void SandboxView::setTicked(const FixPlace& place, bool on)
{
    for (const Row& row : m_rows)
        if (row.place == place && row.box->isEnabled())
            row.box->setChecked(on);
}

std::vector<FixPlace> SandboxView::ticked() const
{
    std::vector<FixPlace> places;
    for (const Row& row : m_rows)
        if (row.box->isChecked())
            places.push_back(row.place);
    return places;
}

void SandboxView::predictNow()
{
    const std::vector<FixPlace> places = ticked();
    if (places.empty() || !m_diagnosis) {
        m_task.cancel();
        m_session.setPrediction(nullptr);
        showResult();
        return;
    }
    m_task.cancel();
    m_task.request([diagnosis = m_diagnosis, device = m_session.deviceIndex(), places](
                       const Job& job) { return predict(*diagnosis, device, places, job); });
    showResult();
}

void SandboxView::addLine(const QString& name, const QString& recorded, const QString& predicted)
{
    const int row = m_grid->rowCount();
    const QColor soft = m_style.color(Tone::Text2);
    m_grid->addWidget(textLabel(name, m_style.font(FontRole::Base), soft, m_figures), row, 0);
    const auto value = [&](const QString& text, FontRole role, int column) {
        auto* label = textLabel(text, m_style.font(role), m_style.color(Tone::Text), m_figures);
        label->setWordWrap(false);
        label->setAlignment(Qt::AlignRight);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        m_grid->addWidget(label, row, column);
    };
    value(recorded, FontRole::Base, 1);
    value(predicted, FontRole::Strong, 2);
    m_lines << QStringLiteral("%1\t%2\t%3").arg(name, recorded, predicted);
}

void SandboxView::showResult()
{
    while (QLayoutItem* item = m_grid->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    m_lines.clear();
    const auto count = ticked().size();
    const auto prediction = m_session.prediction();
    // Figures of what was ticked before are not those of what is ticked now.
    const bool any = prediction != nullptr && count > 0 && !m_task.busy();
    m_heading->setVisible(!m_rows.empty());
    m_heading->setText(count == 0 ? tr("Nothing ticked")
            : count == 1          ? tr("With 1 fix ticked")
                                  : tr("With %1 fixes ticked together").arg(count));
    m_figures->setVisible(any);
    m_sentence->setVisible(any);
    m_go->setVisible(any);
    m_clear->setVisible(count > 0);
    if (!any)
        return;
    const EditedCurve& curve = prediction->curve;
    addLine({}, tr("recorded"), tr("predicted"));
    addLine(tr("Peak live"), bytesText(curve.oldPeak), bytesText(curve.newPeak));
    addLine(tr("At the old peak"), bytesText(curve.oldPeak), bytesText(curve.leftAtOldPeak()));
    addLine(tr("Saved"), {}, bytesText(curve.saved()));
    const auto replay = m_session.replay();
    const QString where = curve.newPeakState == 0
        ? tr("before the first event")
        : tr("event %1")
              .arg(countText(std::uint64_t{curve.newPeakState - 1U}
                  + (replay ? replay->device().firstEventInFile : 0U)));
    QString sentence
        = curve.peakMoved() ? tr("The peak moved to %1").arg(where) : tr("The new peak is at %1").arg(where);
    if (!prediction->owner.empty())
        sentence += tr(": %1").arg(shownText(prediction->owner));
    m_sentence->setText(sentence + QLatin1Char('.'));
    m_lines << m_sentence->text();
}

void SandboxView::goToNewPeak()
{
    const auto prediction = m_session.prediction();
    if (!prediction)
        return;
    m_view.pushHistory();
    m_view.setCursor(prediction->curve.newPeakState);
}

QString SandboxView::resultText() const
{
    return m_heading->text() + QLatin1Char('\n') + m_lines.join(QLatin1Char('\n'));
}

} // namespace tidemark
