// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/app/watch.hpp"

#include <QEvent>
#include <QMetaEnum>

#include <utility>

namespace tidemark::bench {

namespace {

constexpr double longGapMs = 50;

/// "QWidgetWindow PolishRequest in timeline".
std::string describe(const char* type, const QString& object, QEvent::Type event, const std::string* view)
{
    std::string text = std::string(type) + " ";
    if (!object.isEmpty())
        text += object.toStdString() + " ";
    const char* const key = QMetaEnum::fromType<QEvent::Type>().valueToKey(event);
    text += key ? key : std::to_string(event);
    return view ? text + " in " + *view : text;
}

} // namespace

Watch::Gap Watch::takeGap()
{
    return std::exchange(m_gap, {});
}

std::map<std::string, Stamp> Watch::takeViews()
{
    return std::exchange(m_spent, {});
}

const std::string* Watch::viewOf(const QObject* receiver) const
{
    for (const QObject* at = receiver; at != nullptr; at = at->parent())
        if (const auto found = m_views.find(at); found != m_views.end())
            return &found->second;
    return nullptr;
}

bool Watch::notify(QObject* receiver, QEvent* event)
{
    // The receiver may not outlive its event.
    const std::string* const view = viewOf(receiver);
    const char* const type = receiver->metaObject()->className();
    const QString name = m_open.empty() ? receiver->objectName() : QString();
    const QEvent::Type kind = event->type();
    if (kind == QEvent::MetaCall || kind == QEvent::Timer || kind == QEvent::UpdateRequest
        || kind == QEvent::Paint || kind == QEvent::LayoutRequest)
        ++m_delivered;
    m_open.push_back({Stamp::now(), {}});
    const bool result = QApplication::notify(receiver, event);
    const Open done = m_open.back();
    m_open.pop_back();
    const Stamp took = Stamp::now() - done.start;
    Stamp& spent = m_spent[view ? *view : "(" + std::string(type) + ")"];
    const Stamp own = took - done.inner;
    spent.wall += own.wall;
    spent.cpu += own.cpu;
    if (!m_open.empty()) {
        m_open.back().inner.wall += took.wall;
        m_open.back().inner.cpu += took.cpu;
        return result;
    }
    m_gap.over50 += took.cpu > longGapMs;
    if (took.cpu > m_gap.took.cpu) {
        m_gap.took = took;
        m_gap.what = describe(type, name, kind, view);
    }
    return result;
}

} // namespace tidemark::bench
