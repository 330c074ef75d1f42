// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/formats/read_ahead.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace tidemark {

namespace {

/// In front of a block's bytes: room for what is left of the block before, so that both lie in one piece.
constexpr std::size_t headroom = 64U << 10;
/// A few blocks fit into a core's caches.
constexpr std::size_t blockBytes = 256U << 10;
constexpr std::size_t blocks = 6;

struct Block {
    std::unique_ptr<unsigned char[]> memory
        = std::make_unique_for_overwrite<unsigned char[]>(headroom + blockBytes);
    std::size_t count = 0;
    bool last = false; ///< the input ends behind these bytes
    std::uint64_t packedOffset = 0;
    std::optional<Error> error;
    std::exception_ptr thrown; ///< behind these bytes

    unsigned char* bytes() const { return memory.get() + headroom; }
};

/// Blocks on their way from one thread to the other, in order.
class Ring {
public:
    /// The next block to fill; null once the other side is gone.
    Block* toFill()
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [this] { return m_closed || m_filled - m_released < blocks; });
        return m_closed ? nullptr : &m_blocks[m_filled % blocks];
    }
    void filled()
    {
        change([this] { ++m_filled; });
    }

    /// The next filled block, which stays as it is until it is released.
    Block& next()
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [this] { return m_taken < m_filled; });
        return m_blocks[m_taken++ % blocks];
    }
    void release()
    {
        change([this] { ++m_released; });
    }
    void close()
    {
        change([this] { m_closed = true; });
    }

private:
    template <typename Change>
    void change(Change what)
    {
        {
            const std::scoped_lock lock(m_mutex);
            what();
        }
        m_changed.notify_one();
    }

    std::array<Block, blocks> m_blocks;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::uint64_t m_filled = 0;
    std::uint64_t m_taken = 0;
    std::uint64_t m_released = 0;
    bool m_closed = false;
};

/// Fills one block. Only the reading thread touches the inner stream.
void fill(Block& block, ByteStream& inner)
{
    block.count = 0;
    try {
        while (block.count < blockBytes) {
            const auto view = inner.peek(1);
            const std::size_t count = std::min(view.size(), blockBytes - block.count);
            if (count == 0) {
                block.last = true;
                block.error = inner.error();
                break;
            }
            std::memcpy(block.bytes() + block.count, view.data(), count);
            inner.consume(count);
            block.count += count;
        }
        block.packedOffset = inner.packedOffset();
    } catch (...) {
        block.last = true;
        block.thrown = std::current_exception();
    }
}

class ReadAhead final : public ByteStream {
public:
    explicit ReadAhead(std::unique_ptr<ByteStream>& inner)
        : m_offset(inner->offset())
        , m_size(inner->size())
        , m_packedOffset(inner->packedOffset())
        , m_packedSize(inner->packedSize())
    {
        ByteStream* const source = inner.get();
        m_thread = std::thread([this, source] {
            while (Block* const block = m_ring.toFill()) {
                fill(*block, *source);
                const bool last = block->last;
                m_ring.filled();
                if (last)
                    break;
            }
        });
        m_inner = std::move(inner);
    }
    ReadAhead(const ReadAhead&) = delete;
    ReadAhead& operator=(const ReadAhead&) = delete;
    ~ReadAhead() override
    {
        m_ring.close();
        m_thread.join();
    }

    std::span<const unsigned char> peek(std::size_t wanted) override
    {
        while (m_view.size() < wanted && !m_last)
            join(m_ring.next());
        const bool missing = m_view.size() < wanted;
        m_ended = m_ended || missing;
        if (missing && m_thrown)
            std::rethrow_exception(m_thrown);
        return m_view;
    }
    void consume(std::size_t count) override
    {
        m_view = m_view.subspan(count);
        m_offset += count;
    }
    std::uint64_t offset() const override { return m_offset; }
    std::uint64_t size() const override { return m_size; }
    std::uint64_t packedOffset() const override { return m_packedOffset; }
    std::uint64_t packedSize() const override { return m_packedSize; }
    std::optional<Error> error() const override { return m_ended ? m_error : std::nullopt; }

private:
    /// Puts a block behind what is left.
    void join(Block& block)
    {
        m_packedOffset = std::max(m_packedOffset, block.packedOffset);
        m_last = block.last;
        m_error = block.error;
        m_thrown = block.thrown;
        if (m_view.size() <= headroom) {
            unsigned char* const begin = block.bytes() - m_view.size();
            if (!m_view.empty())
                std::memcpy(begin, m_view.data(), m_view.size());
            m_view = {begin, m_view.size() + block.count};
            if (std::exchange(m_inBlock, true))
                m_ring.release();
            return;
        }
        // Somebody wants a longer piece than the blocks are made for.
        if (m_inBlock)
            m_long.assign(m_view.begin(), m_view.end());
        else
            m_long.erase(m_long.begin(), m_long.end() - static_cast<std::ptrdiff_t>(m_view.size()));
        m_long.insert(m_long.end(), block.bytes(), block.bytes() + block.count);
        m_view = m_long;
        if (std::exchange(m_inBlock, false))
            m_ring.release();
        m_ring.release();
    }

    std::unique_ptr<ByteStream> m_inner;
    Ring m_ring;
    std::span<const unsigned char> m_view;
    std::vector<unsigned char> m_long; ///< what m_view shows unless m_inBlock
    bool m_inBlock = false;
    bool m_last = false; ///< behind m_view there is nothing
    bool m_ended = false; ///< somebody has asked for what is not there
    std::optional<Error> m_error;
    std::exception_ptr m_thrown;
    std::uint64_t m_offset;
    std::uint64_t m_size;
    std::uint64_t m_packedOffset;
    std::uint64_t m_packedSize;
    std::thread m_thread;
};

} // namespace

std::unique_ptr<ByteStream> readAhead(std::unique_ptr<ByteStream> inner)
{
    if (std::thread::hardware_concurrency() < 2)
        return inner;
    try {
        return std::make_unique<ReadAhead>(inner);
    } catch (const std::system_error&) {
        return inner;
    }
}

} // namespace tidemark
