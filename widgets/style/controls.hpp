// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <vector>

class QAbstractButton;
class QButtonGroup;
class QPushButton;

namespace tidemark {

class Style;

/// Gives a push button the accent of the one action a place suggests; follows the theme.
void makePrimary(QPushButton& button, const Style& style);

/// A row of joined buttons of which exactly one is on ("Events | Time"). Keyboard: Tab, then arrows. GUI
/// thread.
class Segmented : public QWidget {
    Q_OBJECT
public:
    Segmented(const Style& style, const QStringList& texts, QWidget* parent = nullptr);

    int current() const;
    /// Emits nothing.
    void setCurrent(int index);
    void setPartEnabled(int index, bool enabled);
    void setPartToolTip(int index, const QString& text);
    void setPartShown(int index, bool shown);
    /// 26 in toolbars; footers and tab corners use less.
    void setLogicalHeight(int height);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

signals:
    /// The user chose another part.
    void chosen(int index);

private:
    class Part;
    const Style& m_style;
    QButtonGroup* m_group;
    std::vector<Part*> m_parts;
    int m_height = 26;
};

} // namespace tidemark
