// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/simulate/changed_program.hpp"

#include "model/simulate/recording.hpp"

#include <algorithm>

namespace tidemark {

namespace {

class Rewriter {
public:
    Rewriter(const Recording& recording, const ProgramChange& change)
        : m_change(change)
        , m_allocations(recording.replay->timeline.allocations())
        , m_out(std::make_shared<Recording>(recording))
    {
        m_out->isChanged = true;
        m_out->sizes = change.sizes;
        for (const ProgramChange::Size& size : change.sizes)
            if (size.bytes == 0 && index(size.id) < m_allocations.count())
                m_never.push_back(size.id);
        addGaps();
        addExtras();
        std::stable_sort(m_added.begin(), m_added.end(), [](const RecordedStep& a, const RecordedStep& b) {
            return a.event != b.event ? a.event < b.event
                                      : a.kind == StepKind::Free && b.kind == StepKind::Allocate;
        });
    }

    std::shared_ptr<const Recording> rewrite(const Job& job)
    {
        const std::vector<RecordedStep> recorded = std::move(m_out->steps);
        m_out->steps = {};
        m_out->steps.reserve(recorded.size() + m_added.size());
        auto added = m_added.begin();
        std::uint32_t done = 0;
        for (const RecordedStep& step : recorded) {
            if (done++ % pollInterval == 0 && job.stopped())
                return nullptr;
            for (; added != m_added.end() && added->event < step.event; ++added)
                m_out->steps.push_back(*added);
            if (stays(step))
                m_out->steps.push_back(step);
        }
        m_out->steps.insert(m_out->steps.end(), added, m_added.end());
        return std::move(m_out);
    }

private:
    void add(StepKind kind, StateIndex state, std::uint32_t subject)
    {
        RecordedStep step;
        step.kind = kind;
        step.event = static_cast<std::uint32_t>(std::max<StateIndex>(state, 1) - 1);
        step.subject = subject;
        m_added.push_back(step);
    }

    void addGaps()
    {
        for (const ProgramChange::Gap& gap : m_change.gaps) {
            const std::size_t i = index(gap.id);
            if (i >= m_allocations.count() || isNever(gap.id))
                continue;
            const StateIndex born = m_allocations.firstState[i];
            const StateIndex end = m_allocations.endState[i];
            // Older than the recording: it is there before the first event, whatever the change says.
            const bool thereBefore = born == 0 || gap.first > born;
            if (thereBefore && gap.first < end && gap.end > born)
                add(StepKind::Free, gap.first, static_cast<std::uint32_t>(i));
            if (gap.end > born && gap.end < end)
                add(StepKind::Allocate, gap.end, static_cast<std::uint32_t>(i));
        }
    }

    void addExtras()
    {
        const StateIndex states = m_out->replay->states();
        for (const ProgramChange::Extra& extra : m_change.extras) {
            if (extra.bytes == 0 || extra.first >= std::min(extra.end, states))
                continue;
            const auto tag = static_cast<std::uint32_t>(m_allocations.count() + m_out->extras.size());
            m_out->extras.push_back(extra.bytes);
            add(StepKind::Allocate, extra.first, tag);
            if (extra.end < states)
                add(StepKind::Free, extra.end, tag);
        }
    }

    bool isNever(AllocationId id) const { return std::binary_search(m_never.begin(), m_never.end(), id); }

    /// Whether the changed program has it in a state in which the recorded one has.
    bool present(AllocationId id, StateIndex state) const
    {
        if (m_allocations.firstState[index(id)] != 0 && isNever(id))
            return false;
        auto gap = std::upper_bound(m_change.gaps.begin(), m_change.gaps.end(), std::pair(id, state),
            [](const std::pair<AllocationId, StateIndex>& wanted, const ProgramChange::Gap& g) {
                return wanted.first != g.id ? wanted.first < g.id : wanted.second < g.first;
            });
        if (gap == m_change.gaps.begin())
            return true;
        --gap;
        return gap->id != id || state >= gap->end;
    }

    bool stays(const RecordedStep& step) const
    {
        switch (step.kind) {
        case StepKind::Allocate:
            return present(AllocationId{step.subject}, step.event + 1);
        case StepKind::Free:
        case StepKind::RequestFree:
        case StepKind::CompleteFree:
            return present(AllocationId{step.subject}, step.event);
        default:
            return true;
        }
    }

    const ProgramChange& m_change;
    const AllocationColumns& m_allocations;
    std::shared_ptr<Recording> m_out;
    std::vector<AllocationId> m_never;
    std::vector<RecordedStep> m_added;
};

} // namespace

std::shared_ptr<const Recording> changedRecording(
    const Recording& recording, const ProgramChange& change, const Job& job)
{
    return Rewriter(recording, change).rewrite(job);
}

} // namespace tidemark
