// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/render/ranks_picture.hpp"

#include "app/render/picture_title.hpp"
#include "app/render/picture_tools.hpp"
#include "widgets/ranks/ranks_view.hpp"
#include "widgets/style/style.hpp"
#include "widgets/style/text.hpp"

#include <QApplication>

#include <algorithm>

namespace tidemark {

std::optional<Error> writeRanksPicture(std::shared_ptr<const SummarisedJob> job,
    const RanksPictureRequest& request, const QString& file, int* hidden)
{
    if (!isPictureName(file))
        return wrongPictureName(file);
    Style style;
    style.setChoice(request.dark ? ThemeChoice::Dark : ThemeChoice::Light);
    if (request.applyLook)
        style.applyTo(*qApp);
    PictureTitle title;
    title.name = shownText(job->diagnosis.headline(job->ranks));
    const int above = request.title ? PictureTitle::height(style) : 0;
    RanksView view(style);
    view.setPalette(style.theme().palette());
    view.setJob(std::move(job));
    view.setForPicture();
    settle(view, QSize(request.width, 600));
    const int needed = view.wholeHeight(request.width) + above;
    int height = request.height.value_or(std::min(needed, RanksPictureRequest::mostHeight));
    if (request.shrink)
        height = std::min(height, needed);
    if (hidden)
        *hidden = height < needed ? needed : 0;
    settle(view, QSize(request.width, std::max(1, height - above)));
    const Paint paint = [&](QPainter& painter) {
        if (request.title)
            title.paint(painter, style, request.width);
        painter.translate(0, above);
        renderWidget(view, painter, above);
    };
    const QSize size(request.width, height);
    return writeBytes(
        file, isVectorName(file) ? vectorBytes(size, paint) : rasterBytes(size, request.scale, paint));
}

} // namespace tidemark
