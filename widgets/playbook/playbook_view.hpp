// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/refresher.hpp"
#include "widgets/playbook/playbook_html.hpp"
#include "widgets/session.hpp"
#include "widgets/style/style.hpp"
#include "widgets/view_state.hpp"

#include <QWidget>

class QLabel;
class QLineEdit;
class QListWidget;
class QTextBrowser;
class QUrl;

namespace tidemark {

class Segmented;

/// The memory playbook as a reference to read and search: its steps, tables, measured results, constraints
/// and commands. What was found in the open run is lit and leads to the finding; what was looked for and not
/// found, or cannot be decided, says so. GUI thread.
class PlaybookView : public QWidget {
    Q_OBJECT
public:
    PlaybookView(Session& session, ViewState& state, Style& style, QWidget* parent = nullptr);
    ~PlaybookView() override;

    /// What there is to read.
    void setPage(PlaybookPage page);
    /// Shows an entry ("D4", "S3", "R7") at the top; forgets a search that hides it.
    void showEntry(const QString& id);
    void setSearch(const QString& text);
    void focusSearch();
    /// All that is written, as plain text.
    QString text() const;

protected:
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void refresh();
    void restyle();
    void addIcons();
    void fillContents();
    void arrange();
    void follow(const QUrl& link);
    void showAll();
    QString summary() const;

    Session& m_session;
    ViewState& m_state;
    Style& m_style;
    PlaybookPage m_page;
    PlaybookText m_text;
    QLineEdit* m_search;
    Segmented* m_which;
    QLabel* m_summary;
    QListWidget* m_contents;
    QTextBrowser* m_body;
    Refresher m_refresher;
};

} // namespace tidemark
