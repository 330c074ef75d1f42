// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/estimates.hpp"
#include "model/findings/rule_tools.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace tidemark {

extern const Rule leakRule;

namespace {

constexpr std::size_t leastSteps = 5;
constexpr double leastFit = 0.98;

/// Never-freed allocations of one stack and size.
struct Group {
    std::vector<AllocationId> kept;
    /// A member outlived a whole step and was freed all the same: a queue, not a leak.
    bool released = false;
};

struct Line {
    double slope = 0;
    double fit = 0; ///< R²
};
Line regression(const std::vector<double>& y)
{
    const auto n = static_cast<double>(y.size());
    double meanX = (n - 1) / 2;
    double meanY = 0;
    for (const double v : y)
        meanY += v / n;
    double sxx = 0;
    double syy = 0;
    double sxy = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
        const double dx = static_cast<double>(i) - meanX;
        const double dy = y[i] - meanY;
        sxx += dx * dx;
        syy += dy * dy;
        sxy += dx * dy;
    }
    return sxx > 0 && syy > 0 ? Line{sxy / sxx, sxy * sxy / (sxx * syy)} : Line{};
}

class Search {
public:
    Search(const RuleInput& input, std::vector<const Step*> steps)
        : m_input(input)
        , m_all(input.replay.timeline.allocations())
        , m_steps(std::move(steps))
    { }

    bool run(const Job& job)
    {
        const StateIndex states = m_input.replay.states();
        for (std::size_t i = 0; i < m_all.count(); ++i) {
            if (i % pollInterval == 0 && job.stopped())
                return false;
            const StackId stack = m_all.stack[i];
            if (m_all.origin[i] != Origin::Traced || !valid(stack)
                || m_input.replay.snapshot->stacks[stack].empty()
                || m_all.firstState[i] < m_steps.front()->first)
                continue;
            const bool kept = m_all.endState[i] == states;
            if (!kept && stepOf(m_all.endState[i]) < stepOf(m_all.firstState[i]) + 2)
                continue;
            Group& group = groupOf(stack, m_all.size[i]);
            if (kept)
                group.kept.push_back(static_cast<AllocationId>(i));
            else
                group.released = true;
        }
        return true;
    }

    /// Bytes kept at the end of every step.
    std::vector<double> stairs(const Group& group) const
    {
        std::vector<double> out;
        std::size_t next = 0;
        double sum = 0;
        for (const Step* step : m_steps) {
            for (; next < group.kept.size() && m_all.firstState[index(group.kept[next])] <= step->last;
                 ++next)
                sum += static_cast<double>(m_all.size[index(group.kept[next])]);
            out.push_back(sum);
        }
        return out;
    }

    /// Goes up in (nearly) every step, to the last: neither set-up nor a cache that is full by then.
    bool climbs(const std::vector<double>& y) const
    {
        std::size_t rises = 0;
        for (std::size_t i = 1; i < y.size(); ++i)
            rises += y[i] > y[i - 1] ? 1 : 0;
        return rises * 10 >= (y.size() - 1) * 9 && y[y.size() - 1] > y[y.size() - 2];
    }

    const std::vector<Group>& groups() const { return m_groups; }
    std::size_t steps() const { return m_steps.size(); }

private:
    /// Number of the step a state belongs to; what lies between two steps counts to the later one.
    std::size_t stepOf(StateIndex state) const
    {
        const auto at = std::lower_bound(m_steps.begin(), m_steps.end(), state,
            [](const Step* step, StateIndex s) { return step->last < s; });
        return static_cast<std::size_t>(at - m_steps.begin());
    }
    Group& groupOf(StackId stack, std::uint64_t size)
    {
        const auto [at, isNew] = m_numbers.try_emplace({stack, size}, m_groups.size());
        if (isNew)
            m_groups.emplace_back();
        return m_groups[at->second];
    }

    const RuleInput& m_input;
    const AllocationColumns& m_all;
    std::vector<const Step*> m_steps;
    std::unordered_map<StackAndSize, std::size_t, StackAndSizeHash> m_numbers;
    std::vector<Group> m_groups;
};

/// In how many more steps nothing is left at this rate. An estimate: everything else stays as it is.
void tellWhenFull(const RuleInput& input, Finding& finding, std::int64_t slope)
{
    const std::optional<MemoryLimit> limit = memoryLimit(input);
    if (!limit) {
        finding.explanation += " When the card is full cannot be told without its size.";
        return;
    }
    const std::int64_t peak = traceMetrics(input.replay).allocatedPeak;
    const std::int64_t room = static_cast<std::int64_t>(limit->bytes) - peak;
    if (slope <= 0 || room < slope)
        return;
    const std::int64_t left = room / slope;
    finding.evidence.push_back({"headroom", room});
    finding.evidence.push_back({"steps_until_full", left});
    finding.evidence.push_back({"steps_until_full_grade", std::string(limit->exact ? "B" : "D")});
    finding.explanation += " At this rate "
        + (limit->exact ? "the " + sizeText(limit->bytes) + " that the allocator could own are full in about "
                        : "the whole card (" + sizeText(limit->bytes) + ") is full in at most about ")
        + countText(static_cast<std::uint64_t>(left), "more step", "more steps")
        + (limit->exact ? ", if nothing else grows (grade B)."
                        : ", sooner by what NCCL and the CUDA context hold of it (grade D).");
}

Finding report(
    const RuleInput& input, const Group& group, const Line& line, std::size_t steps, const Job& job)
{
    const AllocationColumns& all = input.replay.timeline.allocations();
    Finding out = findingOf(input, leakRule, Severity::Warning, group.kept, input.replay.states() - 1);
    out.site = largestSiteOf(input, group.kept);
    out.eventRange = std::pair{static_cast<EventIndex>(all.firstState[index(group.kept.front())] - 1),
        static_cast<EventIndex>(all.firstState[index(group.kept.back())] - 1)};
    const std::int64_t slope = std::llround(line.slope);
    out.evidence = {{"bytes_per_step", slope}, {"r_squared", std::round(line.fit * 1e6) / 1e6},
        {"steps", static_cast<std::int64_t>(steps)},
        {"bytes_each", static_cast<std::int64_t>(all.size[index(group.kept.front())])},
        {"steps_found_by", std::string(stepSourceName(input.phases.source))},
        {"steps_confidence", input.phases.confidence}};
    Fix fix;
    fix.id = "release-per-step";
    fix.text = "Let go of what " + out.site
        + " keeps: store .item() or .detach().cpu(), or clear the container every step.";
    fix.grade = Grade::A;
    auto edits = std::make_shared<Edits>();
    for (std::size_t i = 0; i < group.kept.size(); ++i) {
        const Step* step = input.phases.stepAt(all.firstState[index(group.kept[i])]);
        edits->endAt(group.kept[i], step ? step->last + 1 : all.firstState[index(group.kept[i])] + 1);
    }
    fix.edits = edits;
    estimate(fix, input, job);
    out.fixes.push_back(fix);
    out.title = formatBytes(static_cast<std::int64_t>(out.bytes)) + " kept by one call site, "
        + formatBytes(slope) + " more every step, never freed.";
    out.explanation = countText(out.count, "allocation", "allocations")
        + " of the same size from the same line are alive at the end; their number grows in a straight line "
          "over "
        + countText(steps, "step", "steps") + ".";
    tellWhenFull(input, out, slope);
    return out;
}

void run(const RuleInput& input, RuleOutput& output, const Job& job)
{
    const StackFacts& facts = input.facts;
    if (!facts.anyFrames()) {
        output.undecided.push_back({leakRule.id, needsStacks});
        return;
    }
    std::vector<const Step*> steps;
    for (const Step& step : input.phases.steps)
        if (step.complete)
            steps.push_back(&step);
    if (steps.size() < leastSteps) {
        output.undecided.push_back({leakRule.id, needsSteps});
        return;
    }
    Search search(input, steps);
    if (!search.run(job))
        return;
    struct Climbing {
        const Group* group;
        Line line;
    };
    std::vector<Climbing> climbing;
    for (const Group& group : search.groups()) {
        if (job.stopped())
            return;
        // Gradients that are never freed are another rule's.
        if (group.released || group.kept.size() + 1 < steps.size()
            || bornIn(input, group.kept.front()) == Phase::Backward)
            continue;
        const std::vector<double> stairs = search.stairs(group);
        const Line line = regression(stairs);
        if (line.slope > 0 && line.fit > leastFit && search.climbs(stairs))
            climbing.push_back({&group, line});
    }
    // Each costs a pass over the whole timeline: the largest are told, and how many more there are.
    std::stable_sort(climbing.begin(), climbing.end(), [&](const Climbing& a, const Climbing& b) {
        return sumOf(input.replay, a.group->kept) > sumOf(input.replay, b.group->kept);
    });
    for (std::size_t i = 0; i < climbing.size() && i < mostReported && !job.stopped(); ++i)
        output.findings.push_back(report(input, *climbing[i].group, climbing[i].line, steps.size(), job));
    if (climbing.size() > mostReported)
        output.undecided.push_back({leakRule.id,
            "a closer look: "
                + countText(climbing.size() - mostReported, "more call site grows", "more call sites grow")
                + " in the same way, each by less"});
}

} // namespace

const Rule leakRule{"leak", "", "Call sites with one more live allocation every step, never freed.", run};

} // namespace tidemark
