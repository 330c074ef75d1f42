// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/search.hpp"
#include "widgets/session.hpp"
#include "widgets/style/style.hpp"
#include "widgets/view_state.hpp"

#include <QStatusBar>

class QLabel;

namespace tidemark {

/// The status bar: what is under the pointer (else the file), the filter, a hint for the tool, what goes on.
class StatusLine : public QStatusBar {
    Q_OBJECT
public:
    StatusLine(Session& session, ViewState& state, Search& search, const Style& style, QWidget* parent);

    /// "Ready", "Opening a.pickle…".
    void setActivity(const QString& text);
    /// A remark that stays a few seconds.
    void remark(const QString& text);
    QString filterText() const;
    QString hoverText() const;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void refresh();
    void restyle();
    QString fileText() const;
    void showItem();

    Session& m_session;
    ViewState& m_state;
    Search& m_search;
    const Style& m_style;
    QString m_hover;
    QString m_shown;
    QLabel* m_item;
    QLabel* m_filter;
    QLabel* m_hint;
    QLabel* m_activity;
};

} // namespace tidemark
