// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/timeline/timeline_scene.hpp"

#include "widgets/common/axis_position.hpp"
#include "widgets/style/text.hpp"

#include <QCoreApplication>
#include <QFontMetricsF>

#include <algorithm>
#include <cmath>

namespace tidemark {

namespace {

constexpr double airAbove = 1.075;
constexpr double capacityNear = 1.25; // above this share of the highest curve the capacity stays out of range
constexpr double emptyTop = 1 << 20;

QString tr(const char* text)
{
    return QCoreApplication::translate("Timeline", text);
}

} // namespace

TimelineScene::TimelineScene(Session& theSession, ViewState& theState, Style& theStyle)
    : session(theSession)
    , state(theState)
    , style(theStyle)
{ }

void TimelineScene::open()
{
    rank = session.rank();
    replay = session.replay();
    source.reset();
    colouring.reset();
    picture.reset();
    selected = {};
    hovered = {};
    openNote.reset();
    rubber.reset();
    columns.clear();
    m_overview.clear();
    peaks.clear();
    peakBytes.clear();
    peak = 0;
    if (replay)
        source = replaySource(replay);
    else if (rank)
        source = categorySource(rank->snapshot);
    if (source) {
        peak = source->requested().total().maxState;
        peaks = replay ? replay->timeline.localPeaks() : std::vector<StateIndex>{peak};
        for (const StateIndex at : peaks)
            peakBytes.push_back(source->requested().at(at));
    }
    followDiagnosis();
    followPrediction();
    buildPools();
    recolour();
    wholeY();
}

void TimelineScene::recolour()
{
    if (!source)
        return;
    colouring = replay ? session.colouring(state.colourBy()) : categoryColouring(*rank->snapshot->categories);
}

void TimelineScene::buildPools()
{
    pools.clear();
    if (!replay)
        return;
    const auto strip = [&](PoolId id) -> PoolStrip& {
        const auto found
            = std::find_if(pools.begin(), pools.end(), [&](const PoolStrip& s) { return s.pool == id; });
        return found != pools.end() ? *found : pools.emplace_back(PoolStrip{id, nullptr, nullptr, 0});
    };
    const auto isPrivate = [&](PoolId id) {
        const auto& names = replay->snapshot->pools;
        return valid(id) && index(id) < names.size()
            && names[index(id)] != std::pair<std::int64_t, std::int64_t>{};
    };
    if (replay->segments.known())
        for (const auto& [id, series] : replay->segments.reservedByPool())
            if (isPrivate(id)) {
                PoolStrip& s = strip(id);
                s.reserved = &series;
                s.most = std::max(s.most, series.total().max);
            }
    for (const auto& [id, series] : replay->requestedByPool)
        if (isPrivate(id)) {
            PoolStrip& s = strip(id);
            s.live = &series;
            s.most = std::max(s.most, series.total().max);
        }
    std::stable_sort(
        pools.begin(), pools.end(), [](const PoolStrip& a, const PoolStrip& b) { return a.most > b.most; });
}

double TimelineScene::wholeTop() const
{
    if (!source)
        return emptyTop;
    std::int64_t most = std::max(source->requested().total().max, session.sharedHeight());
    if (source->reserved() && options.reserved)
        most = std::max(most, source->reserved()->total().max);
    if (source->allocated() && options.allocated)
        most = std::max(most, source->allocated()->total().max);
    if (replay)
        for (const OomEvent& oom : replay->device().ooms)
            most = std::max(most,
                source->requested().at(stateOf(static_cast<Moment>(index(oom.event))))
                    + std::clamp<std::int64_t>(oom.requested.value_or(0), 0, most));
    if (predicted.bytes)
        most = std::max(most, predicted.bytes->total().max);
    if (predicted.reserved)
        most = std::max(most, predicted.reserved->total().max);
    const auto capacity = session.capacity();
    double highest = static_cast<double>(most);
    if (capacity && static_cast<double>(*capacity) <= highest * capacityNear)
        highest = std::max(highest, static_cast<double>(*capacity));
    return highest > 0 ? highest * airAbove : emptyTop;
}

void TimelineScene::wholeY()
{
    bottom = 0;
    top = wholeTop();
}

void TimelineScene::fitY()
{
    if (columns.empty())
        return;
    std::int64_t most = 0;
    for (const ColumnInfo& column : columns) {
        most = std::max(most, column.max);
        if (options.reserved && source->reserved())
            most = std::max(most, source->reserved()->extremes(column.first, column.last).max);
        if (predicted.bytes)
            most = std::max(most, predicted.bytes->extremes(column.first, column.last).max);
        if (predicted.reserved)
            most = std::max(most, predicted.reserved->extremes(column.first, column.last).max);
    }
    bottom = 0;
    top = most > 0 ? static_cast<double>(most) * airAbove : emptyTop;
}

int TimelineScene::labelWidth(const TimelineParts& parts) const
{
    const QFontMetricsF metrics(style.font(FontRole::Small));
    double width = metrics.horizontalAdvance(QStringLiteral("999 GiB"));
    const auto make = [&](const QString& text) { width = std::max(width, metrics.horizontalAdvance(text)); };
    if (parts.lanes)
        for (const Lane& lane : lanes)
            make(lane.title);
    if (parts.finding)
        make(tr("finding"));
    if (parts.pools)
        for (const PoolStrip& strip : pools)
            make(QString::fromStdString(poolName(*replay->snapshot, strip.pool)));
    // About as many ticks as the plot will have; its height is not known yet.
    for (const AxisTick& tick : byteTicks(bottom, top, 10))
        make(tick.text);
    return static_cast<int>(std::ceil(width));
}

void TimelineScene::prepareFrame(QSize size, double deviceRatio)
{
    ratio = deviceRatio;
    scale = XScale(source, state.axis(), axisKnots(session, state.axis()));
    TimelineParts parts;
    parts.lanes = options.lanes ? static_cast<int>(lanes.size()) : 0;
    parts.finding = options.lanes && finding.bytes && !empty();
    parts.pools = empty() ? 0 : static_cast<int>(pools.size());
    parts.legend = colouring && !colouring->legend.empty() && !empty();
    parts.overview = source && !empty();
    parts.labelWidth = labelWidth(parts);
    geometry = TimelineGeometry::of(size, parts, style.metrics());
    columns.clear();
    xTicks.clear();
    yTicks = byteTicks(bottom, top, std::max(2, geometry.plot.height() / style.metrics().px(38)));
    if (!source || empty())
        return;
    columns = source->columns(window());
    const int most = std::max(1, geometry.plot.width() / style.metrics().px(scale.time() ? 92 : 82));
    const XWindow& w = state.window();
    const std::int64_t first = replay ? replay->device().firstEventInFile : 0;
    if (scale.knots())
        xTicks = scale.axis() == XAxis::Aligned
            ? namedTicks(*scale.knots(), w.left, w.right, most)
            : stepTicks(*scale.knots(), *session.phases(), w.left, w.right, most);
    else
        xTicks = scale.time() ? timeTicks(w.left, w.right, most)
                              : eventTicks(w.left, w.right, source->states(), first, most);
}

QColor TimelineScene::dimming() const
{
    // Darker in both looks; a dark plot shows a veil only when it is denser.
    const bool dark = style.theme().isDark();
    QColor veil = style.color(dark ? Tone::Halo : Tone::Ink);
    veil.setAlphaF(dark ? 0.45F : 0.12F);
    return veil;
}

TimelineWindow TimelineScene::window() const
{
    TimelineWindow w;
    w.timeAxis = scale.time();
    w.knots = scale.knots();
    w.left = state.window().left;
    w.right = state.window().right;
    w.bottom = bottom;
    w.top = top;
    w.width = std::max(1, static_cast<int>(std::lround(geometry.plot.width() * ratio)));
    w.height = std::max(1, static_cast<int>(std::lround(geometry.plot.height() * ratio)));
    return w;
}

double TimelineScene::xPixel(double x) const
{
    const XWindow& w = state.window();
    return geometry.plot.left() + (x - w.left) / (w.right - w.left) * geometry.plot.width();
}

double TimelineScene::xAt(double pixel) const
{
    const XWindow& w = state.window();
    return w.left + (pixel - geometry.plot.left()) / geometry.plot.width() * (w.right - w.left);
}

double TimelineScene::yPixel(double bytes) const
{
    return geometry.plot.top() + (top - bytes) / (top - bottom) * geometry.plot.height();
}

double TimelineScene::bytesAt(double pixel) const
{
    return top - (pixel - geometry.plot.top()) / geometry.plot.height() * (top - bottom);
}

double TimelineScene::bytesPerRow() const
{
    return (top - bottom) / window().height;
}

std::optional<std::size_t> TimelineScene::columnAt(double pixel) const
{
    const double offset = (pixel - geometry.plot.left()) * ratio;
    if (columns.empty() || offset < 0 || offset >= static_cast<double>(columns.size()))
        return std::nullopt;
    return static_cast<std::size_t>(offset);
}

double TimelineScene::columnX(std::size_t column) const
{
    return geometry.plot.left() + static_cast<double>(column) / ratio;
}

StateIndex TimelineScene::stateShownAt(double pixel) const
{
    if (columns.empty())
        return scale.stateAt(xAt(pixel));
    const double offset = (pixel - geometry.plot.left()) * ratio;
    const double last = static_cast<double>(columns.size() - 1);
    return columns[static_cast<std::size_t>(std::clamp(offset, 0.0, last))].shown;
}

double TimelineScene::snapped(double logical) const
{
    return std::round(logical * ratio) / ratio;
}

std::uint32_t TimelineScene::idAt(const QPointF& pos) const
{
    if (!picture || !QRectF(geometry.plot).contains(pos))
        return pixel::empty;
    const TimelineWindow& w = picture->request.window;
    if (!scale.draws(w))
        return pixel::empty;
    const double x = (xAt(pos.x()) - w.left) / (w.right - w.left) * w.width;
    const double y = (w.top - bytesAt(pos.y())) / (w.top - w.bottom) * w.height;
    if (x < 0 || y < 0 || x >= w.width || y >= w.height)
        return pixel::empty;
    return picture->layout->image.at(static_cast<int>(x), static_cast<int>(y));
}

QString TimelineScene::stateNumber(StateIndex s) const
{
    if (categories())
        return countText(static_cast<std::int64_t>(s));
    if (s == 0)
        return tr("start");
    return countText(momentOf(s) + static_cast<std::int64_t>(replay->device().firstEventInFile));
}

QString TimelineScene::stateName(StateIndex s) const
{
    if (categories())
        return tr("row %1").arg(stateNumber(s));
    return s == 0 ? tr("before the first event") : tr("event %1").arg(stateNumber(s));
}

QString TimelineScene::stateTime(StateIndex s) const
{
    return source && source->hasTimes() ? offsetText(static_cast<std::int64_t>(source->timeOf(s)))
                                        : QString();
}

QString TimelineScene::idName(std::uint32_t id) const
{
    if (categories())
        return QString::fromStdString(categoryTitle(id));
    return shownText(allocationSite(*replay, *session.sites(), AllocationId{id}));
}

const std::vector<std::int64_t>& TimelineScene::overviewColumns() const
{
    const auto width = static_cast<std::size_t>(std::max(1, geometry.overview.width()));
    if (m_overview.size() == width && m_overviewAxis == scale.axis() && m_overviewKnots == scale.knots())
        return m_overview;
    TimelineWindow w;
    const XWindow all = scale.whole();
    w.timeAxis = scale.time();
    w.knots = scale.knots();
    w.left = all.left;
    w.right = all.right;
    w.width = static_cast<int>(width);
    m_overview.clear();
    for (const ColumnInfo& column : source->columns(w))
        m_overview.push_back(column.max);
    m_overviewAxis = scale.axis();
    m_overviewKnots = scale.knots();
    return m_overview;
}

QRectF TimelineScene::flagClearing(const QRectF& flag) const
{
    QRectF clearing;
    const QFontMetricsF metrics(style.font(FontRole::Small));
    for (const AxisTick& tick : xTicks) {
        const double width = metrics.horizontalAdvance(tick.text) + 4;
        const QRectF label(xPixel(tick.value) - width / 2, flag.top() + 1, width, flag.height() + 2);
        if (label.adjusted(-3, 0, 3, 0).intersects(flag))
            clearing |= label;
    }
    return clearing;
}

double TimelineScene::predatingTop(double pixel) const
{
    const double base = std::min<double>(geometry.plot.bottom(), yPixel(0));
    const std::uint32_t count = source ? source->predatingCount() : 0;
    double y = base;
    while (y > geometry.plot.top() && idAt({pixel, y - 1}) < count)
        y -= 1;
    return y;
}

bool TimelineScene::legendChosen(int item) const
{
    const Selection& selection = state.selection();
    const LegendItem& entry = colouring->legend[static_cast<std::size_t>(item)];
    return replay && selection.kind == Selection::Kind::Group && selection.group == entry.group && groupKind()
        && selection.groupBy == *groupKind();
}

std::optional<GroupBy> TimelineScene::groupKind() const
{
    if (!replay || !colouring)
        return std::nullopt;
    switch (colouring->by) {
    case ColourBy::Site:
        return GroupBy::Site;
    case ColourBy::Stream:
        return GroupBy::Stream;
    case ColourBy::Pool:
        return GroupBy::Pool;
    case ColourBy::Category:
        return GroupBy::Category;
    case ColourBy::Size:
        return GroupBy::Size;
    case ColourBy::Label:
        return GroupBy::Label;
    case ColourBy::Role:
        return GroupBy::Role;
    case ColourBy::Age:
    case ColourBy::SegmentKind:
        return std::nullopt;
    }
    return std::nullopt;
}

} // namespace tidemark
