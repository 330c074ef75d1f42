// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/estimates.hpp"
#include "model/findings/rule_tools.hpp"

#include <algorithm>
#include <set>

namespace tidemark {

extern const Rule batchFreeRule;

namespace {

/// Fewer than that a function's own variables explain.
constexpr std::size_t atLeast = 8;
/// Of the peak; below it nobody waits for the memory.
constexpr double leastShare = 0.01;

/// Frees of one stack's allocations with nothing allocated or freed between them.
struct Batch {
    std::vector<AllocationId> ids; ///< in the order of their frees
    StateIndex first = 0; ///< state after the first free
    StateIndex last = 0;
    EventIndex lastEvent{};
    std::uint64_t bytes = 0;
};

class Search {
public:
    explicit Search(const RuleInput& input)
        : m_input(input)
        , m_all(input.replay.timeline.allocations())
        , m_peak(peakBytes(input))
    { }

    bool run(const Job& job)
    {
        const EventColumns& events = m_input.replay.device().events;
        for (std::size_t i = 0; i < events.count(); ++i) {
            if (i % pollInterval == 0 && job.stopped())
                return false;
            switch (events.action[i]) {
            case Action::Alloc:
                close();
                break;
            case Action::FreeRequested:
            case Action::Free:
            case Action::FreeCompleted:
                freed(static_cast<EventIndex>(i));
                break;
            default:
                break;
            }
        }
        close();
        return true;
    }
    /// Those worth a line, in order.
    std::vector<Batch> takeBatches() { return std::move(m_batches); }

private:
    void freed(EventIndex event)
    {
        const AllocationId id = m_input.replay.timeline.allocationOf(event);
        if (!valid(id))
            return;
        if (!m_batch.ids.empty() && m_batch.ids.back() == id)
            return; // a completion right after its request
        const bool waits = m_all.pendingState[index(id)] != m_all.endState[index(id)];
        if (waits && m_input.replay.device().events.action[index(event)] == Action::FreeCompleted)
            return; // streams were polled: the program gave it up earlier
        const StackId stack = m_all.stack[index(id)];
        const StateIndex state = stateOf(static_cast<Moment>(index(event)));
        const bool named = valid(stack) && !m_input.replay.snapshot->stacks[stack].empty();
        if (!named || (!m_batch.ids.empty() && m_all.stack[index(m_batch.ids.back())] != stack))
            close();
        if (!named)
            return;
        if (m_batch.ids.empty())
            m_batch.first = state;
        m_batch.ids.push_back(id);
        m_batch.last = state;
        m_batch.lastEvent = event;
    }

    void close()
    {
        if (m_batch.ids.size() >= atLeast) {
            // A completion that comes late names its allocation a second time.
            std::set<AllocationId> distinct(m_batch.ids.begin(), m_batch.ids.end());
            if (distinct.size() >= atLeast && looksCollected()) {
                m_batch.ids.assign(distinct.begin(), distinct.end());
                m_batch.bytes = sumOf(m_input.replay, m_batch.ids);
                if (shareOf(m_batch.bytes, m_peak) >= leastShare)
                    m_batches.push_back(m_batch);
            }
        }
        m_batch.ids.clear();
    }

    /// Backward frees in reverse, an optimizer step its own temporaries, a function the list it has just
    /// filled. What is left was made here and there, waited, and went at once.
    bool looksCollected() const
    {
        const Phase at = m_input.phases.phaseAt(m_batch.first);
        if (at == Phase::Backward || at == Phase::Recompute)
            return false;
        const AllocationId one = m_batch.ids.front();
        const Role role = m_input.labels.role(one);
        if (role == Role::SavedActivation || role == Role::Gradient || role == Role::OptimizerTemporary
            || (role == Role::Parameter && at == Phase::Setup) || bornIn(m_input, one) == Phase::Optimizer)
            return false;
        const bool reversed = std::is_sorted(m_batch.ids.rbegin(), m_batch.ids.rend());
        if (reversed)
            return false;
        const auto [low, high] = std::minmax_element(m_batch.ids.begin(), m_batch.ids.end());
        const std::size_t madeMeanwhile = index(*high) - index(*low) + 1;
        return m_all.origin[index(*low)] == Origin::Traced && madeMeanwhile > m_batch.ids.size();
    }

    const RuleInput& m_input;
    const AllocationColumns& m_all;
    std::int64_t m_peak;
    Batch m_batch;
    std::vector<Batch> m_batches;
};

/// Time from the oldest one's allocation to the first free.
std::optional<std::int64_t> waited(const RuleInput& input, const Batch& batch)
{
    const AllocationColumns& all = input.replay.timeline.allocations();
    const auto made = input.replay.timeUs(all.firstState[index(batch.ids.front())]);
    const auto freed = input.replay.timeUs(batch.first);
    return made && freed ? std::optional(*freed - *made) : std::nullopt;
}

enum class Pass : std::uint8_t { None, Forward, Backward, Optimizer };

Pass passOf(Phase phase)
{
    switch (phase) {
    case Phase::Forward:
        return Pass::Forward;
    case Phase::Backward:
    case Phase::Recompute:
        return Pass::Backward;
    case Phase::Optimizer:
        return Pass::Optimizer;
    default:
        return Pass::None;
    }
}

/// Made in more than one pass or step. A container that a pass fills and drops is freed at once as well.
bool overPasses(const RuleInput& input, const Batch& batch)
{
    const AllocationColumns& all = input.replay.timeline.allocations();
    const StateIndex first = all.firstState[index(batch.ids.front())];
    const StateIndex last = all.firstState[index(batch.ids.back())];
    if (input.phases.stepAt(first) != input.phases.stepAt(last))
        return true;
    Pass before = Pass::None;
    for (const PhaseSpan& span : input.phases.spans) {
        const Pass now = span.last < first || span.first > last ? Pass::None : passOf(span.phase);
        if (now != Pass::None && before != Pass::None && now != before)
            return true;
        before = now != Pass::None ? now : before;
    }
    return false;
}

void explain(Finding& out, bool overSeveral, const std::optional<std::int64_t>& wait)
{
    Fix fix;
    fix.id = "break-cycles";
    fix.text = overSeveral ? "Break the reference cycle at " + out.site
            + " (weak references, or clear the attribute when done): memory is then freed when it is last "
              "used, not when the garbage collector runs."
                           : "If nothing reads them together, let go of the tensors of " + out.site
            + " one by one (a container keeps them all, a reference cycle until the garbage collector runs).";
    fix.grade = Grade::D;
    out.fixes.push_back(fix);
    out.explanation = overSeveral
        ? "They were made one by one and went together, as when a garbage collector finds dead cycles"
        : "They were made one by one in one pass and went together: a container or a cycle held them";
    if (wait)
        out.explanation += "; the oldest had waited " + formatDuration(*wait);
    out.explanation += ".";
}

Finding report(const RuleInput& input, const Batch& batch)
{
    const std::uint64_t bytes = batch.bytes;
    const bool overSeveral = overPasses(input, batch);
    const bool much = overSeveral && shareOf(bytes, peakBytes(input)) > 0.1;
    Finding out = findingOf(
        input, batchFreeRule, much ? Severity::Warning : Severity::Info, batch.ids, batch.first - 1);
    out.site = largestSiteOf(input, batch.ids);
    out.eventRange->second = batch.lastEvent;
    const StackId free = input.replay.timeline.freeStack(batch.ids.front(), input.replay.device());
    if (const SiteId site = input.sites.of(free); valid(site))
        out.evidence.push_back({"freed_at", input.sites.name(site)});
    const std::optional<std::int64_t> wait = waited(input, batch);
    if (wait)
        out.evidence.push_back({"waited_us", *wait});
    out.title = formatBytes(static_cast<std::int64_t>(bytes)) + " freed at once: "
        + countText(batch.ids.size(), "allocation", "allocations") + " of one call site.";
    out.grade = overSeveral ? out.grade : Grade::D;
    explain(out, overSeveral, wait);
    return out;
}

void run(const RuleInput& input, RuleOutput& output, const Job& job)
{
    Search search(input);
    if (!search.run(job))
        return;
    std::vector<Batch> batches = search.takeBatches();
    const std::size_t more = keepLargest(batches, &Batch::bytes);
    for (const Batch& batch : batches)
        output.findings.push_back(report(input, batch));
    if (more > 0)
        output.undecided.push_back({batchFreeRule.id,
            "a closer look: " + countText(more, "more batch was", "more batches were")
                + " freed in the same way, each of fewer bytes"});
    const auto& stacks = input.replay.snapshot->stacks;
    bool frames = false;
    for (std::size_t i = 0; i < stacks.size() && !frames; ++i)
        frames = !stacks[static_cast<StackId>(i)].empty();
    if (!frames)
        output.undecided.push_back({batchFreeRule.id, needsStacks});
}

} // namespace

const Rule batchFreeRule{"batch-free", "",
    "Many allocations of one call site that are freed at once, as a garbage collector does.", run};

} // namespace tidemark
