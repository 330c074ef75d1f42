// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window_layout.hpp"

#include "app/dock_title.hpp"

#include <QScreen>
#include <QStyle>
#include <QTabBar>
#include <QTimer>

#include <algorithm>
#include <utility>

namespace tidemark {

namespace {

/// Tabs of a group of docks that have icons beside their names.
constexpr int mostIcons = 4;

/// Raised when docks come or go, so that arrangements of other versions are not restored.
constexpr int layoutVersion = 4;
constexpr double bottomShare = 0.42;
constexpr double mapShare = 0.485;
constexpr double findingsShare = 0.55;
/// What the docks on the right may take of the window's width.
constexpr double mostOfWidth = 0.36;

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
    connect(&style, &Style::changed, this, &WindowLayout::rescale);
    m_scale = style.metrics().scale;
    for (QTimer* timer : {&m_learn, &m_apply})
        timer->setSingleShot(true);
    connect(&m_learn, &QTimer::timeout, this, &WindowLayout::learn);
    connect(&m_apply, &QTimer::timeout, this, &WindowLayout::applySizes);
    window.installEventFilter(this);
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

void WindowLayout::setPlaces(const QList<QDockWidget*>& bottom, const QList<QDockWidget*>& tabs,
    const QList<QDockWidget*>& right, const QList<QDockWidget*>& behind)
{
    m_bottom = bottom;
    m_tabs = tabs;
    m_right = right;
    m_behind = behind;
    for (QDockWidget* dock : bottom + tabs)
        m_window.addDockWidget(Qt::BottomDockWidgetArea, dock);
    for (QDockWidget* dock : right + behind)
        m_window.addDockWidget(Qt::RightDockWidgetArea, dock);
    for (QDockWidget* dock : all())
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
    if (m_room != Room::Docks) { // as it is with them
        const Room room = m_room;
        setRoom(Room::Docks);
        save();
        setRoom(room);
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
    m_sizes = {};
    m_settled.clear();
    const Room room = std::exchange(m_room, Room::Docks);
    m_putAway.clear();
    if (m_shown)
        arrange();
    setRoom(room);
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
    m_room = Room::Docks;
    for (QDockWidget* dock : all())
        dock->hide();
}

void WindowLayout::setRoom(Room room)
{
    if (room == m_room) {
        if (room == Room::Docks)
            m_apply.start();
        return;
    }
    if (m_room != Room::Docks) {
        m_room = Room::Docks;
        for (QDockWidget* dock : std::exchange(m_putAway, {}))
            dock->setVisible(m_shown);
        for (const QPointer<QDockWidget>& front : std::exchange(m_putAwayFronts, {}))
            if (front && m_shown)
                front->raise();
        m_apply.start();
    }
    if (room == Room::Docks || !m_shown)
        return;
    save();
    QList<QDockWidget*> leaving = m_bottom + m_tabs;
    if (!m_bottom.isEmpty())
        m_putAwayFronts << frontOf(m_bottom.back());
    if (room == Room::Nothing) {
        leaving += m_right + m_behind;
        if (!m_right.isEmpty())
            m_putAwayFronts << frontOf(m_right.back());
    }
    for (QDockWidget* dock : leaving)
        if (!dock->isHidden() && !dock->isFloating())
            m_putAway << dock;
    for (QDockWidget* dock : m_putAway)
        dock->hide();
    m_room = room;
}

void WindowLayout::follow(const QSize& size)
{
    const double scale = m_style.metrics().scale;
    const bool narrow = size.width() < wideFrom * scale || size.height() < highFrom * scale;
    m_apply.start();
    if (narrow == m_narrow)
        return;
    const Room room = m_room;
    setRoom(Room::Docks);
    // As it was before the window changed: by now the docks have given way.
    if (m_shown && m_placed)
        m_settings.setLayout(name() + QStringLiteral("/state"),
            m_settled.isEmpty() ? m_window.saveState(layoutVersion) : m_settled);
    QList<QDockWidget*> open;
    QList<QDockWidget*> front; // tabs that are looked at
    for (QDockWidget* dock : all())
        if (!dock->isHidden())
            open << dock;
    for (QDockWidget* dock : m_tabs + m_behind)
        if (!dock->visibleRegion().isEmpty())
            front << dock;
    m_narrow = narrow;
    if (m_shown) {
        restoreOrDefault();
        for (QDockWidget* dock : all())
            dock->setVisible(open.contains(dock));
        for (QDockWidget* dock : front)
            dock->raise();
    }
    setRoom(room);
    emit narrowChanged(narrow);
}

void WindowLayout::restoreOrDefault()
{
    m_placed = true;
    const QByteArray state = m_settings.layout(name() + QStringLiteral("/state"));
    if (state.isEmpty() || !m_window.restoreState(state, layoutVersion))
        arrange();
    dressTabs();
    if (m_sizes[m_narrow])
        m_apply.start();
    else
        m_learn.start();
}

QDockWidget* WindowLayout::dockOf(const QWidget* view) const
{
    for (QDockWidget* dock : all())
        if (dock->isAncestorOf(view))
            return dock;
    return nullptr;
}

QDockWidget* WindowLayout::openIn(const QList<QDockWidget*>& docks, Qt::DockWidgetArea area) const
{
    for (QDockWidget* dock : docks)
        if (!dock->isHidden() && !dock->isFloating() && m_window.dockWidgetArea(dock) == area)
            return dock;
    return nullptr;
}

bool WindowLayout::bottomsSideBySide() const
{
    if (m_bottom.size() != 2 || m_window.tabifiedDockWidgets(m_bottom[0]).contains(m_bottom[1]))
        return false;
    for (QDockWidget* dock : m_bottom)
        if (openIn({dock}, Qt::BottomDockWidgetArea) == nullptr)
            return false;
    // A group with tabs begins below them.
    const QDockWidget* const left = frontOf(m_bottom[0]);
    return std::abs(left->y() - frontOf(m_bottom[1])->y()) * 2 < left->height();
}

QDockWidget* WindowLayout::frontOf(QDockWidget* dock) const
{
    if (dock->visibleRegion().isEmpty())
        for (QDockWidget* other : m_window.tabifiedDockWidgets(dock))
            if (!other->visibleRegion().isEmpty())
                return other;
    return dock;
}

int WindowLayout::rightWidth(int wanted) const
{
    return std::min(wanted, static_cast<int>(m_window.width() * mostOfWidth));
}

void WindowLayout::learn()
{
    if (!m_shown || !m_placed || !m_window.isVisible())
        return;
    std::optional<Sizes>& known = m_sizes[m_narrow];
    Sizes sizes = known.value_or(Sizes{});
    if (const QDockWidget* right = openIn(m_right + m_behind, Qt::RightDockWidgetArea))
        sizes.right = right->width();
    if (bottomsSideBySide())
        sizes.map = static_cast<double>(frontOf(m_bottom[0])->width())
            / std::max(1, frontOf(m_bottom[0])->width() + frontOf(m_bottom[1])->width());
    known = sizes;
    if (m_room == Room::Docks)
        m_settled = m_window.saveState(layoutVersion);
}

void WindowLayout::applySizes()
{
    const auto& sizes = m_sizes[m_narrow];
    if (!m_shown || !m_placed || !sizes)
        return;
    QDockWidget* const right = openIn(m_right + m_behind, Qt::RightDockWidgetArea);
    if (right && sizes->right > 0)
        m_window.resizeDocks({right}, {rightWidth(sizes->right)}, Qt::Horizontal);
    if (bottomsSideBySide() && sizes->map > 0) {
        const int both = frontOf(m_bottom[0])->width() + frontOf(m_bottom[1])->width();
        const int map = static_cast<int>(both * sizes->map);
        m_window.resizeDocks(m_bottom, {map, both - map}, Qt::Horizontal);
    }
    if (m_room == Room::Docks)
        m_settled = m_window.saveState(layoutVersion);
}

void WindowLayout::rescale()
{
    const double scale = m_style.metrics().scale;
    const double by = scale / std::exchange(m_scale, scale);
    if (by == 1.0)
        return;
    for (auto& sizes : m_sizes)
        if (sizes)
            sizes->right = static_cast<int>(sizes->right * by);
    follow(m_window.size());
}

bool WindowLayout::eventFilter(QObject* watched, QEvent* event)
{
    // The separators between docks belong to the window itself.
    if (watched == &m_window && event->type() == QEvent::MouseButtonRelease)
        m_learn.start();
    return QObject::eventFilter(watched, event);
}

void WindowLayout::fitScreen()
{
    const QScreen* const screen = m_window.screen();
    if (!screen || m_window.isMaximized() || m_window.isFullScreen())
        return;
    const QRect room = screen->availableGeometry();
    // Before the window is on screen its frame is not known: a title bar of the usual height.
    QMargins frame(0, m_window.style()->pixelMetric(QStyle::PM_TitleBarHeight, nullptr, &m_window), 0, 0);
    if (m_window.isVisible()) {
        const QRect outer = m_window.frameGeometry();
        const QRect inner = m_window.geometry();
        frame = QMargins(inner.left() - outer.left(), inner.top() - outer.top(),
            outer.right() - inner.right(), outer.bottom() - inner.bottom());
    }
    const QSize most = room.marginsRemoved(frame).size();
    if (m_window.width() > most.width() || m_window.height() > most.height())
        m_window.resize(m_window.size().boundedTo(most));
    if (!m_window.isVisible())
        return;
    const QRect outer = m_window.frameGeometry();
    const QPoint corner(std::max(room.left(), std::min(outer.left(), room.right() + 1 - outer.width())),
        std::max(room.top(), std::min(outer.top(), room.bottom() + 1 - outer.height())));
    if (corner != outer.topLeft())
        m_window.move(corner);
}

void WindowLayout::arrange()
{
    for (QDockWidget* dock : all()) {
        dock->setFloating(false);
        m_window.removeDockWidget(dock);
    }
    for (QDockWidget* dock : m_right)
        m_window.addDockWidget(Qt::RightDockWidgetArea, dock, Qt::Vertical);
    for (QDockWidget* dock : m_bottom)
        m_window.addDockWidget(Qt::BottomDockWidgetArea, dock, Qt::Horizontal);
    if (m_narrow) {
        for (int i = 1; i < m_bottom.size(); ++i)
            m_window.tabifyDockWidget(m_bottom[0], m_bottom[i]);
        for (int i = 1; i < m_right.size(); ++i)
            m_window.tabifyDockWidget(m_right[0], m_right[i]);
    }
    for (QDockWidget* dock : m_tabs)
        m_window.tabifyDockWidget(m_bottom.back(), dock);
    // Last: a tab of the group the one before it is in by now.
    for (QDockWidget* dock : m_behind)
        m_window.tabifyDockWidget(m_right.back(), dock);
    for (QDockWidget* dock : m_bottom + m_tabs + m_right)
        dock->show();
    for (QDockWidget* dock : m_behind)
        dock->hide();

    const Metrics& m = m_style.metrics();
    const int right = rightWidth(m_narrow ? m.rightDockNarrow : m.rightDock);
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
        m_bottom.back()->raise();
        if (!m_narrow && m_bottom.size() == 2) {
            const int width = m_window.width() - right;
            const int map = static_cast<int>(width * mapShare);
            m_window.resizeDocks(m_bottom, {map, width - map}, Qt::Horizontal);
        }
    }
    m_sizes[m_narrow] = Sizes{m_narrow ? m.rightDockNarrow : m.rightDock, mapShare};
    m_apply.start();
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
        // All tabs of a narrow dock are there, with shorter names: arrows would hide some.
        bar->setUsesScrollButtons(false);
        bar->setElideMode(Qt::ElideRight);
        for (int i = 0; i < bar->count(); ++i)
            for (auto it = m_icons.cbegin(); it != m_icons.cend(); ++it)
                if (it.key()->windowTitle() == bar->tabText(i)) {
                    // Where there are many, names are worth more than icons.
                    bar->setTabIcon(i, bar->count() <= mostIcons ? m_style.icon(it.value()) : QIcon());
                    bar->setTabToolTip(i, bar->tabText(i));
                }
    }
}

} // namespace tidemark
