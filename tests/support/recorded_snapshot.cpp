// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/recorded_snapshot.hpp"

#include "tests/support/pickle_writer.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>
#include <string_view>

#include <zlib.h>

namespace tidemark::test {

namespace {

// CPython writes lists and dicts in batches of this many.
constexpr std::size_t batch = 1000;

class Writer {
public:
    explicit Writer(const RecordedSnapshot& snapshot)
        : m_snapshot(snapshot)
        , m_frames(snapshot.frames.size())
        , m_stacks(snapshot.stacks.size())
    { }

    std::string write()
    {
        m_out.emptyDict();
        m_out.beginItems();
        word("segments");
        list(m_snapshot.segments.size(), [this](std::size_t i) { segment(m_snapshot.segments[i]); });
        word("device_traces");
        list(1, [this](std::size_t) {
            list(m_snapshot.events.size(), [this](std::size_t i) { event(m_snapshot.events[i]); });
        });
        word("allocator_settings");
        settings();
        word("external_annotations");
        list(m_snapshot.marks.size(), [this](std::size_t i) { mark(m_snapshot.marks[i]); });
        m_out.endDictItems();
        return m_out.finish();
    }

private:
    using Handle = PickleWriter::Handle;

    // Keys and state words are one Python object each.
    void word(std::string_view text)
    {
        if (const auto known = m_words.find(text); known != m_words.end())
            m_out.again(known->second);
        else
            m_words.emplace(text, m_out.string(text));
    }

    template <typename Item>
    Handle list(std::size_t count, Item item)
    {
        const Handle handle = m_out.emptyList();
        for (std::size_t first = 0; first < count; first += batch) {
            if (first + 1 == count) {
                item(first);
                m_out.appendItem();
                break;
            }
            m_out.beginItems();
            for (std::size_t i = first; i < std::min(count, first + batch); ++i)
                item(i);
            m_out.endListItems();
        }
        return handle;
    }

    void integer(std::string_view key, std::int64_t value)
    {
        word(key);
        m_out.integer(value);
    }

    void address(std::string_view key, std::uint64_t value)
    {
        word(key);
        m_out.unsignedInteger(value);
    }

    void text(std::string_view key, std::string_view value)
    {
        word(key);
        word(value);
    }

    void boolean(std::string_view key, bool value)
    {
        word(key);
        m_out.boolean(value);
    }

    void frame(std::uint32_t number)
    {
        if (m_frames[number])
            return m_out.again(*m_frames[number]);
        const RecordedFrame& f = m_snapshot.frames[number];
        m_frames[number] = m_out.emptyDict();
        m_out.beginItems();
        word("name");
        m_out.string(f.name);
        word("filename");
        m_out.string(f.file);
        integer("line", f.line);
        m_out.endDictItems();
    }

    void stack(std::uint32_t number)
    {
        if (number == noStack) {
            if (m_noFrames)
                m_out.again(*m_noFrames);
            else
                m_noFrames = m_out.emptyList();
        } else if (m_stacks[number]) {
            m_out.again(*m_stacks[number]);
        } else {
            const auto& frames = m_snapshot.stacks[number];
            m_stacks[number] = list(frames.size(), [&](std::size_t i) { frame(frames[i]); });
        }
    }

    void segment(const RecordedSegment& s)
    {
        std::uint64_t allocated = 0, active = 0, requested = 0;
        for (const RecordedBlock& b : s.blocks) {
            if (b.state == "active_allocated")
                allocated += b.size;
            if (b.state != "inactive") {
                active += b.size;
                requested += b.requested;
            }
        }
        m_out.emptyDict();
        m_out.beginItems();
        integer("device", 0);
        address("address", s.address);
        address("total_size", s.totalSize);
        address("allocated_size", allocated);
        address("active_size", active);
        address("requested_size", requested);
        integer("stream", s.stream);
        text("segment_type", s.small ? "small" : "large");
        word("segment_pool_id");
        m_out.integer(s.pool.first);
        m_out.integer(s.pool.second);
        m_out.pair();
        boolean("is_expandable", s.expandable);
        word("frames");
        stack(s.stack);
        word("blocks");
        list(s.blocks.size(), [&](std::size_t i) { block(s.blocks[i]); });
        m_out.endDictItems();
    }

    void block(const RecordedBlock& b)
    {
        m_out.emptyDict();
        m_out.beginItems();
        address("address", b.address);
        address("size", b.size);
        address("requested_size", b.requested);
        text("state", b.state);
        word("frames");
        stack(b.stack);
        m_out.endDictItems();
    }

    void event(const RecordedEvent& e)
    {
        m_out.emptyDict();
        m_out.beginItems();
        text("action", e.action);
        address(e.action == "oom" ? "device_free" : "addr", e.address);
        integer("size", e.size);
        integer("stream", e.stream);
        integer("time_us", e.timeUs);
        if (e.stack != noStack) {
            word("frames");
            stack(e.stack);
        }
        m_out.endDictItems();
    }

    void mark(const RecordedMark& m)
    {
        m_out.emptyDict();
        m_out.beginItems();
        text("stage", m.start ? "START" : "END");
        text("name", m.name);
        integer("device", 0);
        integer("time_us", m.timeUs);
        m_out.endDictItems();
    }

    void settings()
    {
        m_out.emptyDict();
        m_out.beginItems();
        text("PYTORCH_CUDA_ALLOC_CONF", m_snapshot.allocatorConfig);
        integer("max_split_size", -1);
        word("garbage_collection_threshold");
        m_out.real(0.0);
        boolean("expandable_segments", false);
        integer("pinned_num_register_threads", 1);
        boolean("release_lock_on_cudamalloc", false);
        boolean("pinned_use_cuda_host_register", false);
        word("roundup_power2_divisions");
        m_out.emptyDict();
        m_out.beginItems();
        for (int interval = 1; interval <= 32768; interval *= 2)
            integer(std::to_string(interval), 0);
        m_out.endDictItems();
        m_out.endDictItems();
    }

    const RecordedSnapshot& m_snapshot;
    PickleWriter m_out;
    std::map<std::string, Handle, std::less<>> m_words;
    std::vector<std::optional<Handle>> m_frames;
    std::vector<std::optional<Handle>> m_stacks;
    std::optional<Handle> m_noFrames;
};

} // namespace

std::string writePickle(const RecordedSnapshot& snapshot)
{
    return Writer(snapshot).write();
}

std::string gzipped(const std::string& bytes)
{
    z_stream stream{};
    constexpr int gzipContainer = 16;
    if (deflateInit2(
            &stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + gzipContainer, 9, Z_DEFAULT_STRATEGY)
        != Z_OK)
        throw std::runtime_error("zlib does not start");
    std::string packed(deflateBound(&stream, bytes.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    const int status = deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    if (status != Z_STREAM_END)
        throw std::runtime_error("zlib does not finish");
    return packed;
}

std::string gunzipped(const std::string& bytes)
{
    z_stream stream{};
    constexpr int gzipContainer = 16;
    if (inflateInit2(&stream, MAX_WBITS + gzipContainer) != Z_OK)
        throw std::runtime_error("zlib does not start");
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    std::string unpacked, piece(1 << 16, '\0');
    int status = Z_OK;
    while (status == Z_OK) {
        stream.next_out = reinterpret_cast<Bytef*>(piece.data());
        stream.avail_out = static_cast<uInt>(piece.size());
        status = inflate(&stream, Z_NO_FLUSH);
        unpacked.append(piece, 0, piece.size() - stream.avail_out);
    }
    inflateEnd(&stream);
    return status == Z_STREAM_END ? unpacked : std::string();
}

} // namespace tidemark::test
