// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/filter_completer.hpp"

#include "model/lens/filter.hpp"
#include "widgets/style/text.hpp"

#include <QAbstractItemView>
#include <QLineEdit>
#include <QStringListModel>

#include <algorithm>
#include <set>

namespace tidemark {

namespace {

constexpr int mostOffered = 40;
/// Of fewer allocations the sites are put in order within a part of a frame.
constexpr std::size_t atOnce = 100'000;
const QLatin1String siteField("site:");

/// Values of a field as they would be typed, in their order; those that hold the text typed so far.
class Values {
public:
    Values(QString field, QString typed)
        : m_field(std::move(field))
        , m_typed(std::move(typed))
    { }
    void add(const QString& value)
    {
        if (value.isEmpty() || m_out.size() >= mostOffered)
            return;
        const QString whole = value.contains(QLatin1Char(' '))
            ? QString::fromStdString(filterTerm(m_field.toStdString(), value.toStdString()))
            : m_field + value;
        if (value.contains(m_typed, Qt::CaseInsensitive) && !m_out.contains(whole))
            m_out << whole;
    }
    QStringList take() { return std::move(m_out); }

private:
    QString m_field;
    QString m_typed;
    QStringList m_out;
};

void addPools(const Replay& replay, Values& values)
{
    for (const auto& [first, second] : replay.snapshot->pools)
        values.add(QStringLiteral("(%1,%2)").arg(first).arg(second));
}

} // namespace

std::vector<SiteId> sitesByLargest(const Replay& replay, const Sites& sites)
{
    const AllocationColumns& all = replay.timeline.allocations();
    std::vector<std::uint64_t> largest(sites.count(), 0);
    for (std::size_t i = 0; i < all.count(); ++i)
        if (const SiteId site = sites.of(all.stack[i]); valid(site))
            largest[index(site)] = std::max(largest[index(site)], all.size[i]);
    std::vector<SiteId> order;
    order.reserve(largest.size());
    for (std::uint32_t i = 0; i < largest.size(); ++i)
        order.push_back(SiteId{i});
    std::stable_sort(order.begin(), order.end(),
        [&](SiteId a, SiteId b) { return largest[index(a)] > largest[index(b)]; });
    return order;
}

std::pair<int, int> filterWord(const QString& text, int cursor)
{
    const auto ends = [&](int at) {
        const QChar c = text.at(at);
        // A pool's parentheses belong to the word.
        return c.isSpace() || (c == QLatin1Char('(') && (at == 0 || text.at(at - 1) != QLatin1Char(':')));
    };
    int first = cursor;
    while (first > 0 && !ends(first - 1))
        --first;
    if (first < cursor && text.at(first) == QLatin1Char('-'))
        ++first;
    int last = cursor;
    while (last < text.size() && !text.at(last).isSpace() && text.at(last) != QLatin1Char(')'))
        ++last;
    return {first, last};
}

QStringList filterCompletions(const Session& session, const QString& word, const std::vector<SiteId>& sites)
{
    const auto replay = session.replay();
    const qsizetype colon = word.indexOf(QLatin1Char(':'));
    if (word.isEmpty() || !replay)
        return {};
    if (colon < 0) {
        QStringList out;
        for (const FilterField& field : filterFields())
            if (QString::fromLatin1(field.name).startsWith(word, Qt::CaseInsensitive)
                && word.compare(QLatin1String(field.name), Qt::CaseInsensitive) != 0)
                out << QString::fromLatin1(field.name);
        return out;
    }
    const QString field = word.left(colon + 1).toLower();
    Values values(field, word.mid(colon + 1));
    if (field == siteField) {
        for (const SiteId site : sites)
            values.add(shownText(session.sites()->name(site)));
    } else if (field == QLatin1String("role:") && session.labels()) {
        for (std::size_t i = 1; i < roles; ++i) // whole names have spaces: their first word is enough
            values.add(QString::fromLatin1(roleName(static_cast<Role>(i))).section(QLatin1Char(' '), 0, 0));
    } else if (field == QLatin1String("label:") && session.labels()) {
        const auto labels = session.labels();
        std::set<std::uint16_t> used(labels->moduleOf.begin(), labels->moduleOf.end());
        for (const std::uint16_t module : used)
            if (module < labels->modules.size())
                values.add(shownText(labels->modules[module]));
    } else if (field == QLatin1String("stream:")) {
        for (const auto& [stream, bytes] : replay->requestedByStream)
            values.add(QString::number(replay->snapshot->streams[index(stream)]));
    } else if (field == QLatin1String("pool:")) {
        addPools(*replay, values);
    } else if (field == QLatin1String("state:")) {
        for (const char* state : {"live", "freed", "before"})
            values.add(QString::fromLatin1(state));
    } else if (field == QLatin1String("finding:") && session.diagnosis()) {
        for (const Finding& finding : session.diagnosis()->findings)
            values.add(QString::fromStdString(finding.rule));
    }
    QStringList out = values.take();
    if (out.size() == 1 && out.front() == word)
        out.clear();
    return out;
}

FilterCompleter::FilterCompleter(QLineEdit& field, const Session& session)
    : QObject(&field)
    , m_field(field)
    , m_session(session)
    , m_model(new QStringListModel(this))
    , m_task([this](Order&& order) {
        m_order = std::move(order);
        if (m_field.hasFocus())
            offer();
    })
{
    m_completer.setModel(m_model);
    m_completer.setWidget(&field);
    m_completer.setCompletionMode(QCompleter::UnfilteredPopupCompletion);
    m_completer.setMaxVisibleItems(12);
    connect(&m_completer, qOverload<const QString&>(&QCompleter::activated), this, &FilterCompleter::take);
    connect(&field, &QLineEdit::textEdited, this, &FilterCompleter::offer);
}

QStringList FilterCompleter::offered() const
{
    return m_completer.popup()->isVisible() ? m_model->stringList() : QStringList();
}

bool FilterCompleter::takesKeys(int key) const
{
    const QAbstractItemView* const list = m_completer.popup();
    return list->isVisible() && (key == Qt::Key_Escape || list->currentIndex().isValid());
}

/// False: they are being put in order, and offered then.
bool FilterCompleter::knowsSites(const QString& word)
{
    const auto replay = m_session.replay();
    const auto sites = m_session.sites();
    if (!word.startsWith(siteField, Qt::CaseInsensitive) || !replay || !sites
        || (replay == m_order.replay.lock() && sites == m_order.sites.lock()))
        return true;
    const auto work = [replay, sites](const Job&) {
        return Order{replay, sites, sitesByLargest(*replay, *sites)};
    };
    if (replay->timeline.allocations().count() >= atOnce) {
        m_task.request(work);
        return false;
    }
    m_order = work({});
    return true;
}

void FilterCompleter::offer()
{
    const auto [first, last] = filterWord(m_field.text(), m_field.cursorPosition());
    const QString word = m_field.text().mid(first, m_field.cursorPosition() - first);
    QStringList list;
    if (knowsSites(word))
        list = filterCompletions(m_session, word, m_order.order);
    m_model->setStringList(list);
    if (list.isEmpty())
        m_completer.popup()->hide();
    else
        m_completer.complete();
}

void FilterCompleter::take(const QString& completion)
{
    const auto [first, last] = filterWord(m_field.text(), m_field.cursorPosition());
    QString text = m_field.text();
    const bool open = completion.endsWith(QLatin1Char(':')) || completion.endsWith(QLatin1Char('>'))
        || completion.endsWith(QLatin1Char('<'));
    const QString put = open || last < text.size() ? completion : completion + QLatin1Char(' ');
    text.replace(first, last - first, put);
    m_field.setText(text);
    m_field.setCursorPosition(static_cast<int>(first + put.size()));
    if (open)
        offer();
}

} // namespace tidemark
