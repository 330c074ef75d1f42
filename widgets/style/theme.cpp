// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/style/theme.hpp"

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

constexpr std::size_t toneCount = static_cast<std::size_t>(Tone::Count);

// In the order of Tone.
constexpr std::array<QRgb, toneCount> lightTones{0xfff1f2f4, 0xffffffff, 0xfff7f8f9, 0xffe7e9ec, 0xffdfe2e6,
    0xfffcfcfd, 0xffeceef1, 0xffc0c6cc, 0xffdde0e4, 0xff1c2126, 0xff555d66, 0xff8d949c, 0xff2b6cb0,
    0xffffffff, 0xffdce9f7, 0xff1b5fa6, 0xffffffff, 0xffe8eaed, 0xff14181c, 0xffffffff, 0xffb3261e,
    0xfffbeceb, 0xff8f5f00, 0xffc27c00, 0xfffdf4e0, 0xff1b5fa6, 0xffe9f1fa, 0xff25733a, 0xffe8f4ea,
    0xff5f6770, 0xff9aa0a6, 0xffced3d8, 0xffbfc6cc, 0xffdadee2, 0xff8a929b, 0xfff3f4f6, 0xff1c2126,
    0xffb3261e, 0xffb4570c, 0xff2166ac};
constexpr std::array<QRgb, toneCount> darkTones{0xff2b2e32, 0xff1f2124, 0xff24272a, 0xff353a3f, 0xff2f3338,
    0xff43484e, 0xff393e43, 0xff4b5157, 0xff383d42, 0xffe7e9eb, 0xffadb4bc, 0xff7f878f, 0xff2f6db3,
    0xffffffff, 0xff2a3c50, 0xff82b8f0, 0xff1a1c1f, 0xff2d3135, 0xfff6f8f9, 0xff0e1012, 0xffff8a80,
    0xff3d2422, 0xfff2bd4b, 0xfff2bd4b, 0xff383020, 0xff82b8f0, 0xff22313f, 0xff7cc68d, 0xff22352a,
    0xffa3abb3, 0xff9aa0a6, 0xff41464c, 0xff4b5157, 0xff383d43, 0xff858d96, 0xff26292d, 0xffe7e9eb,
    0xffff8a80, 0xfff0a35e, 0xff7db7ea};

// teal rose indigo straw rust sky green plum sage ochre orchid umber
constexpr std::array<QRgb, 12> categories{0xff237784, 0xfff19693, 0xff52539f, 0xffd6c870, 0xff944126,
    0xff66b6f4, 0xff55a163, 0xff75525e, 0xffadcfc3, 0xffa57710, 0xff9d77b5, 0xff767460};
constexpr std::array<QRgb, 7> sequentialLight{
    0xffdfeef7, 0xffb3d7ee, 0xff82bde1, 0xff529fca, 0xff2380af, 0xff03628b, 0xff004564};
constexpr std::array<QRgb, 7> sequentialDark{
    0xff1e3645, 0xff21536e, 0xff2c7096, 0xff428fba, 0xff62aedb, 0xff91cdf1, 0xffc3e7ff};
constexpr std::array<QRgb, 7> divergingLight{
    0xff00579a, 0xff4f8ac6, 0xffa1c1e4, 0xffe6e8ea, 0xffddb499, 0xffb97340, 0xff893c00};
constexpr std::array<QRgb, 7> divergingDark{
    0xff8bbcef, 0xff558ac0, 0xff385b7e, 0xff3a3f44, 0xff764d30, 0xffb97340, 0xffeea471};

constexpr double fadedShare = 0.62;

template <std::size_t N>
QRgb pick(const std::array<QRgb, N>& colours, int index)
{
    return colours[static_cast<std::size_t>(std::clamp(index, 0, static_cast<int>(N) - 1))];
}

double luminance(QRgb colour)
{
    const auto linear = [](int channel) {
        const double v = channel / 255.0;
        return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(qRed(colour)) + 0.7152 * linear(qGreen(colour)) + 0.0722 * linear(qBlue(colour));
}

} // namespace

QRgb Theme::rgb(Tone tone) const
{
    return pick(m_dark ? darkTones : lightTones, static_cast<int>(tone));
}

QRgb Theme::category(int slot) const
{
    return pick(categories, slot);
}

QRgb Theme::sequential(int step) const
{
    return pick(m_dark ? sequentialDark : sequentialLight, step);
}

QRgb Theme::diverging(int step) const
{
    return pick(m_dark ? divergingDark : divergingLight, step);
}

QRgb Theme::colourOf(std::uint8_t slot, bool isSequential) const
{
    switch (slot) {
    case colourSlot::other:
    case colourSlot::waiting:
        return rgb(Tone::Other);
    case colourSlot::predatingStays:
        return rgb(Tone::Pre1);
    case colourSlot::predatingFreed:
        return rgb(Tone::Pre2);
    default:
        break;
    }
    return isSequential ? sequential(slot) : category(slot);
}

std::array<QRgb, colourSlot::count> Theme::slotTable(bool isSequential) const
{
    std::array<QRgb, colourSlot::count> table{};
    for (std::uint8_t slot = 0; slot < colourSlot::count; ++slot)
        table[slot] = colourOf(slot, isSequential);
    return table;
}

QRgb Theme::faded(QRgb colour) const
{
    return mixed(colour, rgb(Tone::Plot), fadedShare);
}

QPalette Theme::palette() const
{
    QPalette p;
    const auto set = [&](QPalette::ColorRole role, Tone tone) { p.setColor(role, color(tone)); };
    set(QPalette::Window, Tone::Win);
    set(QPalette::Base, Tone::Base);
    set(QPalette::AlternateBase, Tone::Alt);
    set(QPalette::Button, Tone::Btn2);
    set(QPalette::Text, Tone::Text);
    set(QPalette::WindowText, Tone::Text);
    set(QPalette::ButtonText, Tone::Text);
    set(QPalette::PlaceholderText, Tone::Text2);
    set(QPalette::BrightText, Tone::Crit);
    set(QPalette::Highlight, Tone::Sel);
    set(QPalette::HighlightedText, Tone::SelText);
    set(QPalette::Link, Tone::Link);
    set(QPalette::LinkVisited, Tone::Link);
    set(QPalette::ToolTipBase, Tone::Base);
    set(QPalette::ToolTipText, Tone::Text);
    set(QPalette::Light, Tone::Btn1);
    set(QPalette::Midlight, Tone::Line2);
    set(QPalette::Mid, Tone::Line);
    set(QPalette::Dark, Tone::Line);
    p.setColor(QPalette::Shadow, m_dark ? color(Tone::Halo) : color(Tone::Text2));
    for (const QPalette::ColorRole role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText})
        p.setColor(QPalette::Disabled, role, color(Tone::Dim));
    p.setColor(QPalette::Disabled, QPalette::PlaceholderText, color(Tone::Dim));
    p.setColor(QPalette::Disabled, QPalette::Base, color(Tone::Alt));
    p.setColor(QPalette::Disabled, QPalette::Highlight, color(Tone::Line));
    p.setColor(QPalette::Disabled, QPalette::HighlightedText, color(Tone::Text));
    return p;
}

QRgb mixed(QRgb from, QRgb to, double share)
{
    const auto channel = [share](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * share)); };
    return qRgb(
        channel(qRed(from), qRed(to)), channel(qGreen(from), qGreen(to)), channel(qBlue(from), qBlue(to)));
}

QRgb textOn(QRgb ground)
{
    // Contrast with white falls below contrast with black at this luminance.
    const double l = luminance(ground);
    return 1.05 / (l + 0.05) >= (l + 0.05) / 0.05 ? qRgb(255, 255, 255) : qRgb(0, 0, 0);
}

} // namespace tidemark
