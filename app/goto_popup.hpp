// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/navigator.hpp"
#include "widgets/style/style.hpp"

#include <QFrame>

class QLabel;
class QLineEdit;

namespace tidemark {

/// "Go to event, time or address…": says while typing where the text leads, and goes there on Enter.
class GotoPopup : public QFrame {
    Q_OBJECT
public:
    GotoPopup(Navigator& navigator, const Style& style, QWidget* parent);

    void popup();
    QLineEdit* edit() const { return m_edit; }
    QString hint() const;

private:
    void describe();
    void commit();

    Navigator& m_navigator;
    const Style& m_style;
    QLineEdit* m_edit;
    QLabel* m_hint;
};

} // namespace tidemark
