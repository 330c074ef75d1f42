// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/result.hpp"
#include "model/job/summarise.hpp"
#include "model/report/annotations.hpp"

#include <QSize>
#include <QString>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tidemark {

/// The overview of a job as a picture: its rows and the key, with the headline above.
struct RanksPictureRequest {
    int width = 1200;
    std::optional<int> height; ///< absent: as high as the rows are, up to mostHeight
    bool shrink = false; ///< no higher than the rows need
    double scale = 1;
    bool dark = false;
    bool applyLook = true; ///< as PictureRequest
    bool title = true;
    std::vector<report::Annotation> annotations;
    std::vector<std::string> inputNames; ///< of files, by Annotation::input
    static constexpr int mostHeight = 8000;
};

/// Writes it; the format follows the name's ending (.png, .svg). `hidden`, if given, gets the height that
/// would have shown the rows that do not fit, else 0. Needs a QApplication, but no display. GUI thread.
std::optional<Error> writeRanksPicture(std::shared_ptr<const SummarisedJob> job,
    const RanksPictureRequest& request, const QString& file, int* hidden = nullptr);

} // namespace tidemark
