// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <vector>

class QToolButton;

namespace tidemark {

class Style;

/// A row of joined buttons of which one is chosen ("Site | Stack | Size"). Left and right move the choice.
class ChoiceBar : public QWidget {
    Q_OBJECT
public:
    ChoiceBar(Style& style, const QString& accessibleName, QWidget* parent = nullptr);

    void addChoice(int value, const QString& text, const QString& toolTip = {});
    void setChoiceVisible(int value, bool visible);
    void setChoiceEnabled(int value, bool enabled);
    /// Chooses without emitting chosen().
    void setCurrent(int value);
    int current() const { return m_current; }

    QSize sizeHint() const override;

signals:
    /// The user chose.
    void chosen(int value);

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Choice;
    class Button;
    void step(int direction);

    Style& m_style;
    std::vector<std::pair<int, Button*>> m_buttons;
    int m_current = -1;
};

} // namespace tidemark
