// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPixmap>
#include <QWidget>

#include <vector>

class QLabel;

namespace tidemark {

class Style;

/// The footer of a painted view: samples with their meaning and sum, from the left, and one fact at the
/// right. What does not fit is shortened, then left out from the end; the whole stands in the tool tip and
/// the accessible text.
class FactBar : public QWidget {
    Q_OBJECT
public:
    struct Fact {
        QPixmap sample; ///< may be null
        QString text;
        QString brief; ///< where there is no room for text; empty: the same
    };

    explicit FactBar(Style& style, QWidget* parent = nullptr);

    void setFacts(const std::vector<Fact>& facts, const QString& right);
    /// Takes a control that stays at the far right.
    void setControl(QWidget* control);
    /// All of it as one line.
    QString text() const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    bool event(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    struct Item {
        QLabel* sample;
        QLabel* text;
        QString full;
        QString brief;
    };
    int widthOf(const Item& item, const QString& text) const;
    void arrange();
    QLabel* label();
    void restyle();

    Style& m_style;
    std::vector<Item> m_items;
    std::size_t m_used = 0;
    QLabel* m_right = nullptr;
    QWidget* m_control = nullptr;
};

} // namespace tidemark
