// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/layout/segment_layout.hpp"

#include "model/core/units.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace tidemark {

namespace {

/// A part of a segment on one row, in bytes from the row's and from the segment's start.
struct Part {
    std::uint32_t row = 0;
    std::uint64_t at = 0;
    std::uint32_t segment = 0;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
};

/// Sums and products of sizes from a file, which may be absurd: at most the largest number.
std::uint64_t plus(std::uint64_t a, std::uint64_t b)
{
    return a + std::min(b, ~a);
}
std::uint64_t times(std::uint64_t a, std::uint64_t b)
{
    return b != 0 && a > ~std::uint64_t{0} / b ? ~std::uint64_t{0} : a * b;
}
std::string bytesText(std::uint64_t bytes)
{
    return formatBytes(
        static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, std::numeric_limits<std::int64_t>::max())));
}

/// What stands under one header.
struct Section {
    std::vector<std::uint32_t> segments;
    std::uint64_t bytes = 0;
    bool small = false;
};

bool wanted(const SegmentView& view, const MapOptions& options)
{
    return (!options.withHoles || view.freeBytes > 0) && (!options.pool || view.pool == *options.pool)
        && (!options.stream || view.stream == *options.stream) && view.size > 0;
}

void sortSegments(std::vector<std::uint32_t>& list, const SegmentState& state, MapOrder order)
{
    const auto by = [&](auto key) {
        std::sort(list.begin(), list.end(), [&](std::uint32_t a, std::uint32_t b) {
            const SegmentView& l = state.segments[a];
            const SegmentView& r = state.segments[b];
            return std::tuple(key(l), l.address, a) < std::tuple(key(r), r.address, b);
        });
    };
    switch (order) {
    case MapOrder::Size:
        return by([](const SegmentView& v) { return ~v.size; });
    case MapOrder::Address:
        return by([](const SegmentView&) { return 0; });
    case MapOrder::Age:
        return by([](const SegmentView& v) { return v.since; });
    case MapOrder::FreeBytes:
        return by([](const SegmentView& v) { return ~v.freeBytes; });
    }
}

/// Up to the next of 4, 5, 6, 7 times a power of two, at least 2 MiB: scales people can read.
std::uint64_t rounded(std::uint64_t bytes)
{
    std::uint64_t step = 1ULL << 19;
    while (step * 8 < bytes && step < (1ULL << 60))
        step *= 2;
    return std::max<std::uint64_t>((bytes + step - 1) / step * step, 2ULL << 20);
}

/// The size half of all bytes are in segments at least as large as.
std::uint64_t typicalSize(const std::vector<std::uint64_t>& descending, std::uint64_t total)
{
    std::uint64_t sum = 0;
    for (const std::uint64_t size : descending) {
        sum = plus(sum, size);
        if (sum >= total - sum)
            return size;
    }
    return 0;
}

/// The largest size that is no exception: it occurs several times, or a tenth of all bytes has it.
std::uint64_t commonSize(const std::vector<std::uint64_t>& descending, std::uint64_t total)
{
    constexpr std::size_t several = 4;
    for (std::size_t i = 0; i < descending.size();) {
        std::size_t next = i;
        while (next < descending.size() && descending[next] == descending[i])
            ++next;
        if (next - i >= several || times(descending[i], next - i) >= total / 10)
            return descending[i];
        i = next;
    }
    return descending.empty() ? 0 : descending.front();
}

std::uint64_t chooseBytesPerRow(const std::vector<std::uint64_t>& descending, MapLayout layout)
{
    std::uint64_t total = 0;
    for (const std::uint64_t size : descending)
        total = plus(total, size);
    if (total == 0)
        return rounded(0);
    if (layout == MapLayout::Rows) {
        // A giant among small ones takes several rows instead of making them invisible.
        constexpr std::uint64_t longestRow = 16;
        const std::uint64_t typical = typicalSize(descending, total);
        return descending.front() / longestRow > typical ? times(typical, longestRow) : descending.front();
    }
    constexpr std::uint64_t segmentsPerRow = 5;
    constexpr std::uint64_t mostRows = 40;
    constexpr std::uint64_t fewestRows = 8;
    const std::uint64_t row = times(commonSize(descending, total), segmentsPerRow);
    if (row >= total / mostRows && row <= total / fewestRows)
        return row;
    return rounded(std::clamp(row, total / mostRows, total / fewestRows));
}

/// Puts a section's segments on rows that begin at `firstRow`.
class RowFiller {
public:
    RowFiller(const SegmentState& state, std::uint64_t bytesPerRow, std::vector<Part>& parts,
        std::uint32_t firstRow)
        : m_state(state)
        , m_perRow(bytesPerRow)
        , m_parts(parts)
        , m_firstRow(firstRow)
    { }

    /// `list` is in drawing order; with `fillGaps` a segment goes to the first row that has room for it.
    std::uint32_t fill(const std::vector<std::uint32_t>& list, bool fillGaps, bool ownRows)
    {
        std::uint64_t smallest = ~std::uint64_t{0};
        for (const std::uint32_t s : list)
            smallest = std::min(smallest, m_state.segments[s].size);
        std::size_t open = 0;
        for (const std::uint32_t s : list) {
            const std::uint64_t size = m_state.segments[s].size;
            if (ownRows || size > m_perRow) {
                newRows(s, size);
                continue;
            }
            if (!fillGaps)
                open = m_used.empty() ? 0 : m_used.size() - 1;
            while (open < m_used.size() && m_perRow - m_used[open] < smallest)
                ++open;
            std::size_t row = open;
            while (row < m_used.size() && m_perRow - m_used[row] < size)
                ++row;
            if (row == m_used.size())
                m_used.push_back(0);
            add(row, s, 0, size);
        }
        return m_firstRow + static_cast<std::uint32_t>(m_used.size());
    }

private:
    void newRows(std::uint32_t segment, std::uint64_t size)
    {
        std::uint64_t length = 0;
        for (std::uint64_t from = 0; from < size; from += length) {
            length = std::min(m_perRow, size - from);
            m_used.push_back(0);
            add(m_used.size() - 1, segment, from, length);
        }
    }

    void add(std::size_t row, std::uint32_t segment, std::uint64_t from, std::uint64_t bytes)
    {
        m_parts.push_back(
            {m_firstRow + static_cast<std::uint32_t>(row), m_used[row], segment, from, from + bytes});
        m_used[row] += bytes;
    }

    const SegmentState& m_state;
    std::uint64_t m_perRow;
    std::vector<Part>& m_parts;
    std::uint32_t m_firstRow;
    std::vector<std::uint64_t> m_used;
};

std::string segmentsText(std::size_t count)
{
    return formatCount(static_cast<std::int64_t>(count)) + (count == 1 ? " segment" : " segments");
}

std::string smallTitle(const SegmentState& state, const Section& section)
{
    const std::uint64_t first = state.segments[section.segments.front()].size;
    const bool same = std::all_of(section.segments.begin(), section.segments.end(),
        [&](std::uint32_t s) { return state.segments[s].size == first; });
    return "small pool: " + segmentsText(section.segments.size()) + (same ? " of " : ", ")
        + bytesText(same ? first : section.bytes);
}

class MapMaker {
public:
    MapMaker(const Snapshot& snapshot, const SegmentState& state, const MapOptions& options)
        : m_snapshot(snapshot)
        , m_state(state)
        , m_options(options)
    { }

    MapPicture make()
    {
        collect();
        chooseScale();
        for (const auto& [key, sections] : m_groups) {
            std::size_t count = 0;
            std::uint64_t bytes = 0;
            for (const Section& section : sections) {
                count += section.segments.size();
                bytes = plus(bytes, section.bytes);
            }
            if (m_groups.size() > 1)
                header(streamName(m_snapshot, key.stream) + " · " + poolName(m_snapshot, key.pool) + " · "
                    + segmentsText(count) + " · " + bytesText(bytes));
            for (const Section& section : sections)
                place(section);
        }
        m_picture.height = m_y;
        return std::move(m_picture);
    }

private:
    /// Default pool before private ones, more reserved bytes before fewer.
    struct GroupKey {
        bool privatePool = false;
        std::uint64_t lessBytes = 0;
        PoolId pool{};
        StreamId stream{};
        auto operator<=>(const GroupKey&) const = default;
    };

    void collect()
    {
        std::map<std::pair<PoolId, StreamId>, std::vector<Section>> groups;
        for (std::uint32_t s = 0; s < m_state.segments.size(); ++s) {
            const SegmentView& view = m_state.segments[s];
            if (!wanted(view, m_options))
                continue;
            auto& sections = groups[{view.pool, view.stream}];
            sections.resize(2);
            Section& section = sections[view.kind == SegmentKind::Small ? 1 : 0];
            section.segments.push_back(s);
            section.bytes = plus(section.bytes, view.size);
            section.small = view.kind == SegmentKind::Small;
        }
        for (auto& [owner, sections] : groups) {
            const std::uint64_t bytes = plus(sections[0].bytes, sections[1].bytes);
            std::erase_if(sections, [](const Section& section) { return section.segments.empty(); });
            for (Section& section : sections)
                sortSegments(section.segments, m_state, m_options.order);
            m_groups.emplace(
                GroupKey{owner.first != PoolId{}, ~bytes, owner.first, owner.second}, std::move(sections));
        }
    }

    void chooseScale()
    {
        double total = 0; // may be more than 64 bits hold
        for (const auto& [key, sections] : m_groups) {
            for (const Section& section : sections)
                for (const std::uint32_t s : section.segments)
                    total += static_cast<double>(m_state.segments[s].size);
        }
        m_perRow = m_options.bytesPerRow;
        if (m_perRow == 0) {
            // The small pool does not set the scale unless there is nothing else.
            std::vector<std::uint64_t> sizes;
            std::vector<std::uint64_t> smallSizes;
            for (const auto& [key, sections] : m_groups) {
                for (const Section& section : sections)
                    for (const std::uint32_t s : section.segments)
                        (section.small ? smallSizes : sizes).push_back(m_state.segments[s].size);
            }
            if (sizes.empty())
                sizes.swap(smallSizes);
            std::sort(sizes.rbegin(), sizes.rend());
            m_perRow = chooseBytesPerRow(sizes, m_options.layout);
        }
        // However far one zooms, a nonsense segment must not become millions of rows; nor one of a small
        // pool, which does not count above.
        constexpr double mostRows = 65536;
        constexpr std::uint64_t longest = 1ULL << 62;
        const double least = total / mostRows;
        m_perRow = std::max(
            m_perRow, least < static_cast<double>(longest) ? static_cast<std::uint64_t>(least) : longest);
        m_picture.bytesPerRow = m_perRow;
        m_pixelsPerByte
            = std::max(0.0, m_options.width - m_options.labelWidth) / static_cast<double>(m_perRow);
    }

    void header(std::string text)
    {
        m_picture.headers.push_back({m_y, std::move(text)});
        m_y += m_options.headerHeight;
    }

    void place(const Section& section)
    {
        if (section.small)
            header(smallTitle(m_state, section));
        std::vector<Part> parts;
        RowFiller filler(m_state, m_perRow, parts, 0);
        const std::uint32_t rows = filler.fill(
            section.segments, m_options.order == MapOrder::Size, m_options.layout == MapLayout::Rows);
        std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return std::tuple(a.row, a.at) < std::tuple(b.row, b.at); });
        for (const Part& part : parts)
            draw(part);
        m_y += rows * (m_options.rowHeight + m_options.rowGap);
    }

    void draw(const Part& part)
    {
        const SegmentView& view = m_state.segments[part.segment];
        const double y = m_y + part.row * (m_options.rowHeight + m_options.rowGap);
        const auto xOf = [&](std::uint64_t offset) {
            return m_options.labelWidth
                + static_cast<double>(part.at + (offset - part.from)) * m_pixelsPerByte;
        };
        const double left = xOf(part.from);
        m_picture.frames.push_back({left, y, xOf(part.to) - left, m_options.rowHeight, part.segment,
            part.from > 0, part.to < view.size});
        const auto pieces = m_state.pieces.begin();
        const auto end = pieces + view.firstPiece + view.pieceCount;
        auto piece = std::partition_point(pieces + view.firstPiece, end,
            [&](const Piece& p) { return p.address - view.address + p.size <= part.from; });
        for (; piece != end; ++piece) {
            const std::uint64_t start = piece->address - view.address;
            if (start >= part.to)
                break;
            if (piece->size == 0)
                continue;
            const std::uint64_t from = std::max(start, part.from);
            const std::uint64_t to = std::min(start + piece->size, part.to);
            const double x = xOf(from);
            m_picture.boxes.push_back({x, y, xOf(to) - x, m_options.rowHeight, part.segment,
                static_cast<std::uint32_t>(piece - pieces), start<part.from, start + piece->size> part.to});
        }
    }

    const Snapshot& m_snapshot;
    const SegmentState& m_state;
    const MapOptions& m_options;
    std::map<GroupKey, std::vector<Section>> m_groups;
    MapPicture m_picture;
    std::uint64_t m_perRow = 1;
    double m_pixelsPerByte = 0;
    double m_y = 0;
};

} // namespace

MapPicture layoutSegments(const Snapshot& snapshot, const SegmentState& state, const MapOptions& options)
{
    return MapMaker(snapshot, state, options).make();
}

std::optional<std::size_t> boxAt(const MapPicture& picture, double x, double y)
{
    const auto& boxes = picture.boxes;
    const auto below
        = std::partition_point(boxes.begin(), boxes.end(), [&](const MapBox& b) { return b.y <= y; });
    if (below == boxes.begin())
        return std::nullopt;
    const double row = (below - 1)->y;
    const auto right = std::partition_point(
        boxes.begin(), below, [&](const MapBox& b) { return b.y < row || (b.y == row && b.x <= x); });
    if (right == boxes.begin())
        return std::nullopt;
    const MapBox& box = *(right - 1);
    if (box.y != row || y >= box.y + box.height || x >= box.x + box.width)
        return std::nullopt;
    return static_cast<std::size_t>(right - 1 - boxes.begin());
}

} // namespace tidemark
