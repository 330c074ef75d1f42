// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/report/report.hpp"

#include <QSize>

#include <vector>

namespace tidemark {

/// Logical size of a report's pictures: wide ones for a screen, narrow ones for a sheet of paper, where the
/// texts in them would otherwise get too small to read.
QSize reportPictureSize(bool paper);

/// What a report asks for, as the window's views draw it, in light colours. Empty for kinds that no view
/// draws. Needs a QApplication, but no display. GUI thread.
std::vector<report::Picture> drawReportPictures(const report::PictureAsk& ask, bool paper);

/// Draws whenever asked.
class ViewPictures : public report::Pictures {
public:
    explicit ViewPictures(bool paper)
        : m_paper(paper)
    { }
    std::vector<report::Picture> draw(const report::PictureAsk& ask) override
    {
        return drawReportPictures(ask, m_paper);
    }

private:
    bool m_paper;
};

} // namespace tidemark
