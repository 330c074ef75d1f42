// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"
#include "model/report/document.hpp"

#include <QRectF>
#include <QSizeF>
#include <QString>

#include <memory>
#include <string>
#include <vector>

class QPainter;

namespace tidemark {

enum class Paper : std::uint8_t { A4, Letter };
/// Of the whole sheet, in points.
QSizeF paperSize(Paper paper);
inline constexpr double paperMarginMm = 15;

/// A report laid out on sheets of paper, always in light colours: what is printed and what the preview shows.
/// Immutable; holds no fonts or devices, so any thread may paint any page.
class PagedReport {
public:
    /// A text on a page as it stands there.
    struct PlacedText {
        QRectF box; ///< points from the sheet's corner
        QString text;
    };

    /// Null when stopped. Cost: some 10 µs a cell and line. Any thread, while there is a QGuiApplication.
    static std::shared_ptr<const PagedReport> layOut(
        const report::Document& document, Paper paper, const Job& job);
    ~PagedReport();
    PagedReport(const PagedReport&) = delete;
    PagedReport& operator=(const PagedReport&) = delete;

    Paper paper() const { return m_paper; }
    int pageCount() const;
    /// One page, from 0, its corner at the painter's origin and a point one unit long. Does not fill the
    /// sheet.
    void paint(QPainter& painter, int page) const;
    /// Its texts, from the top of the page to its end.
    std::vector<PlacedText> texts(int page) const;
    /// The pictures' boxes, icons too, in points.
    std::vector<QRectF> pictures(int page) const;

private:
    struct Pages;
    PagedReport(Paper paper, std::unique_ptr<const Pages> pages);

    Paper m_paper;
    std::unique_ptr<const Pages> m_pages;
};

} // namespace tidemark
