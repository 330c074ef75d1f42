// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/small_runs.hpp"

namespace tidemark::test {

namespace {

class Player {
public:
    explicit Player(const SmallRun& wish)
        : m_wish(wish)
        , m_now(wish.startUs)
        , m_next(wish.base)
    { }

    std::shared_ptr<const Snapshot> play()
    {
        for (int step = 0; step < m_wish.steps; ++step) {
            const std::string name = "ProfilerStep#" + std::to_string(m_wish.firstStep + step);
            mark(true, name);
            mark(true, "work");
            oneStep(step == 0);
            mark(false, "work");
            mark(false, name);
        }
        return m_maker.finish();
    }

private:
    void tick()
    {
        m_now += m_wish.tickUs;
        m_maker.setTime(m_now);
    }

    void mark(bool start, const std::string& name)
    {
        if (!m_wish.marks)
            return;
        m_now += m_wish.tickUs;
        m_maker.builder().addAnnotation(
            {start, m_maker.builder().strings().intern(name), 0, m_now, std::nullopt});
    }

    std::uint64_t place(std::int64_t size)
    {
        const std::uint64_t at = m_next;
        const std::uint64_t room = (static_cast<std::uint64_t>(size) + 511) / 512 * 512;
        m_next = m_wish.upwards ? m_next + room : m_next - room;
        return m_wish.upwards ? at : m_next;
    }

    void oneStep(bool first)
    {
        std::vector<std::pair<std::uint64_t, std::int64_t>> live;
        for (const SmallSite& site : m_wish.sites) {
            const StackId stack = site.frame.empty()
                ? StackId::none
                : m_maker.stack({site.frame, "main@/home/me/train.py:1"});
            for (int i = 0; i < site.count; ++i) {
                live.emplace_back(place(site.size), site.size);
                tick();
                m_maker.alloc(live.back().first, site.size, stack);
            }
        }
        for (const auto& [address, size] : live) {
            tick();
            m_maker.free(address, size);
        }
        if (first)
            for (const std::int64_t size : m_wish.older) {
                tick();
                m_maker.free(place(size), size);
            }
    }

    const SmallRun& m_wish;
    TraceMaker m_maker;
    std::int64_t m_now;
    std::uint64_t m_next;
};

} // namespace

std::shared_ptr<const Snapshot> SmallRun::make() const
{
    return Player(*this).play();
}

compare::Side SmallRun::side(std::string label) const
{
    return sideOf(make(), std::move(label));
}

compare::Side sideOf(std::shared_ptr<const Snapshot> snapshot, std::string label)
{
    compare::Side side;
    side.rank = makeRank(std::move(snapshot));
    side.label = std::move(label);
    return compare::prepared(std::move(side), {});
}

compare::Side diagnosedSide(std::shared_ptr<const Snapshot> snapshot, RunConfig config)
{
    compare::Side side;
    side.rank = makeRank(std::move(snapshot));
    DiagnosisOptions options;
    options.config = std::move(config);
    side.diagnosis = diagnose(side.rank, options, {});
    return compare::prepared(std::move(side), {});
}

} // namespace tidemark::test
