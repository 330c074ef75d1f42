// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/made_up_program.hpp"

#include <array>
#include <cstdio>

namespace tidemark::test {

namespace {

constexpr std::uint64_t mib = 1ULL << 20;

std::uint64_t wordOf(Action action)
{
    return action == Action::SegmentAlloc ? 1
        : action == Action::SegmentFree   ? 2
        : action == Action::SegmentMap    ? 3
                                          : 4;
}

std::string hex(std::uint64_t value)
{
    std::array<char, 20> text{};
    return {text.data(),
        static_cast<std::size_t>(
            std::snprintf(text.data(), text.size(), "%llx", static_cast<unsigned long long>(value)))};
}

} // namespace

std::uint64_t SeededNumbers::below(std::uint64_t limit)
{
    m_state += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = m_state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return (z ^ (z >> 31)) % limit;
}

MadeUpProgram::MadeUpProgram(std::uint64_t seed)
    : m_seed(seed)
    , m_numbers(seed)
    , m_model(makeModel(m_numbers, m_pools))
{
    m_model.keepDriverEvents(true);
}

AllocatorModel MadeUpProgram::makeModel(SeededNumbers& numbers, bool& pools)
{
    AllocatorSettings s;
    s.expandableSegments = numbers.below(2) == 1;
    constexpr std::uint64_t none = ~std::uint64_t{0};
    s.rounding.maxSplitSize = std::array{none, none, 20 * mib, 64 * mib}[numbers.below(4)];
    s.maxNonSplitRounding = std::array{20 * mib, 64 * mib}[numbers.below(2)];
    s.rounding.largePage = std::array{20 * mib, 20 * mib, 32 * mib}[numbers.below(3)];
    switch (numbers.below(4)) {
    case 2:
        s.rounding.divisions.fill(4);
        break;
    case 3:
        for (std::uint32_t i = 0; i < 16; ++i)
            s.rounding.divisions[i] = 1U << (i % 4);
        break;
    default:
        break;
    }
    const std::uint64_t capacity = (600 + numbers.below(3000)) * mib;
    if (numbers.below(3) == 0) {
        s.memoryFraction = 0.75;
        s.garbageCollectionThreshold = std::array{0.0, 0.5, 0.8}[numbers.below(3)];
    }
    if (numbers.below(8) == 0) {
        s.rounding.padding = 32;
        s.baseAlign = 16 << 10;
    }
    s.expandablePrivatePools = numbers.below(2) == 1;
    pools = numbers.below(2) == 1;
    return AllocatorModel(s, capacity, {}, AddressSpace(0x7F2000000000ULL, 0x7A0000000000ULL));
}

void MadeUpProgram::add(std::initializer_list<std::uint64_t> words)
{
    for (const std::uint64_t word : words)
        m_sum = (m_sum ^ word) * 0x100000001B3ULL;
}

void MadeUpProgram::addEvents()
{
    for (const DriverEvent& event : m_model.takeDriverEvents())
        add({wordOf(event.action), event.address, event.size});
}

std::uint64_t MadeUpProgram::size()
{
    const std::uint64_t kind = m_numbers.below(5);
    return 1 + m_numbers.below(std::array<std::uint64_t, 5>{5000, mib, 12 * mib, 90 * mib, 12 * mib}[kind]);
}

void MadeUpProgram::allocate()
{
    AllocatorModel::Request request;
    request.bytes = size();
    request.stream = std::array{0, 0, 0, 0, 0, 0, 3, 7}[m_numbers.below(8)];
    if (m_pools && m_numbers.below(6) == 0) {
        request.pool = m_pool;
        m_opened = true;
    }
    const auto block = m_model.allocate(request);
    addEvents();
    if (block) {
        add({m_model.addressOf(*block), m_model.sizeOf(*block)});
        m_live.push_back(*block);
        return;
    }
    ++m_failures;
    add({99, m_model.settings().rounding.roundSize(request.bytes)});
    std::vector<BlockRef> kept;
    for (std::size_t i = 0; i < m_live.size(); ++i) {
        if (i % 2 == 0)
            m_model.free(m_live[i]);
        else
            kept.push_back(m_live[i]);
    }
    m_live = kept;
}

void MadeUpProgram::free()
{
    const std::size_t i = m_numbers.below(m_live.size());
    const BlockRef block = m_live[i];
    m_live[i] = m_live.back();
    m_live.pop_back();
    if (m_numbers.below(5) == 0)
        m_model.noteStream(block, otherStream);
    const bool inScope = m_pools && m_numbers.below(10) == 0;
    if (inScope) {
        if (!m_opened)
            m_model.usePool(m_pool);
        m_opened = true;
    }
    m_model.free(block, inScope);
    const std::uint64_t done = m_numbers.below(10);
    if (done > 0 && done < 3)
        m_model.streamDone(otherStream);
    else if (done == 0)
        m_model.streamDone(otherStream, 1);
}

void MadeUpProgram::step()
{
    const std::uint64_t choice = m_numbers.below(100);
    if (choice < 2) {
        m_model.emptyCache();
    } else if (choice < 3 && m_opened) {
        m_model.releasePool(m_pool);
        m_pool = static_cast<PoolId>(index(m_pool) + 1);
        m_opened = false;
    } else if (choice < 57 || m_live.empty()) {
        allocate();
    } else {
        free();
    }
    addEvents();
    add({m_model.reserved(), m_model.allocated(), m_model.pending(), m_model.requested()});
}

std::string MadeUpProgram::run(const std::function<void(const AllocatorModel&)>& look)
{
    std::string sums;
    for (int i = 1; i <= steps; ++i) {
        step();
        if (look)
            look(m_model);
        if (i % check == 0)
            sums += ' ' + hex(m_sum & 0xFFFFFFFFU);
    }
    std::string line = std::to_string(m_seed);
    for (const std::uint64_t figure : {m_model.peakReserved(), m_model.reserved(), m_model.allocated(),
             m_model.counts().flushes, m_failures, static_cast<std::uint64_t>(m_model.segments().size())})
        line += ' ' + std::to_string(figure);
    return line + sums;
}

} // namespace tidemark::test
