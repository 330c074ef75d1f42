// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/settings.hpp"
#include "widgets/style/style.hpp"

#include <QDockWidget>
#include <QList>
#include <QMainWindow>
#include <QPointer>
#include <QTimer>

#include <array>
#include <optional>

namespace tidemark {

/// Where the docks of the main window are: side by side in a wide window, one tab group at the bottom in a
/// narrow one; each arrangement is remembered per screen size. What is open stays open from one arrangement
/// to the other, and docks that gave way to a small window are as wide as before when there is room again.
/// Without a file no dock is shown. GUI thread.
class WindowLayout : public QObject {
    Q_OBJECT
public:
    static constexpr int wideFrom = 1440;
    static constexpr int highFrom = 900;

    WindowLayout(QMainWindow& window, Settings& settings, const Style& style);

    /// A dock with `view` inside; `extra` (may be null) stands in its title bar.
    QDockWidget* addDock(
        QWidget* view, const QString& name, const QString& title, const QString& icon, QWidget* extra);
    /// The docks in their places: `bottom` from left to right, `tabs` behind the last one of these, `right`
    /// from top to bottom; `behind` are tabs of the last one on the right, closed until somebody asks for
    /// them.
    void setPlaces(const QList<QDockWidget*>& bottom, const QList<QDockWidget*>& tabs,
        const QList<QDockWidget*>& right, const QList<QDockWidget*>& behind = {});

    /// The dock that holds a view given to addDock.
    QDockWidget* dockOf(const QWidget* view) const;
    /// Shows or hides all docks, as a file is opened or closed.
    void setDocksShown(bool shown);
    /// What docks leave to the page in the middle.
    enum class Room { Docks, Height, Nothing };
    /// Takes the bottom docks away for a page that wants the height, or all of them for one that wants
    /// everything (Nothing), and puts back those that were open.
    void setRoom(Room room);
    /// Call when the window's size has changed.
    void follow(const QSize& size);
    bool isNarrow() const { return m_narrow; }
    void save();
    /// Back to how it was before anybody moved anything, in all arrangements.
    void reset();
    void restoreGeometry();
    /// Makes the window fit on its screen together with its frame.
    void fitScreen();

signals:
    void narrowChanged(bool narrow);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    /// Sizes as arranged or as the user dragged them, without what a small window takes.
    struct Sizes {
        int right = 0; ///< width of the right docks
        double map = 0; ///< share of the first bottom dock
    };
    /// The first dock of these that is open in this area, or null.
    QDockWidget* openIn(const QList<QDockWidget*>& docks, Qt::DockWidgetArea area) const;
    bool bottomsSideBySide() const;
    QList<QDockWidget*> all() const { return m_bottom + m_tabs + m_right + m_behind; }
    /// The dock in front where this one is: itself, or another tab of its group.
    QDockWidget* frontOf(QDockWidget* dock) const;
    int rightWidth(int wanted) const;
    void learn();
    void applySizes();
    void rescale();
    QString name() const;
    void restoreOrDefault();
    void arrange();
    void dressTabs();

    QMainWindow& m_window;
    Settings& m_settings;
    const Style& m_style;
    QList<QDockWidget*> m_bottom;
    QList<QDockWidget*> m_tabs;
    QList<QDockWidget*> m_right;
    QList<QDockWidget*> m_behind;
    QHash<QDockWidget*, QString> m_icons;
    QHash<QDockWidget*, QWidget*> m_titles;
    bool m_narrow = false;
    bool m_shown = false;
    bool m_placed = false;
    Room m_room = Room::Docks;
    QList<QDockWidget*> m_putAway; ///< by setRoom
    QList<QPointer<QDockWidget>> m_putAwayFronts; ///< the tabs that were in front of them
    std::array<std::optional<Sizes>, 2> m_sizes; ///< wide, narrow
    QByteArray m_settled; ///< the arrangement before the window's size changed
    double m_scale = 1;
    QTimer m_learn;
    QTimer m_apply;
};

} // namespace tidemark
