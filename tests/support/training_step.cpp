// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/training_step.hpp"

#include "tests/support/trace_maker.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <vector>

namespace tidemark::test {

namespace {

constexpr std::int64_t MiB = 1 << 20;
constexpr std::int64_t startUs = 1'752'480'000'000'000;

/// A segment whose addresses are handed out once each, in order.
class Region {
public:
    Region(std::uint64_t address, std::int64_t size, PoolId pool)
        : m_address(address)
        , m_size(size)
        , m_pool(pool)
    { }

    std::uint64_t take(std::int64_t bytes, StackId stack)
    {
        const std::uint64_t at = m_address + static_cast<std::uint64_t>(m_used);
        m_live[at] = {bytes, stack};
        m_used += bytes;
        assert(m_used <= m_size);
        return at;
    }
    bool give(std::uint64_t address) { return m_live.erase(address) > 0; }
    std::uint64_t address() const { return m_address; }
    std::int64_t size() const { return m_size; }
    PoolId pool() const { return m_pool; }

    void write(TraceMaker& maker) const
    {
        maker.segment(m_address, m_size, m_pool);
        std::int64_t at = 0;
        const auto hole = [&](std::int64_t until) {
            if (until > at)
                maker.block(BlockState::Inactive, until - at, 0);
            at = until;
        };
        for (const auto& [address, live] : m_live) {
            hole(static_cast<std::int64_t>(address - m_address));
            maker.block(BlockState::Allocated, live.first, live.first, live.second);
            at += live.first;
        }
        hole(m_size);
    }

private:
    std::uint64_t m_address;
    std::int64_t m_size;
    PoolId m_pool;
    std::int64_t m_used = 0;
    std::map<std::uint64_t, std::pair<std::int64_t, StackId>> m_live;
};

class Program {
public:
    explicit Program(const TrainingStep& wish)
        : m_wish(wish)
        , m_graphPool(m_maker.builder().pool(0, 1))
        , m_before(0x7f0000000000, 256 * MiB, PoolId{0})
        , m_first(0x7f1000000000, (96 * wish.layers + 64) * MiB, PoolId{0})
        , m_second(0x7f2000000000, (60 * wish.layers + 64) * MiB, PoolId{0})
        , m_graph(0x7f3000000000, 64 * MiB, m_graphPool)
    { }

    std::shared_ptr<const Snapshot> play()
    {
        m_before.take(100 * MiB, StackId::none);
        const std::uint64_t leaves = m_before.take(60 * MiB, StackId::none);
        mark(true, "ProfilerStep#1");
        reserve(m_first);
        mark(true, "forward");
        forward();
        mark(false, "forward");
        reserve(m_graph);
        graph();
        mark(true, "backward");
        reserve(m_second);
        backward();
        mark(false, "backward");
        mark(true, "Optimizer.step#AdamW.step");
        optimizer(leaves);
        mark(false, "Optimizer.step#AdamW.step");
        mark(false, "ProfilerStep#1");
        if (m_wish.oom)
            fail();
        for (const Region* region : {&m_before, &m_first, &m_second, &m_graph})
            region->write(m_maker);
        return m_maker.finish();
    }

private:
    void tick()
    {
        m_now += 100;
        if (m_wish.times)
            m_maker.setTime(startUs + m_now);
    }
    void mark(bool start, const char* name)
    {
        if (!m_wish.marks || !m_wish.times)
            return;
        Annotation annotation;
        annotation.start = start;
        annotation.name = m_maker.builder().strings().intern(name);
        annotation.timeUs = startUs + m_now + 50;
        m_maker.builder().addAnnotation(annotation);
    }
    void reserve(const Region& region)
    {
        tick();
        m_maker.event(Action::SegmentAlloc, region.address(), region.size()).pool = region.pool();
    }
    std::uint64_t alloc(Region& region, std::int64_t bytes, StackId stack)
    {
        tick();
        const std::uint64_t address = region.take(bytes, stack);
        m_maker.event(Action::Alloc, address, bytes, stack).pool = region.pool();
        m_sizes[address] = bytes;
        return address;
    }
    void requestFree(std::uint64_t address)
    {
        tick();
        m_maker.request(address, m_sizes[address]);
    }
    void completeFree(std::uint64_t address)
    {
        tick();
        m_maker.complete(address, m_sizes[address]);
        for (Region* region : {&m_before, &m_first, &m_second, &m_graph})
            region->give(address);
    }
    void free(std::uint64_t address)
    {
        requestFree(address);
        completeFree(address);
    }

    void forward()
    {
        const StackId softmax
            = m_maker.stack({"softmax@/home/u/nn_utils.py:6", "forward@/home/u/model.py:120"});
        const StackId linear = m_maker.stack({"forward@/home/u/model.py:39", "train@/home/u/train.py:10"});
        const StackId scratch = m_maker.stack({"silu@/home/u/model.py:532", "forward@/home/u/model.py:88"});
        for (int i = 0; i < m_wish.layers; ++i) {
            const std::uint64_t temporary = alloc(m_first, 8 * MiB, scratch);
            m_saved.push_back(alloc(m_first, 48 * MiB, softmax));
            m_saved.push_back(alloc(m_first, 16 * MiB, linear));
            free(temporary);
        }
    }
    void graph()
    {
        const StackId capture = m_maker.stack({"capture@/home/u/graph.py:12"});
        const std::uint64_t a = alloc(m_graph, 24 * MiB, capture);
        alloc(m_graph, 8 * MiB, capture);
        free(a);
    }
    void backward()
    {
        const StackId gradient = m_maker.stack({"backward@/home/u/train.py:22"});
        const StackId scratch = m_maker.stack({"sdpa@/home/u/model.py:434"});
        for (int i = m_wish.layers - 1; i >= 0; --i) {
            const std::uint64_t temporary = alloc(m_second, 28 * MiB, scratch);
            alloc(m_second, 12 * MiB, gradient);
            const std::uint64_t saved = m_saved[static_cast<std::size_t>(2 * i)];
            const std::uint64_t other = m_saved[static_cast<std::size_t>(2 * i) + 1];
            if (i % 4 == 1) {
                // Another stream still reads it, so the block comes back a few events later.
                requestFree(saved);
                free(temporary);
                free(other);
                completeFree(saved);
            } else {
                free(temporary);
                free(saved);
                free(other);
            }
        }
    }
    void optimizer(std::uint64_t leaves)
    {
        m_sizes[leaves] = 60 * MiB;
        free(leaves);
        const StackId state = m_maker.stack({"step@/home/u/optimizer.py:77"});
        for (int i = 0; i < m_wish.layers; ++i)
            alloc(m_second, 10 * MiB, state);
    }
    void fail()
    {
        tick();
        EventRow& row = m_maker.event(Action::Oom, 0, 512 * MiB);
        row.deviceFree = 96 * MiB;
    }

    TrainingStep m_wish;
    TraceMaker m_maker;
    PoolId m_graphPool;
    Region m_before;
    Region m_first;
    Region m_second;
    Region m_graph;
    std::int64_t m_now = 0;
    std::map<std::uint64_t, std::int64_t> m_sizes;
    std::vector<std::uint64_t> m_saved;
};

} // namespace

std::shared_ptr<const Snapshot> trainingStep(const TrainingStep& wish)
{
    return Program(wish).play();
}

std::shared_ptr<const Rank> makeRank(std::shared_ptr<const Snapshot> snapshot)
{
    auto rank = std::make_shared<Rank>();
    rank->snapshot = snapshot;
    rank->sites = std::make_shared<Sites>(Sites::build(*snapshot, SiteMode::User));
    rank->rawSites = std::make_shared<Sites>(Sites::build(*snapshot, SiteMode::Raw));
    for (std::size_t i = 0; i < snapshot->devices.size(); ++i) {
        auto replay = Replay::build(snapshot, i, {});
        assert(replay.ok());
        rank->devices.push_back(replay.value());
        rank->marks.push_back(pairMarks(*rank->devices.back()));
    }
    return rank;
}

} // namespace tidemark::test
