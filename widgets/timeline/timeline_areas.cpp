// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/timeline/timeline_areas.hpp"

#include "widgets/common/moment_text.hpp"
#include "widgets/style/text.hpp"

#include <algorithm>
#include <unordered_map>

namespace tidemark {

namespace {

struct Run {
    int x = 0;
    int top = 0;
    int bottom = 0; ///< included
};

/// Around runs of neighbouring columns: along their tops, then back along their bottoms. Corners only.
QPolygonF outlineOf(const std::vector<Run>& runs, const QRectF& plot, double perX, double perY)
{
    const auto point
        = [&](double x, double y) { return QPointF(plot.left() + x * perX, plot.top() + y * perY); };
    QPolygonF outline;
    for (std::size_t i = 0; i < runs.size(); ++i)
        if (i == 0 || runs[i].top != runs[i - 1].top) {
            if (i > 0)
                outline << point(runs[i].x, runs[i - 1].top);
            outline << point(runs[i].x, runs[i].top);
        }
    outline << point(runs.back().x + 1, runs.back().top) << point(runs.back().x + 1, runs.back().bottom + 1);
    for (std::size_t i = runs.size(); i-- > 1;)
        if (runs[i].bottom != runs[i - 1].bottom)
            outline << point(runs[i].x, runs[i].bottom + 1) << point(runs[i].x, runs[i - 1].bottom + 1);
    outline << point(runs.front().x, runs.front().bottom + 1);
    return outline;
}

} // namespace

std::vector<NamedArea> timelineAreas(const TimelineScene& scene, std::size_t most)
{
    std::vector<NamedArea> areas;
    if (!scene.picture || !scene.replay)
        return areas;
    const IdImage& image = scene.picture->layout->image;
    std::unordered_map<std::uint32_t, std::vector<Run>> runs;
    std::unordered_map<std::uint32_t, std::size_t> pixels;
    for (int x = 0; x < image.width; ++x)
        for (int y = 0; y < image.height;) {
            const std::uint32_t id = image.at(x, y);
            const int top = y;
            while (y < image.height && image.at(x, y) == id)
                ++y;
            if (id == pixel::empty)
                continue;
            std::vector<Run>& all = runs[id];
            if (!all.empty() && all.back().x == x)
                all.back().bottom = y - 1; // what stands between is thinner than a row
            else
                all.push_back({x, top, y - 1});
            pixels[id] += static_cast<std::size_t>(y - top);
        }
    std::vector<std::pair<std::size_t, std::uint32_t>> order;
    order.reserve(pixels.size());
    for (const auto& [id, count] : pixels)
        order.emplace_back(count, id);
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    order.resize(std::min(order.size(), most));
    const QRectF plot = scene.geometry.plot;
    const AllocationColumns& all = scene.replay->timeline.allocations();
    for (const auto& [count, id] : order) {
        const std::vector<Run>& mine = runs[id];
        const AllocationId allocation{id};
        const QString text = scene.idName(id) + QStringLiteral(" · ") + bytesText(all.size[id])
            + QStringLiteral(" · ") + lifeText(*scene.replay, allocation);
        // Columns apart from each other are outlines of their own.
        for (std::size_t from = 0; from < mine.size();) {
            std::size_t to = from + 1;
            while (to < mine.size() && mine[to].x == mine[to - 1].x + 1)
                ++to;
            areas.push_back({outlineOf({mine.begin() + static_cast<std::ptrdiff_t>(from),
                                           mine.begin() + static_cast<std::ptrdiff_t>(to)},
                                 plot, plot.width() / image.width, plot.height() / image.height),
                text});
            from = to;
        }
    }
    return areas;
}

} // namespace tidemark
