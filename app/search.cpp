// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/search.hpp"

#include "app/rules_file.hpp"
#include "widgets/style/text.hpp"

#include <QMetaObject>

#include <algorithm>

namespace tidemark {

namespace {

constexpr int pauseMs = 150;
/// A filter that stands this long is a step of the history; what is typed on the way is not.
constexpr int restMs = 1200;
constexpr qsizetype mostRemembered = 100;

/// Allocations of the findings of one rule on a device.
std::shared_ptr<const std::vector<std::uint8_t>> findingFlags(
    const Diagnosis* diagnosis, std::size_t device, const Replay& replay, std::string_view rule)
{
    std::shared_ptr<std::vector<std::uint8_t>> flags;
    if (!diagnosis)
        return flags;
    for (const Finding& finding : diagnosis->findings) {
        if (finding.deviceIndex != device || finding.rule != rule)
            continue;
        if (!flags)
            flags = std::make_shared<std::vector<std::uint8_t>>(
                replay.timeline.allocations().count(), std::uint8_t{0});
        for (const AllocationId id : finding.allocations)
            (*flags)[index(id)] = 1;
    }
    return flags;
}

} // namespace

Search::Search(Session& session, ViewState& state, QObject* parent)
    : QObject(parent)
    , m_session(session)
    , m_state(state)
{
    m_pause.setSingleShot(true);
    m_pause.setInterval(pauseMs);
    connect(&m_pause, &QTimer::timeout, this, &Search::start);
    m_rest.setSingleShot(true);
    m_rest.setInterval(restMs);
    connect(&m_rest, &QTimer::timeout, this, &Search::remember);
    // ViewState::reset forgets the matches; they belong to another device anyway.
    connect(&session, &Session::deviceChanged, this, [this] {
        ++m_generation;
        m_worker.cancel();
        m_searching = false;
        m_count = 0;
        m_pause.start();
    });
    connect(&session, &Session::siteModeChanged, &m_pause, qOverload<>(&QTimer::start));
    // What is known of labels and findings has changed.
    connect(&session, &Session::diagnosisChanged, this, [this] {
        const auto filter = Filter::parse(m_text.toStdString(), makeRegex);
        if (filter && filter->needsDiagnosis())
            start();
    });
    connect(&state, &ViewState::cursorChanged, this, [this] {
        if (isActive())
            emit changed();
    });
}

void Search::setText(const QString& text)
{
    if (text == m_text)
        return;
    m_text = text;
    if (!m_going)
        m_rest.start();
    if (text.trimmed().isEmpty())
        start();
    else
        m_pause.start();
}

QList<Search::Term> Search::terms() const
{
    const std::string text = m_text.toStdString();
    QList<Term> terms;
    const auto filter = Filter::parse(text, makeRegex);
    if (!filter)
        return terms;
    for (const auto& [from, to] : filter->parts()) {
        const auto before = QString::fromUtf8(text.data(), static_cast<qsizetype>(from));
        terms << Term{static_cast<int>(before.size()),
            QString::fromUtf8(text.data() + from, static_cast<qsizetype>(to - from))};
    }
    return terms;
}

QString Search::without(qsizetype term) const
{
    QStringList kept;
    const QList<Term> all = terms();
    for (qsizetype i = 0; i < all.size(); ++i)
        if (i != term)
            kept << all[i].text;
    return kept.join(QLatin1Char(' '));
}

void Search::remember()
{
    if (m_text.trimmed() == m_history[m_at] || !m_problem.isEmpty())
        return;
    m_history.resize(m_at + 1);
    m_history << m_text.trimmed();
    if (m_history.size() > mostRemembered)
        m_history.removeFirst();
    m_at = m_history.size() - 1;
    emit historyChanged();
}

void Search::undo()
{
    remember(); // what stands there now can be come back to
    go(m_at - 1);
}

void Search::go(qsizetype at)
{
    m_rest.stop();
    at = std::clamp<qsizetype>(at, 0, m_history.size() - 1);
    m_at = at;
    m_going = true;
    emit wanted(m_history[at]);
    m_going = false;
    start();
    emit historyChanged();
}

void Search::start()
{
    m_pause.stop();
    const std::uint64_t generation = ++m_generation;
    m_worker.cancel();
    m_searching = false;
    m_problem.clear();
    m_count = 0;

    auto filter = Filter::parse(m_text.toStdString(), makeRegex);
    const auto replay = m_session.replay();
    const auto sites = m_session.sites();
    if (!filter)
        m_problem = shownText(filter.error().message);
    if (!filter || filter->empty() || !replay || !sites) {
        m_state.setMatches(nullptr);
        emit changed();
        return;
    }
    m_searching = true;
    m_worker.submit(
        [this, generation, replay, sites, filter = std::move(filter).value(), labels = m_session.labels(),
            diagnosis = m_session.diagnosis(), device = m_session.deviceIndex()](std::stop_token stop) {
            Job job;
            job.stop = stop;
            const FilterContext context{*replay, *sites, labels.get(),
                [&](std::string_view rule) { return findingFlags(diagnosis.get(), device, *replay, rule); }};
            const auto flags = filter.match(context, job);
            if (flags)
                QMetaObject::invokeMethod(
                    this, [this, generation, flags] { found(generation, flags); }, Qt::QueuedConnection);
        });
    emit changed();
}

void Search::found(std::uint64_t generation, const std::shared_ptr<const std::vector<std::uint8_t>>& flags)
{
    if (generation != m_generation)
        return;
    m_searching = false;
    m_count = static_cast<std::uint64_t>(std::count(flags->begin(), flags->end(), std::uint8_t{1}));
    m_state.setMatches(flags);
    emit changed();
}

QString Search::summary() const
{
    if (!m_problem.isEmpty())
        return m_problem;
    if (m_searching)
        return tr("searching…");
    const auto replay = m_session.replay();
    if (!isActive() || !replay)
        return tr("No filter");
    if (m_count == 0)
        return tr("no match");
    const StateIndex state = std::min(m_state.cursor(), replay->states() - 1);
    if (m_summed != m_state.matches() || m_summedAt != state) {
        m_summed = m_state.matches();
        m_summedAt = state;
        m_sum = matchedAt(*replay, *m_summed, state);
    }
    const MatchSum& sum = m_sum;
    const std::int64_t live = replay->timeline.requested().at(state);
    return tr("%1 matches, %2 of %3 live").arg(countText(m_count), bytesText(sum.bytes), bytesText(live));
}

} // namespace tidemark
