// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/search.hpp"
#include "widgets/style/style.hpp"

#include <QWidget>

class QHBoxLayout;
class QLabel;
class QToolButton;

namespace tidemark {

class FilterChip;

/// The filter that is in force, term by term: a chip each, which takes its term away or shows it in the
/// field, what of it is live, and the way from match to match. Hidden without a filter. GUI thread.
class FilterStrip : public QWidget {
    Q_OBJECT
public:
    FilterStrip(Search& search, ViewState& state, Style& style, QWidget* parent = nullptr);

    /// The terms shown, as typed.
    QStringList terms() const;
    QString summary() const;
    FilterChip* chip(int at) const;
    bool hasFilter() const { return m_has; }

signals:
    /// The filter is to be this text.
    void wanted(const QString& text);
    /// This part of the field's text is to be selected there.
    void editRequested(int from, int length);
    void matchRequested(int direction);
    void listRequested();
    /// There is a filter now, or none any more.
    void hasFilterChanged(bool has);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void refresh();
    void restyle();
    void fit();

    Search& m_search;
    Style& m_style;
    QHBoxLayout* m_row;
    QLabel* m_more;
    QLabel* m_summary;
    QToolButton* m_previous;
    QToolButton* m_next;
    QToolButton* m_list;
    QToolButton* m_clear;
    QList<FilterChip*> m_chips;
    QString m_text;
    bool m_has = false;
};

/// One term: a click on the cross takes it away, one on the text shows it in the field. GUI thread.
class FilterChip : public QWidget {
    Q_OBJECT
public:
    FilterChip(const QString& term, const Style& style, QWidget* parent);

    QString term() const { return m_term; }
    QRect cross() const;
    QSize sizeHint() const override;

signals:
    void removed();
    void chosen();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    QString m_term;
    const Style& m_style;
    bool m_onCross = false;
};

} // namespace tidemark
