// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/style/style.hpp"

#include "widgets/style/look.hpp"

#include <QApplication>
#include <QFontDatabase>
#include <QIconEngine>
#include <QPainter>
#include <QStyleFactory>

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

constexpr double basePoints = 9;
constexpr double smallestPoints = 8;
constexpr double scalePoints = 7.5;

Metrics scaled(double scale)
{
    Metrics m;
    m.scale = scale;
    for (int* length : {&m.row, &m.header, &m.dockTitle, &m.tab, &m.button, &m.combo, &m.toolButton,
             &m.toolbar, &m.strip, &m.statusBar, &m.padding, &m.icon, &m.smallIcon, &m.lane, &m.poolStrip,
             &m.overview, &m.swatch, &m.rightDock, &m.rightDockNarrow})
        *length = static_cast<int>(std::lround(*length * scale));
    return m;
}

} // namespace

int Metrics::px(double logical) const
{
    return static_cast<int>(std::lround(logical * scale));
}

/// Draws an icon in the colours the theme has at the time of painting.
class Style::Engine : public QIconEngine {
public:
    Engine(std::shared_ptr<Shared> shared, QString name, Tone tone)
        : m_shared(std::move(shared))
        , m_name(std::move(name))
        , m_tone(tone)
    { }

    QIconEngine* clone() const override { return new Engine(m_shared, m_name, m_tone); }
    QString key() const override { return QStringLiteral("tidemark"); }
    bool isNull() override { return draw(16, QIcon::Normal).isNull(); }

    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State) override
    {
        return draw(std::min(size.width(), size.height()), mode);
    }
    QPixmap scaledPixmap(const QSize& size, QIcon::Mode mode, QIcon::State, qreal) override
    {
        return draw(std::min(size.width(), size.height()), mode);
    }
    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override
    {
        const double ratio = painter->device() ? painter->device()->devicePixelRatioF() : 1.0;
        const int side = std::min(rect.width(), rect.height());
        QPixmap pixmap = draw(static_cast<int>(std::lround(side * ratio)), mode);
        pixmap.setDevicePixelRatio(ratio);
        QRect target(0, 0, side, side);
        target.moveCenter(rect.center());
        painter->drawPixmap(target, pixmap);
    }

private:
    QPixmap draw(int sizePixels, QIcon::Mode mode) const
    {
        const Theme& theme = m_shared->theme;
        QRgb ink = theme.rgb(m_tone);
        if (mode == QIcon::Disabled)
            ink = theme.rgb(Tone::Dim);
        else if (mode == QIcon::Selected)
            ink = theme.rgb(Tone::SelText);
        const QRgb paper = theme.rgb(mode == QIcon::Selected ? Tone::Sel : Tone::Base);
        return m_shared->icons.render(m_name, ink, paper, sizePixels);
    }

    std::shared_ptr<Shared> m_shared;
    QString m_name;
    Tone m_tone;
};

Style::Style(QObject* parent)
    : QObject(parent)
    , m_shared(std::make_shared<Shared>())
{ }

Style::~Style()
{
    // The application would go on drawing with a Look that asks us for colours.
    if (m_application && qApp == m_application)
        m_application->setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
}

void Style::setChoice(ThemeChoice choice)
{
    m_choice = choice;
    refresh();
}

void Style::setSystemDark(bool dark)
{
    m_systemDark = dark;
    refresh();
}

void Style::refresh()
{
    const bool dark = m_choice == ThemeChoice::System ? m_systemDark : m_choice == ThemeChoice::Dark;
    if (dark == theme().isDark())
        return;
    m_shared->theme = dark ? Theme::dark() : Theme::light();
    if (m_application)
        applyTo(*m_application);
    emit changed();
}

void Style::setTextPercent(int percent)
{
    percent = std::clamp(percent, 80, 200);
    if (percent == m_percent)
        return;
    m_percent = percent;
    m_metrics = scaled(percent / 100.0);
    if (m_application)
        applyTo(*m_application);
    emit changed();
}

QFont Style::font(FontRole role) const
{
    const auto kind = role == FontRole::Fixed ? QFontDatabase::FixedFont : QFontDatabase::GeneralFont;
    QFont font = QFontDatabase::systemFont(kind);
    const double base = basePoints * m_metrics.scale;
    double points = base;
    switch (role) {
    case FontRole::Base:
    case FontRole::Strong:
        break;
    case FontRole::Small:
    case FontRole::Fixed:
        points = std::max(base * 0.92, std::min(base, smallestPoints));
        break;
    case FontRole::Value:
        points = base * 1.25;
        break;
    case FontRole::Title:
        points = base * 1.33;
        break;
    case FontRole::Scale:
        points = scalePoints * m_metrics.scale;
        break;
    }
    font.setPointSizeF(points);
    const bool strong = role == FontRole::Value || role == FontRole::Title || role == FontRole::Strong;
    font.setWeight(strong ? QFont::DemiBold : QFont::Normal);
    return font;
}

void Style::applyTo(QApplication& application)
{
    if (!m_application)
        application.setStyle(new Look(*this));
    m_application = &application;
    application.setPalette(theme().palette());
    application.setFont(font(FontRole::Base));
    // Tool tips keep a palette and a font of their own.
    application.setPalette(theme().palette(), "QTipLabel");
    application.setFont(font(FontRole::Small), "QTipLabel");
}

QIcon Style::icon(const QString& name, Tone tone) const
{
    return QIcon(new Engine(m_shared, name, tone));
}

QPixmap Style::pixmap(const QString& name, Tone tone, int logicalSize, double ratio) const
{
    QPixmap pixmap = m_shared->icons.render(
        name, theme().rgb(tone), theme().rgb(Tone::Base), static_cast<int>(std::lround(logicalSize * ratio)));
    pixmap.setDevicePixelRatio(ratio);
    return pixmap;
}

QPixmap Style::swatch(std::uint8_t slot, bool sequential, double ratio) const
{
    const int side = m_metrics.swatch;
    const int pixels = static_cast<int>(std::lround(side * ratio));
    QPixmap pixmap(pixels, pixels);
    pixmap.setDevicePixelRatio(ratio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRgb fill = theme().colourOf(slot, sequential);
    const QRectF box(0.5, 0.5, side - 1, side - 1);
    painter.setPen(Qt::NoPen);
    painter.setBrush(QColor(fill));
    painter.drawRoundedRect(box, 2, 2);
    const bool predating = slot == colourSlot::predatingStays || slot == colourSlot::predatingFreed;
    if (predating || slot == colourSlot::waiting) {
        painter.setBrush(
            patternBrush(predating ? Pattern::Pinned : Pattern::Waiting, color(Tone::Hatch), ratio));
        painter.drawRoundedRect(box, 2, 2);
    }
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(QColor(mixed(fill, theme().rgb(Tone::Ink), 0.25)), 1));
    painter.drawRoundedRect(box, 2, 2);
    return pixmap;
}

} // namespace tidemark
