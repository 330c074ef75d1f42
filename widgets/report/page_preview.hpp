// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/latest_task.hpp"
#include "widgets/report/paged_report.hpp"

#include <QAbstractScrollArea>
#include <QHash>
#include <QImage>

#include <memory>
#include <optional>
#include <utility>

namespace tidemark {

class Style;

/// The pages of a report, one below the other, as they will be printed: scrolls and zooms, as wide as the
/// view unless told. Pages are painted off the GUI thread when they come into view. GUI thread.
class PagePreview : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit PagePreview(const Style& style, QWidget* parent = nullptr);
    ~PagePreview() override;

    /// Null clears it. The place stays where it is, as far as there are pages.
    void setPages(std::shared_ptr<const PagedReport> pages);
    const std::shared_ptr<const PagedReport>& pages() const { return m_pages; }

    /// Logical pixels a point; absent: the sheet is as wide as the view.
    void setZoom(std::optional<double> zoom);
    bool fitsWidth() const { return !m_zoom; }
    /// What is shown, 1 for a sheet at its true size on a screen of 96 dpi.
    double scale() const;
    void zoomBy(double factor);

    /// The page that takes most of the view, from 0.
    int currentPage() const;
    void showPage(int page);
    /// The view shows its pages, not stand-ins. For tests.
    bool settled() const;

signals:
    /// currentPage() or scale() changed.
    void placeChanged();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    void changeEvent(QEvent* event) override;

private:
    struct Sheet {
        QImage image;
        std::uint64_t stamp = 0;
    };
    struct Painted {
        int page = 0;
        Sheet sheet;
    };
    QSize sheetSize() const;
    int gap() const;
    QRect sheetRect(int page) const;
    std::pair<int, int> visiblePages() const;
    std::optional<int> nextMissing() const;
    bool isFresh(int page) const;
    void updateBars();
    void askForPages();
    void take(Painted&& painted);
    void tellPlace();

    const Style& m_style;
    std::shared_ptr<const PagedReport> m_pages;
    std::uint64_t m_stamp = 0; ///< counts setPages
    std::pair<int, std::uint64_t> m_told{-1, 0}; ///< page and stamp of the accessible description
    std::optional<double> m_zoom;
    QHash<int, Sheet> m_sheets;
    LatestTask<Painted> m_task;
};

} // namespace tidemark
