// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/report/report.hpp"
#include "widgets/common/latest_task.hpp"
#include "widgets/common/refresher.hpp"
#include "widgets/report/paged_report.hpp"
#include "widgets/report/ready_pictures.hpp"

#include <QTimer>
#include <QWidget>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

class QLabel;
class QPushButton;
class QScrollArea;
class QStackedLayout;
class QToolButton;

namespace tidemark {

class EmptyState;
class Footer;
class PagePreview;
class RemovedList;
class ReportOptions;
class Style;

/// The tab "Report": what is to be in it on the left, the pages as they will be printed on the right. A
/// change is followed after a moment of rest; the newest one wins. The report and its pages are made off the
/// GUI thread; pictures are drawn on it, one a turn of the event loop, and kept until the input changes.
/// GUI thread.
class ReportView : public QWidget {
    Q_OBJECT
public:
    /// What the report is about; none: no file is open.
    using Input = std::function<std::optional<report::ReportInput>()>;
    /// Draws what a report asks for. Texts in drawings are redacted later, so `ask.redactor` changes nothing.
    using Draw = ReadyPictures::Draw;

    explicit ReportView(Style& style, QWidget* parent = nullptr);
    ~ReportView() override;

    void setSource(Input input, Draw draw);
    /// The input is another one, its notes or its comparison changed: all is made anew.
    void inputChanged();

    /// Title, summary, parts, rows and redaction as chosen; for export and for session files.
    report::ReportWish wish() const;
    void setWish(const report::ReportWish& wish);
    Paper paper() const;

    /// What the preview shows; null until the first is made.
    const std::shared_ptr<const report::Document>& document() const { return m_document; }
    bool busy() const;
    QString emptyHeading() const;

    ReportOptions& options() { return *m_options; }
    PagePreview& preview() { return *m_preview; }

    static constexpr int restMs = 300;

signals:
    void exportRequested();
    void copyMarkdownRequested();
    void openFileRequested();
    /// wish() or paper() changed by the user.
    void wishChanged();

private:
    struct Made {
        std::shared_ptr<const report::Document> document;
        std::shared_ptr<const PagedReport> pages;
    };

    void schedule();
    void buildLayout();
    void refresh();
    void drawNext();
    std::optional<report::PictureKind> missingPicture() const;
    void make();
    void take(Made&& made);
    void showRemoved();
    void showPlace();
    void restyle();

    Style& m_style;
    Input m_source;
    Draw m_draw;
    ReportOptions* m_options;
    QScrollArea* m_column;
    QPushButton* m_export;
    QPushButton* m_copy;
    PagePreview* m_preview;
    Footer* m_footer;
    QLabel* m_place;
    QLabel* m_state;
    QToolButton* m_smaller;
    QToolButton* m_larger;
    QToolButton* m_fit;
    QWidget* m_body;
    EmptyState* m_empty;
    QStackedLayout* m_stack;
    RemovedList* m_removed = nullptr;

    std::optional<report::ReportInput> m_input; ///< what is being drawn or made
    ReadyPictures m_drawn;
    std::uint64_t m_generation = 0; ///< counts inputChanged
    bool m_drawing = false;
    bool m_due = true; ///< what is shown is not what is wished for
    bool m_preparing = false; ///< pictures are drawn first
    std::shared_ptr<const report::Document> m_document;
    QTimer m_rest;
    Refresher m_refresher;
    LatestTask<Made> m_task;
    LatestTask<std::vector<report::Replacement>> m_removedTask;
};

} // namespace tidemark
