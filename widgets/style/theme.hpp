// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/lens/colouring.hpp"

#include <QColor>
#include <QPalette>

#include <array>
#include <cstdint>

namespace tidemark {

/// Every colour of the window by its purpose; the values live in theme.cpp alone.
enum class Tone : std::uint8_t {
    Win, ///< window, toolbars
    Base, ///< tables, text, panels
    Alt, ///< every second row, footers
    Head, ///< dock titles
    Head2, ///< tabs that are not chosen
    Btn1, ///< buttons, top of the gradient
    Btn2, ///< buttons, bottom of the gradient
    Line, ///< frames and separators
    Line2, ///< faint separators
    Text,
    Text2, ///< secondary text
    Dim, ///< disabled text
    Sel, ///< accent: selected rows, primary buttons, focus frame
    SelText,
    SelSoft, ///< soft accent: cursor cell, checked tool
    Link,
    Plot, ///< ground of plots
    Grid,
    Ink, ///< outlines, cursor, selection
    Halo, ///< around ink and around text in plots
    Crit,
    CritBg,
    Warn, ///< text
    WarnFill, ///< shapes
    WarnBg,
    Info,
    InfoBg,
    Ok,
    OkBg,
    Unknown, ///< "cannot decide"
    Other, ///< the grey of "n other sites"
    Pre1, ///< before recording, stays
    Pre2, ///< before recording, freed in the trace
    Pre3,
    Hatch,
    Hole, ///< free memory
    Reserved, ///< reserved curve
    Capacity, ///< capacity line
    Grew,
    Shrank,
    Count
};

/// The colours of one look, light or dark. A small value type; get the current one from Style::theme().
/// Categories are the same in both looks so that screen and printed report agree. Any thread.
class Theme {
public:
    static Theme light() { return Theme(false); }
    static Theme dark() { return Theme(true); }

    bool isDark() const { return m_dark; }
    QRgb rgb(Tone tone) const;
    QColor color(Tone tone) const { return QColor::fromRgb(rgb(tone)); }
    /// Category slot 0…11.
    QRgb category(int slot) const;
    /// Step 0…6 of the sequential scale: small or young to large or old.
    QRgb sequential(int step) const;
    /// Step 0…6 of the diverging scale: shrank … unchanged … grew.
    QRgb diverging(int step) const;
    /// Fill of an allocation from its colouring slot (colourSlot). Predating slots want the Predating pattern
    /// on top, the waiting slot the Waiting pattern (pattern.hpp).
    QRgb colourOf(std::uint8_t slot, bool sequential) const;
    /// colourOf for all slots, to index while painting pixels.
    std::array<QRgb, colourSlot::count> slotTable(bool sequential) const;
    /// What is out of focus (no match, not the finding shown): mixed 62 % towards the plot's ground.
    QRgb faded(QRgb colour) const;

    /// Explicit palette for every role and state, for the Fusion style.
    QPalette palette() const;

    bool operator==(const Theme&) const = default;

private:
    explicit Theme(bool dark)
        : m_dark(dark)
    { }
    bool m_dark;
};

/// Linear mix of two opaque colours: share 0 = `from`, 1 = `to`.
QRgb mixed(QRgb from, QRgb to, double share);
/// Black or white, whichever reads better on `ground` (contrast of WCAG 2).
QRgb textOn(QRgb ground);

} // namespace tidemark
