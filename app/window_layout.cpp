// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window_layout.hpp"

#include "app/dock_title.hpp"

#include <QScreen>
#include <QTabBar>
#include <QTimer>

#include <algorithm>
#include <utility>

namespace tidemark {

namespace {

/// Raised when docks come or go, so that arrangements of other versions are not restored.
constexpr int layoutVersion = 2;
constexpr double bottomShare = 0.42;
constexpr double mapShare = 0.485;
constexpr double findingsShare = 0.55;

} // namespace

WindowLayout::WindowLayout(QMainWindow& window, Settings& settings, const Style& style)
    : QObject(&window)
    , m_window(window)
    , m_settings(settings)
    , m_style(style)
{
    window.setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
    window.setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    window.setDockOptions(QMainWindow::AllowNestedDocks | QMainWindow::AllowTabbedDocks);
    connect(&style, &Style::changed, this, &WindowLayout::dressTabs);
}

QDockWidget* WindowLayout::addDock(
    QWidget* view, const QString& name, const QString& title, const QString& icon, QWidget* extra)
{
    auto* dock = new QDockWidget(title, &m_window);
    dock->setObjectName(name);
    dock->setWidget(view);
    auto* bar = new DockTitle(*dock, *view, icon, m_style, extra);
    dock->setTitleBarWidget(bar);
    m_icons.insert(dock, icon);
    m_titles.insert(dock, bar);
    connect(dock, &QDockWidget::dockLocationChanged, this,
        [this] { QTimer::singleShot(0, this, &WindowLayout::dressTabs); });
    connect(dock, &QDockWidget::visibilityChanged, this,
        [this] { QTimer::singleShot(0, this, &WindowLayout::dressTabs); });
    connect(dock, &QDockWidget::topLevelChanged, this,
        [this] { QTimer::singleShot(0, this, &WindowLayout::dressTabs); });
    dock->hide();
    return dock;
}

void WindowLayout::setPlaces(
    const QList<QDockWidget*>& bottom, const QList<QDockWidget*>& right, const QList<QDockWidget*>& behind)
{
    m_bottom = bottom;
    m_right = right;
    m_behind = behind;
    for (QDockWidget* dock : bottom)
        m_window.addDockWidget(Qt::BottomDockWidgetArea, dock);
    for (QDockWidget* dock : right + behind)
        m_window.addDockWidget(Qt::RightDockWidgetArea, dock);
    for (QDockWidget* dock : bottom + right + behind)
        dock->hide();
}

QString WindowLayout::name() const
{
    const QSize screen = m_window.screen() ? m_window.screen()->size() : QSize();
    return QStringLiteral("%1x%2/%3")
        .arg(screen.width())
        .arg(screen.height())
        .arg(m_narrow ? QStringLiteral("narrow") : QStringLiteral("wide"));
}

void WindowLayout::save()
{
    if (!m_putAway.isEmpty()) { // as it is with them
        setBottomShown(true);
        save();
        setBottomShown(false);
        return;
    }
    if (m_shown && m_placed)
        m_settings.setLayout(name() + QStringLiteral("/state"), m_window.saveState(layoutVersion));
    const QSize screen = m_window.screen() ? m_window.screen()->size() : QSize();
    m_settings.setLayout(
        QStringLiteral("%1x%2/geometry").arg(screen.width()).arg(screen.height()), m_window.saveGeometry());
}

void WindowLayout::restoreGeometry()
{
    const QSize screen = m_window.screen() ? m_window.screen()->size() : QSize();
    m_window.restoreGeometry(
        m_settings.layout(QStringLiteral("%1x%2/geometry").arg(screen.width()).arg(screen.height())));
}

void WindowLayout::reset()
{
    m_settings.forgetLayouts();
    const bool away = !m_putAway.isEmpty();
    m_putAway.clear();
    if (m_shown)
        arrange();
    if (away)
        setBottomShown(false);
}

void WindowLayout::setDocksShown(bool shown)
{
    if (shown == m_shown)
        return;
    if (!shown)
        save();
    m_shown = shown;
    if (shown) {
        restoreOrDefault();
        return;
    }
    m_putAway.clear();
    for (QDockWidget* dock : m_bottom + m_right + m_behind)
        dock->hide();
}

void WindowLayout::setBottomShown(bool shown)
{
    if (shown) {
        for (QDockWidget* dock : std::exchange(m_putAway, {}))
            dock->setVisible(m_shown);
        return;
    }
    if (!m_shown || !m_putAway.isEmpty())
        return;
    save();
    for (QDockWidget* dock : m_bottom)
        if (!dock->isHidden() && !dock->isFloating())
            m_putAway << dock;
    for (QDockWidget* dock : m_putAway)
        dock->hide();
}

void WindowLayout::follow(const QSize& size)
{
    const double scale = m_style.metrics().scale;
    const bool narrow = size.width() < wideFrom * scale || size.height() < highFrom * scale;
    if (narrow == m_narrow)
        return;
    const bool away = !m_putAway.isEmpty();
    setBottomShown(true);
    save();
    m_narrow = narrow;
    if (m_shown)
        restoreOrDefault();
    if (away)
        setBottomShown(false);
    emit narrowChanged(narrow);
}

void WindowLayout::restoreOrDefault()
{
    m_placed = true;
    const QByteArray state = m_settings.layout(name() + QStringLiteral("/state"));
    if (state.isEmpty() || !m_window.restoreState(state, layoutVersion))
        arrange();
    dressTabs();
}

void WindowLayout::arrange()
{
    for (QDockWidget* dock : m_bottom + m_right + m_behind) {
        dock->setFloating(false);
        m_window.removeDockWidget(dock);
    }
    for (QDockWidget* dock : m_right)
        m_window.addDockWidget(Qt::RightDockWidgetArea, dock, Qt::Vertical);
    for (QDockWidget* dock : m_bottom)
        m_window.addDockWidget(Qt::BottomDockWidgetArea, dock, Qt::Horizontal);
    for (QDockWidget* dock : m_behind)
        m_window.tabifyDockWidget(m_right.back(), dock);
    if (m_narrow) {
        for (int i = 1; i < m_bottom.size(); ++i)
            m_window.tabifyDockWidget(m_bottom[0], m_bottom[i]);
        for (int i = 1; i < m_right.size(); ++i)
            m_window.tabifyDockWidget(m_right[0], m_right[i]);
    }
    for (QDockWidget* dock : m_bottom + m_right)
        dock->show();
    for (QDockWidget* dock : m_behind)
        dock->hide();

    const Metrics& m = m_style.metrics();
    const int right = m_narrow ? m.rightDockNarrow : m.rightDock;
    if (!m_right.isEmpty()) {
        m_window.resizeDocks({m_right.front()}, {right}, Qt::Horizontal);
        if (m_narrow) {
            m_right.front()->raise();
        } else if (m_right.size() == 2) {
            const int high = static_cast<int>(m_window.height() * findingsShare);
            m_window.resizeDocks(m_right, {high, m_window.height() - high}, Qt::Vertical);
        }
    }
    if (!m_bottom.isEmpty()) {
        const int height = static_cast<int>(m_window.height() * bottomShare * 0.82);
        m_window.resizeDocks({m_bottom.front()}, {height}, Qt::Vertical);
        if (m_narrow) {
            m_bottom.back()->raise();
        } else if (m_bottom.size() == 2) {
            const int width = m_window.width() - right;
            const int map = static_cast<int>(width * mapShare);
            m_window.resizeDocks(m_bottom, {map, width - map}, Qt::Horizontal);
        }
    }
    QTimer::singleShot(0, this, &WindowLayout::dressTabs);
}

// Tabs of dock groups carry the dock's icon, and then no title bar repeats its name.
void WindowLayout::dressTabs()
{
    for (auto it = m_titles.cbegin(); it != m_titles.cend(); ++it) {
        QDockWidget* dock = it.key();
        const QList<QDockWidget*> others = m_window.tabifiedDockWidgets(dock);
        const bool tabbed = !dock->isFloating()
            && std::any_of(others.begin(), others.end(), [](QDockWidget* each) { return !each->isHidden(); });
        static_cast<DockTitle*>(it.value())->setCompact(tabbed);
    }
    for (QTabBar* bar : m_window.findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly)) {
        bar->setExpanding(false);
        for (int i = 0; i < bar->count(); ++i)
            for (auto it = m_icons.cbegin(); it != m_icons.cend(); ++it)
                if (it.key()->windowTitle() == bar->tabText(i))
                    bar->setTabIcon(i, m_style.icon(it.value()));
    }
}

} // namespace tidemark
