// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of segments with absurd sizes: as many rows as can be shown, however large a segment claims to be.
#include "model/layout/segment_layout.hpp"

#include <QTest>

using namespace tidemark;

namespace {

constexpr std::uint64_t mib = 1ULL << 20;

/// One free piece each; addresses are of no matter to the layout.
SegmentState stateOf(const std::vector<std::pair<std::uint64_t, SegmentKind>>& segments)
{
    SegmentState state;
    for (const auto& [size, kind] : segments) {
        SegmentView view;
        view.address = 4096;
        view.size = view.freeBytes = size;
        view.kind = kind;
        view.firstPiece = static_cast<std::uint32_t>(state.pieces.size());
        view.pieceCount = 1;
        state.pieces.push_back({view.address, size, 0, AllocationId::none, PieceKind::Free, false});
        state.segments.push_back(view);
    }
    return state;
}

} // namespace

class TestHostileLayout : public QObject {
    Q_OBJECT
private slots:
    void rowsAreBounded_data()
    {
        using Segments = std::vector<std::pair<std::uint64_t, SegmentKind>>;
        constexpr auto large = SegmentKind::Large;
        constexpr auto small = SegmentKind::Small;
        constexpr std::uint64_t half = 1ULL << 63U;
        constexpr std::uint64_t most = ~std::uint64_t{0};
        const std::pair<const char*, Segments> rows[]{
            {"sums beyond 64 bits", {{half, large}, {half, large}, {2 * mib, large}}},
            {"sums beyond 64 bits by a little", {{most, large}, {20 * mib, large}}},
            {"many that are huge", Segments(64, {half - 1, large})},
            {"the largest number", {{most, large}}},
            {"a huge small segment", {{2 * mib, large}, {half, small}}},
            {"a huge small segment among many", {{1, large}, {most, small}, {most, small}}},
        };
        QTest::addColumn<int>("row");
        m_states.clear();
        for (const auto& [name, segments] : rows) {
            QTest::newRow(name) << static_cast<int>(m_states.size());
            m_states.push_back(stateOf(segments));
        }
    }

    void rowsAreBounded()
    {
        QFETCH(int, row);
        const SegmentState& state = m_states[static_cast<std::size_t>(row)];
        for (const MapLayout layout : {MapLayout::Flow, MapLayout::Rows})
            for (const MapOrder order : {MapOrder::Size, MapOrder::Address})
                for (const std::uint64_t perRow : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
                    MapOptions options;
                    options.layout = layout;
                    options.order = order;
                    options.bytesPerRow = perRow;
                    options.width = 500;
                    const MapPicture picture = layoutSegments({}, state, options);
                    QVERIFY(picture.frames.size() >= state.segments.size());
                    QVERIFY(picture.frames.size() <= 65537 * 2 + state.segments.size());
                    for (const MapHeader& header : picture.headers)
                        QVERIFY2(header.text.find("-") == std::string::npos
                                && header.text.find("−") == std::string::npos,
                            header.text.c_str());
                }
    }

private:
    std::vector<SegmentState> m_states;
};

QTEST_GUILESS_MAIN(TestHostileLayout)
#include "tst_hostile_layout.moc"
