// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/findings/findings_view.hpp"

#include "model/core/quality.hpp"
#include "widgets/common/merged_notes.hpp"
#include "widgets/findings/finding_card.hpp"
#include "widgets/findings/finding_texts.hpp"
#include "widgets/style/text.hpp"

#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>

namespace tidemark {

namespace {

struct CheckLook {
    const char* icon;
    Tone tone;
};

CheckLook lookOf(CheckLevel level)
{
    switch (level) {
    case CheckLevel::Error:
        return {"sev-critical", Tone::Crit};
    case CheckLevel::Warning:
        return {"sev-warning", Tone::WarnFill};
    case CheckLevel::Advice:
        return {"sev-info", Tone::Info};
    case CheckLevel::Unknown:
        break;
    }
    return {"sev-unknown", Tone::Unknown};
}

} // namespace

FindingsView::FindingsView(Session& session, ViewState& view, Style& style, QWidget* parent)
    : QScrollArea(parent)
    , m_session(session)
    , m_view(view)
    , m_style(style)
{
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Findings"));
    viewport()->setAutoFillBackground(true);
    viewport()->setBackgroundRole(QPalette::Base);
    connect(&session, &Session::opened, this, &FindingsView::rebuild);
    // Queued: a card's own button may be what asked for the device.
    connect(&session, &Session::deviceChanged, this, &FindingsView::rebuild, Qt::QueuedConnection);
    connect(&session, &Session::diagnosisChanged, this, &FindingsView::replace);
    connect(&view, &ViewState::findingChanged, this, &FindingsView::followSelection);
    connect(&view, &ViewState::shownFindingChanged, this, &FindingsView::followSelection);
    connect(&style, &Style::changed, this, &FindingsView::rebuild);
    rebuild();
}

void FindingsView::setBusy(bool busy)
{
    if (busy == m_busy)
        return;
    m_busy = busy;
    if (!m_session.diagnosis())
        rebuild();
    updateTitle();
}

void FindingsView::replace()
{
    const auto selected = m_view.finding();
    const bool shown = isShown();
    std::optional<std::size_t> again;
    if (selected && m_diagnosis && *selected < m_diagnosis->findings.size() && m_session.diagnosis()) {
        const Finding& before = m_diagnosis->findings[*selected];
        const std::vector<Finding>& now = m_session.diagnosis()->findings;
        const auto same = std::find_if(now.begin(), now.end(), [&](const Finding& each) {
            return each.rule == before.rule && each.deviceIndex == before.deviceIndex
                && each.allocations == before.allocations && each.title == before.title;
        });
        if (same != now.end())
            again = static_cast<std::size_t>(same - now.begin());
    }
    m_view.setFinding(again);
    rebuild();
    setShown(shown && again);
}

void FindingsView::rebuild()
{
    m_cards.clear();
    m_foot.clear();
    m_diagnosis = m_session.diagnosis();
    m_page = new QWidget;
    m_column = new QVBoxLayout(m_page);
    m_column->setContentsMargins(0, 0, 0, 0);
    m_column->setSpacing(0);
    if (m_diagnosis) {
        addCards(*m_diagnosis);
        addChecks(*m_diagnosis);
        addUndecided(*m_diagnosis);
        addClear(*m_diagnosis);
        addQuality(*m_diagnosis);
    } else if (m_session.rank()) {
        addRow(QStringLiteral("findings"), Tone::Text2,
            m_busy ? tr("Looking for causes…") : tr("Not looked for yet"), {});
    }
    m_column->addStretch(1);
    m_page->setMaximumWidth(viewport()->width());
    setWidget(m_page); // deletes the former page
    followSelection();
    updateTitle();
}

void FindingsView::updateTitle()
{
    QString title;
    if (m_diagnosis) {
        const auto rules = m_diagnosis->clear.size() + [this] {
            std::vector<std::string> ids;
            for (const Finding& each : m_diagnosis->findings)
                ids.push_back(each.rule);
            std::sort(ids.begin(), ids.end());
            return static_cast<std::size_t>(std::unique(ids.begin(), ids.end()) - ids.begin());
        }();
        title = tr("%1, from %2 rules")
                    .arg(countText(std::uint64_t{m_cards.size()}), countText(std::uint64_t{rules}));
    } else if (m_busy) {
        title = tr("looking…");
    }
    setWindowTitle(title);
}

QWidget* FindingsView::addRow(const QString& icon, Tone tone, const QString& title, const QString& text)
{
    const Metrics& m = m_style.metrics();
    auto* row = new QFrame(m_page);
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(m.px(10), m.px(7), m.px(10), m.px(7));
    layout->setSpacing(m.px(9));
    auto* picture = new QLabel(row);
    picture->setPixmap(m_style.pixmap(icon, tone, m.icon, devicePixelRatioF()));
    layout->addWidget(picture, 0, Qt::AlignTop);
    auto* column = new QVBoxLayout;
    column->setSpacing(m.px(2));
    const auto add = [&](const QString& line, FontRole role, Tone ink) {
        auto* label = new QLabel(line, row);
        label->setTextFormat(Qt::PlainText);
        label->setWordWrap(true);
        label->setFont(m_style.font(role));
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        QPalette palette = label->palette();
        palette.setColor(QPalette::WindowText, m_style.color(ink));
        label->setPalette(palette);
        column->addWidget(label);
        m_foot << line;
    };
    add(title, FontRole::Base, Tone::Text);
    if (!text.isEmpty())
        add(text, FontRole::Small, Tone::Text2);
    layout->addLayout(column, 1);
    m_column->addWidget(row);
    return row;
}

void FindingsView::addButtons(const std::vector<std::pair<QString, void (FindingsView::*)()>>& buttons)
{
    const Metrics& m = m_style.metrics();
    auto* holder = new QWidget(m_page);
    auto* row = new QHBoxLayout(holder);
    row->setContentsMargins(m.px(10 + 16 + 9), 0, m.px(10), m.px(7));
    row->setSpacing(m.px(6));
    for (const auto& [text, signal] : buttons) {
        auto* button = new QPushButton(text, holder);
        connect(button, &QPushButton::clicked, this, signal);
        row->addWidget(button);
    }
    row->addStretch(1);
    m_column->addWidget(holder);
}

void FindingsView::addCards(const Diagnosis& diagnosis)
{
    for (std::size_t i = 0; i < diagnosis.findings.size(); ++i) {
        auto* card = new FindingCard(diagnosis.findings[i], diagnosis, m_style, m_page);
        connect(card, &FindingCard::chosen, this, [this, i] {
            setFocus(Qt::MouseFocusReason);
            choose(m_view.finding() == i ? m_cards.size() : i);
        });
        connect(card, &FindingCard::goRequested, this, [this, i] {
            choose(i);
            goThere();
        });
        connect(card, &FindingCard::showToggled, this, [this, i](bool on) {
            choose(i);
            setShown(on);
        });
        connect(card, &FindingCard::sandboxRequested, this, [this, i] { emit sandboxRequested(i); });
        m_cards.push_back(card);
        m_column->addWidget(card);
    }
    if (diagnosis.findings.empty())
        addRow(QStringLiteral("sev-ok"), Tone::Ok,
            diagnosis.undecided.empty() ? tr("Nothing found by %1 rules").arg(diagnosis.clear.size())
                                        : tr("Nothing found by %1 rules; %2 could not decide")
                                              .arg(diagnosis.clear.size())
                                              .arg(diagnosis.undecided.size()),
            {});
}

void FindingsView::addChecks(const Diagnosis& diagnosis)
{
    std::vector<std::string> unknown;
    QStringList why;
    for (const ConfigCheck& check : diagnosis.checks) {
        if (check.level == CheckLevel::Unknown) {
            unknown.push_back(check.id);
            why << QString::fromStdString(check.id) + QStringLiteral(": ") + shownText(check.text);
            continue;
        }
        const CheckLook look = lookOf(check.level);
        QStringList keys;
        for (const auto& [key, value] : check.keys)
            keys << shownText(key) + QStringLiteral(" = ") + shownText(value);
        QWidget* row = addRow(QLatin1String(look.icon), look.tone, shownText(check.text),
            QStringLiteral("%1 · %2").arg(QString::fromStdString(check.id), keys.join(QStringLiteral(", "))));
        row->setToolTip(shownText(check.source));
    }
    if (unknown.empty())
        return;
    const bool none = diagnosis.config.files().empty();
    addRow(QStringLiteral("sev-unknown"), Tone::Unknown,
        none                      ? tr("%1 settings checks need the run's settings").arg(unknown.size())
            : unknown.size() == 1 ? tr("1 settings check could not decide")
                                  : tr("%1 settings checks could not decide").arg(unknown.size()),
        none                      ? tr("run_config.yaml, an argument dump or the output of env")
            : unknown.size() <= 4 ? why.join(QLatin1Char('\n'))
                                  : QString::fromStdString(unknown.front() + " … " + unknown.back()))
        ->setToolTip(none ? QString() : why.join(QLatin1Char('\n')));
    // What a check still lacks when settings are there may be another rank's file or a newer dump of them.
    addButtons({{none ? tr("Load run settings…") : tr("Load other run settings…"),
        &FindingsView::runSettingsRequested}});
}

void FindingsView::addUndecided(const Diagnosis& diagnosis)
{
    if (diagnosis.undecided.empty())
        return;
    const auto count = diagnosis.undecided.size();
    addRow(QStringLiteral("sev-unknown"), Tone::Unknown,
        count == 1 ? tr("1 rule could not decide") : tr("%1 rules could not decide").arg(count),
        undecidedText(diagnosis.undecided));
    if (!m_session.cardSize() && !m_session.statedCardSize())
        addButtons({{tr("Set card size…"), &FindingsView::cardSizeRequested}});
}

void FindingsView::addClear(const Diagnosis& diagnosis)
{
    if (diagnosis.clear.empty() || diagnosis.findings.empty())
        return;
    QStringList ids;
    for (const std::string& id : diagnosis.clear)
        ids << QString::fromStdString(id);
    addRow(QStringLiteral("sev-ok"), Tone::Ok,
        ids.size() == 1 ? tr("1 rule ran and found nothing")
                        : tr("%1 rules ran and found nothing").arg(ids.size()),
        m_clearOpen ? ids.join(QStringLiteral(", ")) : QString());
    addButtons({{m_clearOpen ? tr("Hide them") : tr("Show them"), &FindingsView::toggleClear}});
}

void FindingsView::toggleClear()
{
    m_clearOpen = !m_clearOpen;
    const int at = verticalScrollBar()->value();
    // Not from inside the click of a button that goes away.
    QTimer::singleShot(0, this, [this, at] {
        rebuild();
        verticalScrollBar()->setValue(at);
    });
}

void FindingsView::addQuality(const Diagnosis& diagnosis)
{
    for (const QualityNote& note : mergedNotes(diagnosis.rank->quality(m_session.deviceIndex())))
        addRow(QStringLiteral("sev-warning"), Tone::WarnFill, shownText(note.sentence),
            QLatin1String(qualityName(note.id)));
}

QString FindingsView::footText() const
{
    return m_foot.join(QLatin1Char('\n'));
}

void FindingsView::followSelection()
{
    const auto selected = m_view.finding();
    for (std::size_t i = 0; i < m_cards.size(); ++i) {
        m_cards[i]->setOpen(selected == i);
        m_cards[i]->setShown(selected == i && isShown());
    }
    if (selected && *selected < m_cards.size())
        QTimer::singleShot(0, m_cards[*selected], [this, card = m_cards[*selected]] {
            // As much of the open card as fits, its sentence above all.
            const int top = card->mapTo(widget(), QPoint(0, 0)).y();
            const int above = verticalScrollBar()->value();
            const int below = top + card->height() - viewport()->height();
            if (top < above || below > above)
                verticalScrollBar()->setValue(std::min(top, std::max(below, 0)));
        });
}

void FindingsView::choose(std::size_t index)
{
    const bool shown = isShown();
    if (index >= m_cards.size()) {
        m_view.setShownFinding(nullptr);
        m_view.setFinding(std::nullopt);
        return;
    }
    m_view.setFinding(index);
    if (shown)
        setShown(true);
}

void FindingsView::setShown(bool shown)
{
    const auto selected = m_view.finding();
    if (!shown || !selected || !m_diagnosis || *selected >= m_diagnosis->findings.size()) {
        m_view.setShownFinding(nullptr);
        followSelection();
        return;
    }
    const std::size_t index = *selected;
    const Finding& finding = m_diagnosis->findings[index];
    if (finding.deviceIndex != m_session.deviceIndex()) {
        emit m_view.deviceRequested(finding.deviceIndex);
        m_view.setFinding(index);
    }
    m_view.setShownFinding(m_session.flagsOf(finding));
    followSelection();
}

void FindingsView::toggleShown()
{
    if (!m_view.finding() && !m_cards.empty())
        m_view.setFinding(0);
    setShown(!isShown());
}

void FindingsView::step(int direction)
{
    if (m_cards.empty())
        return;
    const auto count = static_cast<std::ptrdiff_t>(m_cards.size());
    const auto now
        = m_view.finding() ? static_cast<std::ptrdiff_t>(*m_view.finding()) : (direction > 0 ? -1 : count);
    m_view.setFinding(static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(now + direction, 0, count - 1)));
    setShown(true);
}

void FindingsView::goThere()
{
    const auto selected = m_view.finding();
    if (!selected || !m_diagnosis || *selected >= m_diagnosis->findings.size())
        return;
    const std::size_t index = *selected;
    const Finding& finding = m_diagnosis->findings[index];
    if (finding.deviceIndex != m_session.deviceIndex()) {
        emit m_view.deviceRequested(finding.deviceIndex);
        m_view.setFinding(index);
    }
    m_view.pushHistory();
    if (finding.eventRange)
        m_view.setRange(std::pair{stateOf(static_cast<Moment>(tidemark::index(finding.eventRange->first))),
            stateOf(static_cast<Moment>(tidemark::index(finding.eventRange->second)))});
    m_view.setCursor(finding.lookAt);
    setShown(true);
}

void FindingsView::resizeEvent(QResizeEvent* event)
{
    QScrollArea::resizeEvent(event);
    m_page->setMaximumWidth(viewport()->width()); // what is too wide wraps; nothing scrolls sideways
}

void FindingsView::keyPressEvent(QKeyEvent* event)
{
    switch (event->key()) {
    case Qt::Key_Down:
        return step(1);
    case Qt::Key_Up:
        return step(-1);
    case Qt::Key_Return:
    case Qt::Key_Enter:
        return goThere();
    default:
        QScrollArea::keyPressEvent(event);
    }
}

} // namespace tidemark
