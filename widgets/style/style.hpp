// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/style/icons.hpp"
#include "widgets/style/pattern.hpp"
#include "widgets/style/theme.hpp"

#include <QFont>
#include <QIcon>
#include <QObject>

#include <memory>

class QApplication;

namespace tidemark {

enum class ThemeChoice { System, Light, Dark };

/// Text sizes; see Style::font.
enum class FontRole {
    Base, ///< 9 pt: tables, buttons, menus
    Small, ///< 0.92 × base: captions, status bar, legends, text in plots
    Value, ///< 1.25 × base, semibold: figures of the summary strip
    Title, ///< 1.33 × base, semibold: headings of pages and empty states
    Strong, ///< base, semibold
    Scale, ///< 7.5 pt: tick labels inside plots where Small does not fit
    Fixed, ///< fixed pitch, 0.92 × base: stacks, addresses, settings
};

/// Sizes in logical pixels at 96 dpi and 100 % text; Style::metrics gives them scaled to the text size.
struct Metrics {
    double scale = 1; ///< text size ÷ 100 %
    int unit = 4;
    int row = 20; ///< table rows
    int header = 22; ///< table headers and footers
    int dockTitle = 25;
    int tab = 27;
    int button = 24;
    int combo = 26;
    int toolButton = 28;
    int toolbar = 38;
    int strip = 54; ///< summary strip
    int statusBar = 24;
    int splitter = 5;
    int padding = 8; ///< inside panels
    int icon = 16;
    int smallIcon = 14;
    int radius = 3;
    int lane = 18; ///< a timeline lane
    int poolStrip = 44;
    int overview = 32;
    int swatch = 11;
    int rightDock = 372;
    int rightDockNarrow = 318;

    /// A length given at 100 % text in today's size.
    int px(double logical) const;
};

/// What everything on screen looks like, shared by all views: theme, fonts, metrics, icons. One per window
/// or application, passed to every view's constructor as `(Session&, ViewState&, Style&, QWidget* parent)`;
/// views listen to changed() and repaint (rebuild caches of coloured pixels). Icons made by icon() follow the
/// theme by themselves. GUI thread.
///
/// Views that live in a dock put the subtitle of their dock ("at event 3,737 · 234 segments") into their own
/// windowTitle: the dock's title bar shows it beside the dock's name.
class Style : public QObject {
    Q_OBJECT
public:
    explicit Style(QObject* parent = nullptr);
    ~Style() override;

    const Theme& theme() const { return m_shared->theme; }
    QColor color(Tone tone) const { return theme().color(tone); }
    ThemeChoice choice() const { return m_choice; }
    /// Emits changed() when the look differs afterwards.
    void setChoice(ThemeChoice choice);
    /// What "system" means at the moment; set by the application (default: light).
    void setSystemDark(bool dark);

    /// 80…200.
    int textPercent() const { return m_percent; }
    void setTextPercent(int percent);
    QFont font(FontRole role) const;
    const Metrics& metrics() const { return m_metrics; }

    /// Fusion, palette and base font for the whole application, now and after every change.
    void applyTo(QApplication& application);

    /// An icon of resources/icons ("peak-next") that is drawn in the theme's colours whenever it is painted;
    /// disabled ones in Tone::Dim.
    QIcon icon(const QString& name, Tone tone = Tone::Text) const;
    /// One picture of it; `logicalSize` in logical pixels, `ratio` the device pixel ratio.
    QPixmap pixmap(const QString& name, Tone tone, int logicalSize, double ratio) const;
    /// A small square in a category's colour for legends, tables and menus; predating and waiting slots carry
    /// their pattern.
    QPixmap swatch(std::uint8_t slot, bool sequential, double ratio) const;

    /// One device pixel, for hairlines.
    static double hairline(double ratio) { return ratio > 1 ? 1 / ratio : 1; }

signals:
    void changed();

private:
    struct Shared;
    class Engine;
    struct Shared {
        Theme theme = Theme::light();
        IconRenderer icons;
    };
    void refresh();

    std::shared_ptr<Shared> m_shared;
    ThemeChoice m_choice = ThemeChoice::System;
    bool m_systemDark = false;
    int m_percent = 100;
    Metrics m_metrics;
    QApplication* m_application = nullptr;
};

} // namespace tidemark
