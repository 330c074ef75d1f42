// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/timeline/timeline_accessible.hpp"

#include "widgets/timeline/timeline_view.hpp"

#include <QAccessible>
#include <QAccessibleWidget>

namespace tidemark {

namespace {

class AccessibleTimeline : public QAccessibleWidget {
public:
    explicit AccessibleTimeline(TimelineView& view)
        : QAccessibleWidget(&view, QAccessible::Chart)
        , m_view(view)
    { }

    QString text(QAccessible::Text kind) const override
    {
        if (kind == QAccessible::Value)
            return m_view.spokenValue();
        return QAccessibleWidget::text(kind);
    }

private:
    TimelineView& m_view;
};

QAccessibleInterface* makeInterface(const QString& className, QObject* object)
{
    if (className != QLatin1String("tidemark::TimelineView"))
        return nullptr;
    auto* view = qobject_cast<TimelineView*>(object);
    return view ? new AccessibleTimeline(*view) : nullptr;
}

} // namespace

void installTimelineAccessibility()
{
    QAccessible::installFactory(&makeInterface);
}

void announceTimeline(QWidget& view)
{
    if (!QAccessible::isActive())
        return;
    QAccessibleValueChangeEvent event(&view, static_cast<TimelineView&>(view).spokenValue());
    QAccessible::updateAccessibility(&event);
}

} // namespace tidemark
