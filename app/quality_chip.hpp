// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/strip_figures.hpp"
#include "widgets/style/style.hpp"

#include <QAbstractButton>
#include <QFrame>

namespace tidemark {

/// A rounded label with a severity icon; opens a popup when clicked.
class ChipButton : public QAbstractButton {
    Q_OBJECT
public:
    enum class Look { Warning, Remark, Plain };
    ChipButton(const Style& style, const QString& text, Look look, QWidget* parent = nullptr);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    const Style& m_style;
    Look m_look;
};

/// What a chip means: sentence, count, examples, where it was met first. Closes itself like a menu.
class ChipPopup : public QFrame {
    Q_OBJECT
public:
    ChipPopup(const Style& style, const QualityChip& chip, QWidget* parent);
    /// Below `anchor`, inside its screen.
    void showBelow(const QWidget& anchor);

signals:
    void setCardRequested();
    void eventRequested(std::uint32_t event);
    void helpRequested(const QString& page);
};

} // namespace tidemark
