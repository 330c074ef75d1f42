// SPDX-License-Identifier: GPL-3.0-or-later
// usage: bench_two_runs A [B]
// How long comparing two files takes once they are loaded: the whole, an alignment, a picture of the curves.
#include "model/compare/comparison.hpp"
#include "model/compare/curves.hpp"

#include <chrono>
#include <cstdio>

using namespace tidemark;
using namespace tidemark::compare;

namespace {

template <typename Work>
void timed(const char* what, Work work)
{
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    std::printf("%-28s %8.1f ms\n", what, took.count());
}

Side open(const char* path)
{
    auto rank = openRank(path, {}, {});
    if (!rank) {
        std::fprintf(stderr, "%s: %s\n", path, rank.error().message.c_str());
        std::exit(1);
    }
    Side side;
    side.rank = *rank;
    side.device = side.rank->mainDevice();
    return side;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 2)
        return 2;
    Side a = open(argv[1]);
    Side b = open(argv[argc > 2 ? 2 : 1]);
    std::printf("events %u and %u\n", a.replay().states() - 1, b.replay().states() - 1);
    timed("phases and labels of A", [&] { a = prepared(a, {}); });
    timed("phases and labels of B", [&] { b = prepared(b, {}); });
    std::shared_ptr<const Comparison> comparison;
    timed("comparison", [&] { comparison = compareSides(a, b, {}, {}); });
    for (std::size_t i = 0; i < alignments; ++i) {
        Alignment alignment;
        const auto by = static_cast<AlignBy>(i);
        timed(alignName(by), [&] { alignment = Alignment::build(a, b, by); });
        for (const std::size_t width : {1600U, 1600U})
            timed("  1600 columns",
                [&] { curveColumns(alignment, Curve::Live, 0, alignment.length(), width); });
        timed("  a tenth of it", [&] {
            curveColumns(alignment, Curve::Live, alignment.length() * 0.4, alignment.length() * 0.5, 1600);
        });
    }
    timed("table at two states",
        [&] { tableAt(a, b, *comparison->matching, a.replay().states() / 2, b.replay().states() / 2); });
    timed("by stack", [&] { Matching::build(a, b, GroupBy::Stack, {}); });
    std::printf("%s", compareText(*comparison).c_str());
    return 0;
}
