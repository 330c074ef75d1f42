// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/timeline/stack_picture.hpp"

#include "model/core/parallel.hpp"
#include "widgets/style/pattern.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace tidemark {

namespace {

constexpr double edgeShare = 0.30; // of the plot's ground in a lit top edge
constexpr double waitingShare = 0.80; // of the halo in a waiting line
constexpr double stripeShare = 0.55; // of black or white in a stripe of the finding shown
constexpr double edgeFromHeight = 4; // logical pixels
constexpr double underlineFromHeight = 6;

bool sameWindow(const TimelineWindow& a, const TimelineWindow& b)
{
    return a.sameAxis(b) && a.left == b.left && a.right == b.right && a.bottom == b.bottom && a.top == b.top
        && a.width == b.width && a.height == b.height;
}

// Looks of one slot, every variant mixed beforehand.
struct SlotLook {
    QRgb fill;
    QRgb edge;
    QRgb waiting;
    QRgb underline;
    QRgb stripe; // what stripes are mixed with
    std::array<QRgb, 256> hatched;
};

SlotLook lookOf(QRgb fill, QRgb hatch, const StackInk& ink)
{
    SlotLook look{};
    look.fill = fill;
    look.edge = mixed(fill, ink.plot, edgeShare);
    look.waiting = mixed(fill, ink.halo, waitingShare);
    look.underline = ink.ink;
    look.stripe = textOn(fill);
    for (int i = 0; i < 256; ++i)
        look.hatched[static_cast<std::size_t>(i)] = mixed(fill, hatch, i / 255.0);
    return look;
}

class Colourist {
public:
    Colourist(const TimelineImage& layout, const StackRequest& request)
        : m_image(layout.image)
        , m_slots(request.colouring->slotOf)
        , m_keep(request.keep.get())
        , m_striped(request.striped.get())
        , m_predating(request.source->predatingCount())
        , m_underline(request.underline)
        , m_edgeRun(std::max(2, static_cast<int>(std::lround(edgeFromHeight * request.ink.ratio))))
        , m_underlineRun(static_cast<int>(std::lround(underlineFromHeight * request.ink.ratio)))
    {
        const StackInk& ink = request.ink;
        const QRgb fadedHatch = mixed(ink.hatch, ink.plot, 0.6);
        for (std::size_t s = 0; s < colourSlot::count; ++s) {
            m_looks[0][s] = lookOf(ink.fill[s], ink.hatch, ink);
            m_looks[1][s] = lookOf(ink.faded[s], fadedHatch, ink);
        }
        // Every pattern depends on one coordinate alone, so a row of samples holds it.
        m_diagonal.resize(static_cast<std::size_t>(m_image.width + m_image.height));
        for (std::size_t i = 0; i < m_diagonal.size(); ++i)
            m_diagonal[i] = static_cast<std::uint8_t>(
                patternInk(Pattern::Predating, static_cast<int>(i), 0, ink.ratio));
        m_falling.resize(m_diagonal.size());
        for (std::size_t i = 0; i < m_falling.size(); ++i)
            m_falling[i] = static_cast<std::uint8_t>(
                patternInk(Pattern::Finding, static_cast<int>(i) - m_image.height, 0, ink.ratio));
        m_vertical.resize(static_cast<std::size_t>(m_image.width));
        for (std::size_t i = 0; i < m_vertical.size(); ++i)
            m_vertical[i]
                = static_cast<std::uint8_t>(patternInk(Pattern::Waiting, static_cast<int>(i), 0, ink.ratio));
    }

    void row(int y, QRgb* out) const
    {
        const auto width = static_cast<std::size_t>(m_image.width);
        const std::size_t start = static_cast<std::size_t>(y) * width;
        const std::uint32_t* ids = m_image.ids.data() + start;
        std::uint32_t last = pixel::empty;
        const SlotLook* look = nullptr;
        bool faded = false;
        bool striped = false;
        for (std::size_t x = 0; x < width; ++x) {
            const std::uint32_t id = ids[x];
            if (id == pixel::empty) {
                out[x] = 0;
                continue;
            }
            if (id != last) {
                last = id;
                faded = m_keep && !(*m_keep)[id];
                striped = m_striped && (*m_striped)[id];
                look = &m_looks[faded ? 1 : 0][std::min<std::size_t>(m_slots[id], colourSlot::count - 1)];
            }
            out[x] = colour(*look, faded, id, static_cast<int>(x), y, start + x);
            if (striped)
                out[x] = withStripe(*look, out[x], static_cast<int>(x) - y + m_image.height);
        }
    }

private:
    QRgb withStripe(const SlotLook& look, QRgb plain, int diagonal) const
    {
        const std::uint8_t ink = m_falling[static_cast<std::size_t>(diagonal)];
        return ink ? mixed(plain, look.stripe, stripeShare * ink / 255.0) : plain;
    }
    QRgb colour(const SlotLook& look, bool faded, std::uint32_t id, int x, int y, std::size_t at) const
    {
        if (id < m_predating) {
            const std::uint8_t ink = m_diagonal[static_cast<std::size_t>(x + y)];
            return ink ? look.hatched[ink] : look.fill;
        }
        if (m_image.waiting[at] && m_vertical[static_cast<std::size_t>(x)])
            return look.waiting;
        if (startsRun(id, x, y))
            return look.edge;
        if (m_underline && !faded && endsRun(id, x, y))
            return look.underline;
        return look.fill;
    }
    bool is(std::uint32_t id, int x, int y) const
    {
        return y >= 0 && y < m_image.height && m_image.at(x, y) == id;
    }
    bool startsRun(std::uint32_t id, int x, int y) const
    {
        if (is(id, x, y - 1))
            return false;
        for (int k = 1; k < m_edgeRun; ++k)
            if (!is(id, x, y + k))
                return false;
        return true;
    }
    bool endsRun(std::uint32_t id, int x, int y) const
    {
        if (is(id, x, y + 1))
            return false;
        for (int k = 1; k < m_underlineRun; ++k)
            if (!is(id, x, y - k))
                return false;
        return true;
    }

    const IdImage& m_image;
    const std::vector<std::uint8_t>& m_slots;
    const std::vector<std::uint8_t>* m_keep;
    const std::vector<std::uint8_t>* m_striped;
    std::uint32_t m_predating;
    bool m_underline;
    int m_edgeRun;
    int m_underlineRun;
    std::array<std::array<SlotLook, colourSlot::count>, 2> m_looks{};
    std::vector<std::uint8_t> m_diagonal;
    std::vector<std::uint8_t> m_falling;
    std::vector<std::uint8_t> m_vertical;
};

} // namespace

StackInk StackInk::of(const Theme& theme, bool sequential, double ratio)
{
    StackInk ink;
    ink.fill = theme.slotTable(sequential);
    for (std::size_t s = 0; s < ink.fill.size(); ++s)
        ink.faded[s] = theme.faded(ink.fill[s]);
    ink.plot = theme.rgb(Tone::Plot);
    ink.hatch = theme.rgb(Tone::Hatch);
    ink.halo = theme.rgb(Tone::Halo);
    ink.ink = theme.rgb(Tone::Ink);
    ink.ratio = ratio;
    return ink;
}

bool StackRequest::sameLayout(const StackRequest& other) const
{
    const bool sameGroups = order == StackOrder::Age || colouring == other.colouring;
    return source == other.source && order == other.order && sameGroups && sameWindow(window, other.window);
}

bool StackRequest::operator==(const StackRequest& other) const
{
    return sameLayout(other) && colouring == other.colouring && ink == other.ink && keep == other.keep
        && underline == other.underline && striped == other.striped;
}

QImage colourStack(const TimelineImage& layout, const StackRequest& request, const Job& job)
{
    const IdImage& image = layout.image;
    QImage pixels(image.width, image.height, QImage::Format_ARGB32_Premultiplied);
    const Colourist colourist(layout, request);
    if (pixels.isNull())
        return pixels;
    // Not scanLine: every part would ask whether the image is shared.
    uchar* const bits = pixels.bits();
    const qsizetype stride = pixels.bytesPerLine();
    constexpr std::size_t rowsAPart = 128;
    constexpr std::size_t mostThreads = 4;
    std::atomic<bool> stopped = false;
    inParts(static_cast<std::size_t>(image.height), rowsAPart, mostThreads,
        [&](std::size_t first, std::size_t end) {
            for (std::size_t y = first; y < end; ++y) {
                if (job.stopped()) {
                    stopped = true;
                    return;
                }
                colourist.row(
                    static_cast<int>(y), reinterpret_cast<QRgb*>(bits + static_cast<qsizetype>(y) * stride));
            }
        });
    return stopped ? QImage() : pixels;
}

std::shared_ptr<const StackPicture> drawStack(
    const StackRequest& request, const std::shared_ptr<const StackPicture>& last, const Job& job)
{
    auto picture = std::make_shared<StackPicture>();
    picture->request = request;
    if (last && last->request.sameLayout(request))
        picture->layout = last->layout;
    else
        picture->layout = request.source->layout(request.colouring, request.order, request.window, job);
    if (!picture->layout)
        return nullptr;
    picture->pixels = colourStack(*picture->layout, request, job);
    if (picture->pixels.isNull())
        return nullptr;
    return picture;
}

} // namespace tidemark
