// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/timeline/stack_outline.hpp"

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

struct Span {
    int top = 0;
    int bottom = -1; ///< included; empty when above `top`
    bool empty() const { return bottom < top; }
};

constexpr std::size_t mostQuestions = 24; // to the model, for an allocation thinner than a row everywhere

class Outliner {
public:
    Outliner(const TimelineScene& scene, AllocationId id)
        : m_scene(scene)
        , m_layout(*scene.picture->layout)
        , m_id(id)
    {
        const AllocationColumns& all = scene.replay->timeline.allocations();
        m_first = all.firstState[index(id)];
        m_end = all.endState[index(id)];
        findColumns();
        if (m_spans.empty())
            return;
        findSpans();
        if (std::all_of(m_spans.begin(), m_spans.end(), [](const Span& s) { return s.empty(); }))
            askModel();
        fillGaps();
    }

    bool empty() const
    {
        return std::all_of(m_spans.begin(), m_spans.end(), [](const Span& s) { return s.empty(); });
    }

    OutlineImage draw(const QColor& inner, const QColor& outer, int thick) const
    {
        int top = m_layout.image.height;
        int bottom = -1;
        for (const Span& s : m_spans)
            if (!s.empty()) {
                top = std::min(top, s.top);
                bottom = std::max(bottom, s.bottom);
            }
        const int reach = thick * 2;
        OutlineImage out;
        out.picture = m_scene.picture;
        out.at = QPoint(m_left - reach, top - reach);
        const int width = static_cast<int>(m_spans.size()) + 2 * reach;
        out.pixels = QImage(width, bottom - top + 1 + 2 * reach, QImage::Format_ARGB32_Premultiplied);
        out.pixels.fill(Qt::transparent);
        if (outer.alpha())
            ring(out, reach, thick, qPremultiply(outer.rgba()));
        ring(out, thick, 0, qPremultiply(inner.rgba()));
        return out;
    }

private:
    void findColumns()
    {
        const auto& columns = m_layout.columns;
        const auto alive = [&](const ColumnInfo& c) { return c.shown >= m_first && c.shown < m_end; };
        const auto first = std::find_if(columns.begin(), columns.end(), alive);
        if (first == columns.end())
            return;
        const auto last = std::find_if(columns.rbegin(), columns.rend(), alive).base();
        m_left = static_cast<int>(first - columns.begin());
        m_spans.resize(static_cast<std::size_t>(last - first));
    }
    void findSpans()
    {
        const IdImage& image = m_layout.image;
        const auto wanted = static_cast<std::uint32_t>(index(m_id));
        for (int y = 0; y < image.height; ++y) {
            const std::uint32_t* row = image.ids.data()
                + static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) + m_left;
            for (std::size_t i = 0; i < m_spans.size(); ++i)
                if (row[i] == wanted) {
                    Span& s = m_spans[i];
                    if (s.empty())
                        s.top = y;
                    s.bottom = y;
                }
        }
    }
    void askModel()
    {
        const std::size_t step = std::max<std::size_t>(1, m_spans.size() / mostQuestions);
        for (std::size_t i = 0; i < m_spans.size(); i += step)
            ask(i);
        ask(m_spans.size() - 1);
    }
    void ask(std::size_t i)
    {
        const TimelineWindow& w = m_layout.window;
        const StateIndex state = m_layout.columns[static_cast<std::size_t>(m_left) + i].shown;
        const StackRequest& drawn = m_scene.picture->request;
        const auto extent = drawn.source->extent(drawn.colouring, drawn.order, m_id, state);
        if (!extent)
            return;
        const double middle = (static_cast<double>(extent->low) + static_cast<double>(extent->high)) / 2;
        const double y = std::floor((w.top - middle) / (w.top - w.bottom) * w.height);
        if (y >= 0 && y < w.height)
            m_spans[i] = {static_cast<int>(y), static_cast<int>(y)};
    }
    void fillGaps()
    {
        std::size_t last = m_spans.size();
        for (std::size_t i = 0; i < m_spans.size(); ++i) {
            if (m_spans[i].empty())
                continue;
            if (last < m_spans.size())
                for (std::size_t k = last + 1; k < i; ++k) {
                    const double t = static_cast<double>(k - last) / static_cast<double>(i - last);
                    const int y
                        = static_cast<int>(std::lround(m_spans[last].top * (1 - t) + m_spans[i].top * t));
                    m_spans[k] = {y, y};
                }
            last = i;
        }
    }
    // Paints what lies within `reach` of the spans but farther than `hole` from them.
    void ring(OutlineImage& out, int reach, int hole, QRgb colour) const
    {
        const int count = static_cast<int>(m_spans.size());
        const auto reached = [&](int x, int distance) {
            Span joined{1 << 30, -(1 << 30)};
            for (int k = std::max(0, x - distance); k <= std::min(count - 1, x + distance); ++k) {
                const Span& s = m_spans[static_cast<std::size_t>(k)];
                if (!s.empty())
                    joined = {
                        std::min(joined.top, s.top - distance), std::max(joined.bottom, s.bottom + distance)};
            }
            return joined;
        };
        for (int x = -reach; x < count + reach; ++x) {
            const Span full = reached(x, reach);
            const Span inside = reached(x, hole);
            for (int y = full.top; y <= full.bottom; ++y) {
                if (y == inside.top && inside.bottom >= y) {
                    y = inside.bottom;
                    continue;
                }
                const int py = y - out.at.y();
                const int px = x + m_left - out.at.x();
                if (px >= 0 && px < out.pixels.width() && py >= 0 && py < out.pixels.height())
                    reinterpret_cast<QRgb*>(out.pixels.scanLine(py))[px] = colour;
            }
        }
    }

    const TimelineScene& m_scene;
    const TimelineImage& m_layout;
    AllocationId m_id;
    StateIndex m_first = 0;
    StateIndex m_end = 0;
    int m_left = 0;
    std::vector<Span> m_spans;
};

} // namespace

OutlineImage outlineAllocation(
    const TimelineScene& scene, AllocationId id, const QColor& inner, const QColor& outer)
{
    if (!scene.replay || !scene.picture || !valid(id)
        || index(id) >= scene.replay->timeline.allocations().count())
        return {scene.picture, {}, {}};
    const Outliner outliner(scene, id);
    if (outliner.empty())
        return {scene.picture, {}, {}};
    return outliner.draw(inner, outer, std::max(1, static_cast<int>(std::lround(scene.ratio))));
}

} // namespace tidemark
