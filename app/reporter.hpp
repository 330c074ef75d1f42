// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/report_formats.hpp"
#include "app/workspace.hpp"
#include "model/report/report.hpp"
#include "widgets/common/latest_task.hpp"
#include "widgets/report/ready_pictures.hpp"

#include <QObject>
#include <QString>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace tidemark {

/// Reports about what the window has open: what goes into one, its pictures, and the files that are written.
/// Pictures are drawn on the GUI thread, one a turn of the event loop; all else is done off it. GUI thread.
class Reporter : public QObject {
    Q_OBJECT
public:
    explicit Reporter(Workspace& work, QObject* parent = nullptr);

    /// Where the ranks of a run come from; null, or an empty result, while none are summed up. Tell of
    /// changes by inputChanged().
    using JobSource = std::function<std::shared_ptr<const SummarisedJob>()>;
    void setJobSource(JobSource source) { m_jobSource = std::move(source); }

    /// None while no file is open.
    std::optional<report::ReportInput> input() const;
    /// For the preview: as on paper.
    std::vector<report::Picture> draw(const report::PictureAsk& ask) const;

    /// Writes a report of what is open now; the ending tells the format. One after the other, none is lost.
    void write(const report::ReportWish& wish, Paper paper, const QString& file);
    /// Puts it into the clipboard as Markdown.
    void copyMarkdown(const report::ReportWish& wish);
    bool busy() const { return m_current.has_value(); }

    /// What a file chooser offers: "HTML page (*.html);;…".
    static QString filters();
    /// `file` with the ending of the chosen filter where it has none that is known.
    static QString withEnding(const QString& file, const QString& filter);

signals:
    /// input(), or what pictures of it show.
    void inputChanged();
    void started(const QString& activity);
    /// One sentence: what was written, or why it was not.
    void finished(const QString& remark);
    /// A file could not be written: one sentence.
    void failed(const QString& sentence);

private:
    struct Order {
        report::ReportInput input;
        report::ReportWish wish;
        Paper paper = Paper::A4;
        QString file; ///< empty: the clipboard
        const ReportFormat* format = nullptr;
        ReadyPictures drawn;
    };
    struct Written {
        QString remark;
        QString problem; ///< why the file could not be written
        QString text; ///< for the clipboard
    };

    void add(Order order);
    void next();
    void drawNext();
    void write();
    void take(Written&& written);
    void rememberRow();
    std::vector<report::RankRow> rows() const;

    Workspace& m_work;
    JobSource m_jobSource;
    std::map<QString, report::RankRow>
        m_rows; ///< of the files read so far, by path; until the run is summed up
    std::deque<Order> m_waiting;
    std::optional<Order> m_current;
    LatestTask<Written> m_task;
};

} // namespace tidemark
