// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/render/ranks_picture.hpp"

#include "app/render/picture_title.hpp"
#include "app/render/picture_tools.hpp"
#include "widgets/ranks/ranks_view.hpp"
#include "widgets/style/style.hpp"
#include "widgets/style/text.hpp"

#include <QApplication>

#include <algorithm>
#include <filesystem>
#include <map>

namespace tidemark {

namespace {

/// Files of ranks may be called the same in folders of their own: they are named in the order of the ranks.
RanksView::InputOf inputsByName(const SummarisedJob& job, const std::vector<std::string>& names)
{
    std::map<std::filesystem::path, std::uint32_t> inputs;
    std::vector<bool> taken(names.size());
    for (const RankSummary& rank : job.ranks)
        for (std::size_t i = 0; i < names.size(); ++i)
            if (!taken[i] && rank.file.filename() == names[i]) {
                taken[i] = true;
                inputs.emplace(rank.file, static_cast<std::uint32_t>(i));
                break;
            }
    return [inputs = std::move(inputs)](const std::filesystem::path& file) -> std::optional<std::uint32_t> {
        const auto found = inputs.find(file);
        return found == inputs.end() ? std::nullopt : std::optional(found->second);
    };
}

} // namespace

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
    NotesState notes;
    notes.reset(request.annotations);
    RanksView view(style);
    view.setPalette(style.theme().palette());
    view.setNotes(notes, inputsByName(*job, request.inputNames));
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
