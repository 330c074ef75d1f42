// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/metrics_text.hpp"
#include "widgets/common/latest_task.hpp"
#include "widgets/common/refresher.hpp"
#include "widgets/common/source_files.hpp"
#include "widgets/details/details_html.hpp"
#include "widgets/details/details_sheet.hpp"
#include "widgets/session.hpp"
#include "widgets/view_state.hpp"

#include <QTimer>
#include <QWidget>

class QCheckBox;
class QLabel;
class QScrollArea;
class QToolButton;
class QUrl;

namespace tidemark {

class Style;
class TextBlock;

/// What is known of the selection: an allocation, a group, a segment or a hole, else of the range or of the
/// cursor's moment (help/window.md). All text can be selected and copied; events, segments and neighbours are
/// links. Follows the selection at once and the cursor when it rests. windowTitle() is the dock's subtitle.
/// GUI thread.
class DetailsView : public QWidget {
    Q_OBJECT
public:
    DetailsView(Session& session, ViewState& view, Style& style, QWidget* parent = nullptr);
    ~DetailsView() override;

    bool isFrameworkHidden() const;
    /// The key H.
    void setFrameworkHidden(bool hidden);

    /// Brings the sheet up to date now instead of with the next event; for exports and tests.
    void flush();
    /// For pictures: without buttons and scroll bars.
    void setForPicture();
    const DetailsSheet& sheet() const { return m_sheet; }
    /// The sheet as plain text.
    QString copyText() const;
    /// What is on screen as plain text, stacks as shown.
    QString shownPlainText() const;

signals:
    void frameworkHiddenChanged(bool hidden);

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    void schedule() { m_refresher.schedule(); }
    void refresh();
    void refreshIn(int ms);
    void showSheet(bool sameThing);
    void showStacks();
    void restyle();
    void follow(const QUrl& link);
    void followFrame(const QString& place);
    void hoverLink(const QUrl& link);
    void showSource(const Frame& frame);
    void showSnippet(int line, const SourceSnippet& snippet);

    Session& m_session;
    ViewState& m_view;
    Style& m_style;
    QScrollArea* m_scroll;
    QLabel* m_swatch;
    TextBlock* m_title;
    QToolButton* m_zoom;
    QToolButton* m_copy;
    TextBlock* m_facts;
    QWidget* m_stackHeader;
    QLabel* m_stackTitle;
    QCheckBox* m_hide;
    QToolButton* m_copyStack;
    TextBlock* m_stacks;

    DetailsSheet m_sheet;
    std::shared_ptr<const Snapshot> m_snapshot;
    OpenFrames m_open;
    QTimer m_restTimer;
    bool m_forPicture = false;
    Refresher m_refresher;
    LatestTask<std::pair<int, SourceSnippet>> m_source;
    struct MadeMetrics {
        std::shared_ptr<const Replay> replay;
        StateIndex state = 0;
        std::vector<MetricLine> lines;
    };
    void askMetrics();
    void showMetrics(const MadeMetrics& made);
    LatestTask<MadeMetrics> m_metrics;
    struct Gathered {
        SheetSubject subject;
        SheetFacts facts;
    };
    void present(const SheetFacts& facts);
    LatestTask<Gathered> m_gathering;
};

} // namespace tidemark
