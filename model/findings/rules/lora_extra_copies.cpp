// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/units.hpp"
#include "model/findings/estimates.hpp"
#include "model/findings/rule_tools.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace tidemark {

extern const Rule loraExtraCopiesRule;

namespace {

/// How far back the tensor a copy was made of is looked for, in allocations.
constexpr std::size_t sourceReach = 64;

/// A copy of an adapter's input that stays until backward.
struct Copy {
    AllocationId id;
    bool cast = false; ///< made by changing the number type; else by dropout
    bool mask = false; ///< one byte an element, beside a dropout output
};

class Search {
public:
    Search(const RuleInput& input, const StackFacts& facts)
        : m_input(input)
        , m_all(input.replay.timeline.allocations())
        , m_facts(facts)
    { }

    bool inAdapter(AllocationId id) const
    {
        return m_facts.any(m_all.stack[index(id)], in::HfLora | in::AdapterBranch);
    }
    bool copies(AllocationId id) const
    {
        return inAdapter(id) && m_facts.any(m_all.stack[index(id)], in::Cast | in::Dropout);
    }
    Copy describe(AllocationId id) const
    {
        Copy out{id};
        out.cast = m_facts.any(m_all.stack[index(id)], in::Cast);
        if (out.cast || index(id) == 0)
            return out;
        // The output comes first, then the mask, which has a byte where the output has two or four.
        const auto before = static_cast<AllocationId>(index(id) - 1);
        const std::uint64_t size = m_all.size[index(id)];
        const std::uint64_t output = m_all.size[index(before)];
        out.mask = copies(before) && !m_facts.any(m_all.stack[index(before)], in::Cast)
            && (output == size * 2 || output == size * 4);
        return out;
    }
    /// The tensor a copy was made of: the last one outside the adapter with half, the same or twice its
    /// bytes.
    AllocationId sourceOf(AllocationId id) const
    {
        const std::uint64_t size = m_all.size[index(id)];
        for (std::size_t back = 1; back <= sourceReach && back <= index(id); ++back) {
            const auto at = static_cast<AllocationId>(index(id) - back);
            const std::uint64_t other = m_all.size[index(at)];
            if (!inAdapter(at) && (other * 2 == size || other == size || other == size * 2)
                && m_input.replay.timeline.isLive(at, m_all.firstState[index(id)]))
                return at;
        }
        return AllocationId::none;
    }

private:
    const RuleInput& m_input;
    const AllocationColumns& m_all;
    const StackFacts& m_facts;
};

/// Layers and adapted linears, from how often each kind of copy occurs.
struct Shape {
    std::int64_t layers = 0;
    std::int64_t targets = 0;
};
Shape shapeOf(const RuleInput& input, const std::vector<Copy>& live, StateIndex state)
{
    const AllocationColumns& all = input.replay.timeline.allocations();
    std::map<std::pair<StackId, std::uint64_t>, std::int64_t> kinds;
    std::int64_t branches = 0;
    for (const Copy& each : live) {
        ++kinds[{all.stack[index(each.id)], all.size[index(each.id)]}];
        branches += each.mask ? 0 : 1;
    }
    Shape out;
    const auto inFlight = static_cast<std::int64_t>(std::max(1U, input.phases.inFlightAt(state)));
    std::int64_t repeats = 0;
    for (const auto& [kind, count] : kinds)
        repeats = std::gcd(repeats, count);
    const std::optional<std::int64_t> layers = input.config.number("model.num_layers");
    out.layers = layers ? *layers : repeats % inFlight == 0 ? repeats / inFlight : repeats;
    const std::int64_t layerPasses = out.layers * (repeats % inFlight == 0 ? inFlight : 1);
    out.targets = layerPasses > 0 && branches % layerPasses == 0 ? branches / layerPasses : 0;
    return out;
}

/// Bytes an element of the input costs in copies; absent when it cannot be told.
std::optional<std::int64_t> bytesPerElement(
    const RuleInput& input, const Search& search, const std::vector<Copy>& live)
{
    const AllocationColumns& all = input.replay.timeline.allocations();
    std::uint64_t masks = 0;
    std::uint64_t total = 0;
    std::set<std::uint64_t> casts;
    bool everyBranchMasked = true;
    std::size_t branches = 0;
    std::size_t masked = 0;
    for (const Copy& each : live) {
        total += all.size[index(each.id)];
        masks += each.mask ? all.size[index(each.id)] : 0;
        masked += each.mask ? 1 : 0;
        branches += each.mask ? 0 : 1;
        if (!each.cast)
            continue;
        const AllocationId source = search.sourceOf(each.id);
        const std::uint64_t other = valid(source) ? all.size[index(source)] : 0;
        casts.insert(other * 2 == all.size[index(each.id)] ? 4
                : other == all.size[index(each.id)] * 2    ? 2
                                                           : 0);
    }
    everyBranchMasked = masked == branches;
    if (masks > 0 && everyBranchMasked && total % masks == 0)
        return static_cast<std::int64_t>(total / masks);
    if (masks == 0 && casts.size() == 1 && *casts.begin() != 0)
        return static_cast<std::int64_t>(*casts.begin());
    return std::nullopt;
}

/// Keeps the tensors the copies were made of for as long as the copies would have lived: without a copy of
/// its own, LoRA-A keeps its input itself. False when one is not known.
bool keepSources(const RuleInput& input, const Search& search, const std::vector<Copy>& copies, Edits& edits)
{
    const AllocationColumns& all = input.replay.timeline.allocations();
    std::map<AllocationId, StateIndex> until;
    for (const Copy& each : copies) {
        if (each.mask)
            continue;
        const AllocationId source = search.sourceOf(each.id);
        if (!valid(source))
            return false;
        StateIndex& end = until[source];
        end = std::max(end, all.endState[index(each.id)]);
    }
    for (const auto& [source, end] : until)
        edits.add(all.endState[index(source)], end, static_cast<std::int64_t>(all.size[index(source)]),
            "adapter input");
    return true;
}

Fix withoutDropout(
    const RuleInput& input, const Search& search, const std::vector<Copy>& all, bool wide, const Job& job)
{
    Fix fix;
    fix.id = "lora-dropout-off";
    fix.text = "Set lora_dropout=0: no dropout output and no mask is kept for each adapted layer.";
    fix.grade = Grade::B;
    fix.cost = "changes regularization";
    auto edits = std::make_shared<Edits>();
    std::vector<Copy> outputs;
    for (const Copy& each : all) {
        if (each.cast)
            continue;
        // With wide adapters the cast takes the place of the dropout output.
        if (each.mask || !wide)
            edits->drop(each.id);
        outputs.push_back(each);
    }
    if (wide || keepSources(input, search, outputs, *edits)) {
        fix.edits = edits;
        estimate(fix, input, job);
    }
    return fix;
}

Fix narrowAdapters(const RuleInput& input, const Search& search, const std::vector<Copy>& all, const Job& job)
{
    Fix fix;
    fix.id = "lora-adapter-dtype";
    fix.text = "Keep the adapters in the model's own number type (autocast_adapter_dtype=False in "
               "get_peft_model): "
               "the input is then not copied to float32.";
    fix.grade = Grade::B;
    fix.cost = "adapters train in 16 bits";
    auto edits = std::make_shared<Edits>();
    std::vector<Copy> casts;
    for (const Copy& each : all) {
        if (each.cast) {
            edits->drop(each.id);
            casts.push_back(each);
        } else if (!each.mask) {
            edits->shrink(each.id, input.replay.timeline.allocations().size[index(each.id)] / 2);
        }
    }
    if (keepSources(input, search, casts, *edits)) {
        fix.edits = edits;
        estimate(fix, input, job);
    }
    return fix;
}

Finding report(const RuleInput& input, const Search& search, const std::vector<AllocationId>& kept,
    const SetPeak& worst, bool wideCasts, const Job& job)
{
    std::vector<Copy> live;
    std::vector<Copy> all;
    for (const AllocationId id : worst.live)
        live.push_back(search.describe(id));
    for (const AllocationId id : kept)
        all.push_back(search.describe(id));
    Finding out = findingOf(input, loraExtraCopiesRule, Severity::Warning, worst.live, worst.state);
    out.site = largestSiteOf(input, worst.live);
    const Shape shape = shapeOf(input, live, worst.state);
    const std::optional<std::int64_t> each = bytesPerElement(input, search, live);
    std::int64_t casts = 0;
    std::int64_t masks = 0;
    for (const Copy& copy : live) {
        casts += copy.cast ? 1 : 0;
        masks += copy.mask ? 1 : 0;
    }
    const auto count = static_cast<std::int64_t>(live.size());
    if (shape.layers > 0 && out.bytes % static_cast<std::uint64_t>(shape.layers) == 0)
        out.evidence.push_back({"per_layer", static_cast<std::int64_t>(out.bytes) / shape.layers});
    if (shape.targets > 0)
        out.evidence.push_back({"targets", shape.targets});
    if (each)
        out.evidence.push_back({"bytes_per_element", *each});
    out.evidence.push_back({"casts", casts});
    out.evidence.push_back({"dropout_outputs", count - casts - masks});
    out.evidence.push_back({"masks", masks});
    out.evidence.push_back({"retained_at_peak",
        static_cast<std::int64_t>(sumOf(input.replay, liveOf(input.replay, worst.live, input.peak)))});
    const bool wide = casts > 0 || wideCasts;
    if (wide)
        out.fixes.push_back(narrowAdapters(input, search, all, job));
    if (count > casts)
        out.fixes.push_back(withoutDropout(input, search, all, wideCasts, job));
    out.title = formatBytes(static_cast<std::int64_t>(out.bytes))
        + " of copies of adapter inputs stay until backward: "
        + countText(static_cast<std::uint64_t>(casts), "cast", "casts") + ", "
        + countText(static_cast<std::uint64_t>(count - casts - masks), "dropout output", "dropout outputs")
        + ", " + countText(static_cast<std::uint64_t>(masks), "mask", "masks") + ".";
    out.explanation = "The frozen base layer keeps nothing, but each adapter keeps its own converted or "
                      "dropped-out copy of "
                      "the input it shares with its neighbours.";
    return out;
}

void run(const RuleInput& input, RuleOutput& output, const Job& job)
{
    const StackFacts& facts = input.facts;
    if (!facts.anyFrames()) {
        output.undecided.push_back({loraExtraCopiesRule.id, needsStacks});
        return;
    }
    const Search search(input, facts);
    const AllocationColumns& all = input.replay.timeline.allocations();
    std::vector<AllocationId> kept;
    bool undecided = false;
    bool shortCasts = false;
    for (std::size_t i = 0; i < all.count(); ++i) {
        const auto id = static_cast<AllocationId>(i);
        if (i % pollInterval == 0 && job.stopped())
            return;
        if (!search.copies(id))
            continue;
        if (isSaved(input, id))
            kept.push_back(id);
        else if (input.labels.role(id) == Role::Unknown)
            undecided = true;
        else
            shortCasts = shortCasts || facts.any(all.stack[i], in::Cast);
    }
    const SetPeak worst = highestSum(input.replay, kept);
    if (worst.bytes > 0)
        output.findings.push_back(report(input, search, kept, worst, shortCasts, job));
    else if (undecided)
        output.undecided.push_back({loraExtraCopiesRule.id, needsPhases});
}

} // namespace

const Rule loraExtraCopiesRule{"lora-extra-copies", "",
    "Casts, dropout outputs and masks that an adapter keeps of its input until backward.", run};

} // namespace tidemark
