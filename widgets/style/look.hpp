// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QProxyStyle>

namespace tidemark {

class Style;

/// Fusion with the few shapes it draws differently here: flat tool buttons with an accent frame when
/// checked, tabs with an accent edge, quiet table headers, focus frames outside of controls.
class Look : public QProxyStyle {
    Q_OBJECT
public:
    explicit Look(const Style& style);

    int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override;
    int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
        QStyleHintReturn* returnData) const override;
    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
        const QWidget* widget) const override;
    void drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
        const QWidget* widget) const override;
    QSize sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& contents,
        const QWidget* widget) const override;

private:
    void drawCheck(const QStyleOption* option, QPainter* painter) const;
    void drawButton(const QStyleOption* option, QPainter* painter) const;
    void drawTabShape(const QStyleOption* option, QPainter* painter) const;
    void drawHeaderSection(const QStyleOption* option, QPainter* painter) const;

    const Style& m_style;
};

} // namespace tidemark
