// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/cache/packed_file.hpp"
#include "model/replay/replay.hpp"
#include "model/snapshot/snapshot.hpp"

#include <vector>

namespace tidemark {

/// Knows the insides of what is kept in the cache. `Io` is a PackedWriter or a PackedReader: one list of
/// fields for both, so that they cannot differ.
class CacheAccess {
public:
    template <typename Io>
    static void file(Io& io, Snapshot& s);
    template <typename Io>
    static void replay(Io& io, Replay& r, DeviceTrace& device, const Snapshot& s);

    /// Whether every index lies in what it points into.
    static bool fits(const Snapshot& s);
    static bool fits(const Replay& r, const DeviceTrace& device, const Snapshot& s);
    /// Makes what is quick to make.
    static void finish(Replay& r, const DeviceTrace& device);

private:
    template <typename Io>
    static void tables(Io& io, Snapshot& s);
    template <typename Io>
    static void source(Io& io, Snapshot& s);
    template <typename Io>
    static void device(Io& io, DeviceTrace& d);
    template <typename Io>
    static void note(Io& io, QualityNote& n);
    template <typename Io>
    static void series(Io& io, Series& series, StateIndex states);
    template <typename Io>
    static void events(Io& io, EventColumns& e, const Timeline& t);
    template <typename Io, typename T, typename Expected>
    static void alike(Io& io, std::vector<T>& column, std::size_t rows, const Expected& expected);
    template <typename Io>
    static void timeline(Io& io, Timeline& t);
    template <typename Io>
    static void segments(Io& io, SegmentHistory& h, StateIndex states);
    template <typename Io, typename Key>
    static void split(Io& io, std::vector<std::pair<Key, Series>>& all, const Series& whole);
    static bool fits(const Series& series, StateIndex states);
    static bool fits(const SegmentHistory& h, const DeviceTrace& device, const Timeline& t);
};

extern template void CacheAccess::file(PackedWriter&, Snapshot&);
extern template void CacheAccess::file(PackedReader&, Snapshot&);
extern template void CacheAccess::replay(PackedWriter&, Replay&, DeviceTrace&, const Snapshot&);
extern template void CacheAccess::replay(PackedReader&, Replay&, DeviceTrace&, const Snapshot&);

} // namespace tidemark
