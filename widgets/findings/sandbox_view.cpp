// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/findings/sandbox_view.hpp"

#include "model/findings/setting_bar.hpp"
#include "widgets/findings/finding_card.hpp"
#include "widgets/findings/finding_texts.hpp"
#include "widgets/style/text.hpp"

#include <QCheckBox>
#include <QClipboard>
#include <QGridLayout>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace tidemark {

namespace {

QLabel* textLabel(const QString& text, const QFont& font, const QColor& ink, QWidget* parent)
{
    auto* label = new QLabel(breakable(text), parent);
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
    , m_settings(new SettingsPanel(style, this))
    , m_task([this](std::shared_ptr<const Prediction>&& prediction) {
        if (prediction && prediction->reserved.simulation)
            m_simulation = prediction->reserved.simulation;
        m_session.setPrediction(std::move(prediction));
        showResult();
        // What was typed stands at the bottom, what comes of it at the top.
        if (std::exchange(m_typed, false))
            QTimer::singleShot(0, this, [this] { verticalScrollBar()->setValue(0); });
    })
    , m_rankTask([this](std::pair<std::shared_ptr<const Simulation>, Ranking>&& answer) {
        m_simulation = answer.first;
        if (answer.second)
            m_settings->setTrials(*answer.second);
        else
            m_settings->setTrialsRefused(shownText(answer.second.error().message));
    })
{
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setAccessibleName(tr("Fix sandbox"));
    setWindowTitle(tr("what if"));
    viewport()->setAutoFillBackground(true);
    viewport()->setBackgroundRole(QPalette::Base);
    connect(&session, &Session::opened, this, &SandboxView::takeFile);
    connect(&session, &Session::deviceChanged, this, &SandboxView::takeFile);
    connect(&session, &Session::diagnosisChanged, this, &SandboxView::rebuild);
    connect(&session, &Session::cardSizeChanged, this, &SandboxView::predictNow);
    connect(&style, &Style::changed, this, &SandboxView::restyle);
    connect(m_settings, &SettingsPanel::changed, this, [this] {
        m_typed = true;
        predictNow();
    });
    connect(m_settings, &SettingsPanel::rankingWanted, this, &SandboxView::rank);
    connect(m_settings, &SettingsPanel::rankingStopped, this, [this] {
        m_rankTask.cancel();
        m_settings->setTrialsRefused({});
    });
    takeFile();
}

/// Another file or device: nothing is tried.
void SandboxView::takeFile()
{
    m_task.cancel();
    m_rankTask.cancel();
    m_simulation = nullptr;
    const auto replay = m_session.replay();
    m_settings->setRanking(false);
    if (replay) {
        const AllocatorSettings recorded = AllocatorSettings::of(*replay->snapshot, replay->device());
        m_settings->setRecorded(
            recorded, QString::fromStdString(settingsVariable(*replay->snapshot, recorded)));
    } else {
        m_settings->setRecorded({}, {});
    }
    rebuild();
}

void SandboxView::restyle()
{
    const std::vector<FixPlace> before = ticked();
    rebuild();
    for (const FixPlace& place : before)
        setTicked(place, true);
    m_settings->restyle();
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
    m_conf = textLabel({}, m_style.font(FontRole::Fixed), m_style.color(Tone::Text), m_page);
    m_conf->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_column->addWidget(m_conf);
    addButtons();
    m_map = new QCheckBox(tr("Predicted segments in the map"), m_page);
    m_map->setToolTip(tr("The segment map draws the segments that are predicted, not the recorded ones"));
    m_map->setChecked(m_view.mapPredicted());
    connect(m_map, &QCheckBox::toggled, &m_view, &ViewState::setMapPredicted);
    connect(&m_view, &ViewState::mapPredictedChanged, m_map,
        [this, box = m_map] { box->setChecked(m_view.mapPredicted()); });
    m_column->addWidget(m_map);
    m_column->addSpacing(m.px(4));
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
    m_column->addSpacing(m.px(4));
    m_column->addWidget(m_settings);
    m_column->addWidget(
        textLabel(tr("Live: lifetimes as recorded, edited as the fixes would, requested bytes of the whole "
                     "timeline. Reserved: what these requests get from PyTorch's allocator under the "
                     "settings. What happens after the recording's end, or after a failed request that "
                     "would be served, is not predicted."),
            m_style.font(FontRole::Small), m_style.color(Tone::Text2), m_page));
    m_column->addStretch(1);
    setWidget(m_page);
    predictNow();
}

void SandboxView::addButtons()
{
    auto* buttons = new QHBoxLayout;
    m_go = new QPushButton(m_style.icon(QStringLiteral("peak")), tr("Go to the new peak"), m_page);
    connect(m_go, &QPushButton::clicked, this, &SandboxView::goToNewPeak);
    buttons->addWidget(m_go);
    m_copy = new QPushButton(m_style.icon(QStringLiteral("copy")), tr("Copy settings"), m_page);
    m_copy->setToolTip(tr("The line for the environment of the next run"));
    connect(m_copy, &QPushButton::clicked, this, &SandboxView::copySettings);
    buttons->addWidget(m_copy);
    m_clear = new QPushButton(tr("Untick all"), m_page);
    connect(m_clear, &QPushButton::clicked, this, [this] {
        for (const Row& row : m_rows) {
            const QSignalBlocker once(row.box);
            row.box->setChecked(false);
        }
        predictNow();
    });
    buttons->addStretch(1);
    m_column->addLayout(buttons);
    auto* second = new QHBoxLayout; // a narrow dock holds no three of them
    second->addWidget(m_clear);
    second->addStretch(1);
    m_column->addLayout(second);
}

void SandboxView::addFix(const FixPlace& place, const Finding& finding, const Fix& fix)
{
    const Metrics& m = m_style.metrics();
    auto* row = new QHBoxLayout;
    row->setSpacing(m.px(8));
    auto* box = new QCheckBox(m_page);
    const bool predictable = fix.predictable();
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
    else if (!predictable)
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

PredictionWish SandboxView::wish() const
{
    PredictionWish out;
    out.fixes = ticked();
    out.conf = m_settings->conf();
    out.deviceTotal = m_session.cardSize() ? m_session.cardSize() : m_session.statedCardSize();
    out.simulation = m_simulation;
    return out;
}

void SandboxView::predictNow()
{
    const PredictionWish wanted = wish();
    m_task.cancel();
    if ((wanted.fixes.empty() && !wanted.conf) || !m_diagnosis) {
        m_typed = false;
        m_session.setPrediction(nullptr);
    } else
        m_task.request([diagnosis = m_diagnosis, device = m_session.deviceIndex(), wanted](
                           const Job& job) { return predict(*diagnosis, device, wanted, job); });
    showResult();
}

void SandboxView::rank()
{
    const auto replay = m_session.replay();
    if (!replay)
        return;
    m_settings->setRanking(true);
    m_rankTask.cancel();
    m_rankTask.request([replay, known = m_simulation, wanted = wish(),
                           config = m_diagnosis ? m_diagnosis->config : RunConfig()](
                           const Job& job) -> std::pair<std::shared_ptr<const Simulation>, Ranking> {
        std::shared_ptr<const Simulation> simulation = known;
        if (!simulation) {
            auto built = Simulation::build(replay, job);
            if (!built)
                return {nullptr, built.error()};
            simulation = *built;
        }
        WhatIfWish tried;
        tried.deviceTotal = wanted.deviceTotal;
        return {simulation,
            rankSettings(
                *simulation, tried,
                [&](const AllocatorSettings& settings) { return settingBarred(config, settings); }, job)};
    });
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
    const bool settings = m_settings->conf().has_value();
    const auto prediction = m_session.prediction();
    // Figures of what was tried before are not those of what is tried now.
    const bool any = prediction != nullptr && (count > 0 || settings) && !m_task.busy();
    QString heading = count == 0 ? tr("Nothing ticked")
        : count == 1             ? tr("With 1 fix ticked")
                                 : tr("With %1 fixes ticked together").arg(count);
    if (settings)
        heading = count == 0 ? tr("With these settings") : tr("%1 and these settings").arg(heading);
    m_heading->setText(m_task.busy() ? tr("%1: working…").arg(heading) : heading);
    m_figures->setVisible(any);
    m_sentence->setVisible(any);
    m_sentence->clear();
    m_go->setVisible(any && prediction->edited());
    const QString conf = any ? settingsLine() : QString();
    m_copy->setVisible(!conf.isEmpty());
    m_conf->setVisible(!conf.isEmpty());
    m_conf->setText(breakable(conf));
    m_map->setVisible(any && prediction->reserved.whatIf);
    m_clear->setVisible(count > 0);
    if (!any)
        return;
    addLine({}, tr("recorded"), tr("predicted"));
    if (prediction->edited())
        showLive(*prediction);
    showReserved(prediction->reserved);
}

void SandboxView::addSentence(const QString& text)
{
    const QString before = m_sentence->text();
    m_sentence->setText(before.isEmpty() ? breakable(text) : before + QLatin1Char('\n') + breakable(text));
    m_lines << text;
}

void SandboxView::showLive(const Prediction& prediction)
{
    const EditedCurve& curve = prediction.curve;
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
    if (!prediction.owner.empty())
        sentence += tr(": %1").arg(shownText(prediction.owner));
    addSentence(sentence + QLatin1Char('.'));
}

void SandboxView::showReserved(const ReservedPrediction& reserved)
{
    const RecordedFigures& recorded = reserved.recorded;
    if (!reserved.whatIf) {
        addSentence(tr("Reserved memory is not predicted. %1").arg(shownText(reserved.refusal)));
        return;
    }
    const WhatIf& predicted = *reserved.whatIf;
    const auto bytes = [](std::uint64_t value) { return bytesText(static_cast<std::int64_t>(value)); };
    const auto& oom = predicted.outOfMemory;
    if (recorded.failures > 0)
        addLine(tr("Failed request"), tr("fails"),
            predicted.servedFailure     ? tr("fits")
                : oom && !oom->recorded ? tr("not reached")
                                        : tr("fails"));
    if (recorded.failures == 0 || (oom && !oom->recorded))
        addLine(tr("Runs out of memory"), tr("no"), predicted.fits() ? tr("no") : tr("yes"));
    addLine(tr("Peak reserved"), bytes(recorded.peakReserved), bytes(predicted.peakReserved));
    addLine(tr("Idle at that peak"), bytes(recorded.idleAtPeak), bytes(predicted.idleAtPeak));
    addLine(
        tr("Returned at the next shortage"), bytes(recorded.endReleasable), bytes(predicted.endReleasable));
    addLine(
        tr("Flushes of the cache"), countText(recorded.counts.flushes), countText(predicted.counts.flushes));
    addLine(tr("Driver asked for memory"), countText(recorded.counts.segmentAllocs + recorded.counts.maps),
        countText(predicted.counts.segmentAllocs + predicted.counts.maps));
    if (!reserved.barred.empty())
        addSentence(tr("Not here: %1.").arg(shownText(reserved.barred)));
    if (!reserved.withoutEffect.empty())
        addSentence(tr("%1.").arg(shownText(reserved.withoutEffect)));
    if (const std::string version = settingNeeds(
            m_diagnosis->config, reserved.wish.settings, reserved.simulation->recording().settings);
        !version.empty())
        addSentence(tr("These settings need %1.").arg(shownText(version)));
    if (oom && !oom->recorded)
        addSentence(oom->event ? tr("A request of %1 at event %2 finds no memory, although it was served in "
                                    "the recording; what comes later is not known.")
                                     .arg(bytes(oom->bytes),
                                         countText(std::uint64_t{index(*oom->event)}
                                             + m_session.replay()->device().firstEventInFile))
                               : tr("What lived before the first event finds no room already."));
    if (predicted.servedFailure)
        addSentence(tr("The request that failed is served; how the run would have gone on is not known."));
    const Fidelity& fidelity = reserved.simulation->fidelity();
    addSentence(tr("Replayed as it was, the recording comes out with %1 of %2 addresses: %3.")
                    .arg(countText(fidelity.addresses.matched), countText(fidelity.addresses.total),
                        shownText(predictionWorth(*reserved.simulation, reserved.wish.change != nullptr))));
}

QString SandboxView::settingsLine() const
{
    const auto prediction = m_session.prediction();
    return prediction && !m_task.busy() ? QString::fromStdString(prediction->reserved.line()) : QString();
}

void SandboxView::copySettings()
{
    if (const QString line = settingsLine(); !line.isEmpty())
        QGuiApplication::clipboard()->setText(line);
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
