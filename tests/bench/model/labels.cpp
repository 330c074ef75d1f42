// SPDX-License-Identifier: GPL-3.0-or-later
// Phases and labels of files: figures, time, and what is live at the peak by role and module.
#include "model/lens/labels.hpp"
#include "model/core/units.hpp"
#include "model/run/rank.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>

using namespace tidemark;

namespace {

void printSorted(const char* title, const std::map<std::string, std::uint64_t>& bytes, std::size_t most)
{
    std::vector<std::pair<std::uint64_t, std::string>> rows;
    for (const auto& [name, sum] : bytes)
        rows.emplace_back(sum, name);
    std::ranges::sort(rows, std::greater<>());
    rows.resize(std::min(rows.size(), most));
    std::printf("  %s:", title);
    for (const auto& [sum, name] : rows)
        std::printf(" [%s %llu]", name.c_str(), static_cast<unsigned long long>(sum));
    std::printf("\n");
}

/// The stacks behind one "module × role" at the peak, most bytes first.
void printStacks(const Replay& replay, const Labels& labels, StateIndex peak, const std::string& wanted)
{
    std::map<StackId, std::uint64_t> bytes;
    for (const AllocationId id : replay.timeline.liveAt(peak)) {
        const std::uint16_t module = labels.moduleOf[index(id)];
        const std::string name = (module == Labels::unmatched ? "-" : labels.modules[module]) + " × "
            + roleName(labels.role(id));
        if (name.find(wanted) != std::string::npos)
            bytes[replay.timeline.allocations().stack[index(id)]]
                += replay.timeline.allocations().size[index(id)];
    }
    std::vector<std::pair<std::uint64_t, StackId>> rows;
    for (const auto& [stack, sum] : bytes)
        rows.emplace_back(sum, stack);
    std::ranges::sort(rows, std::greater<>());
    rows.resize(std::min<std::size_t>(rows.size(), 4));
    for (const auto& [sum, stack] : rows) {
        std::printf("  %llu:", static_cast<unsigned long long>(sum));
        if (valid(stack))
            for (const FrameId frame : replay.snapshot->stacks[stack])
                std::printf(" %s <", frameText(*replay.snapshot, frame).substr(0, 60).c_str());
        else
            std::printf(" nothing recorded");
        std::printf("\n");
    }
}

void print(const Rank& rank, std::size_t device, bool verbose, const char* stacks)
{
    using Clock = std::chrono::steady_clock;
    const Replay& replay = *rank.devices[device];
    const auto start = Clock::now();
    const auto phases = Phases::build(replay, rank.marks[device], {});
    const auto middle = Clock::now();
    const auto labels = Labels::build(replay, *phases, LabelRules::standard(), {});
    const auto end = Clock::now();
    const auto ms = [](auto d) { return std::chrono::duration<double, std::milli>(d).count(); };
    const StateIndex peak = replay.timeline.requested().total().maxState;
    std::printf(" device %d: %zu events, phases %.1f ms, labels %.1f ms\n", replay.device().ordinal,
        replay.device().events.count(), ms(middle - start), ms(end - middle));
    std::size_t complete = 0;
    for (const Step& step : phases->steps)
        complete += step.complete;
    std::printf(
        "  steps %zu (%zu complete) by %s, confidence %.3f; first forward %lld; %zu microbatches, %u in "
        "flight at the peak, peak in %s\n",
        phases->steps.size(), complete, stepSourceName(phases->source), phases->confidence,
        phases->firstForward ? static_cast<long long>(*phases->firstForward) : -1LL,
        phases->microbatches.size(), phases->inFlightAt(peak), phaseName(phases->phaseAt(peak)));
    std::map<std::string, std::uint64_t> events;
    for (const Phase phase : phases->ofEvent)
        ++events[phaseName(phase)];
    printSorted("events", events, 10);
    std::map<std::string, std::uint64_t> roles;
    std::map<std::string, std::uint64_t> modules;
    std::map<std::string, std::uint64_t> both;
    for (const AllocationId id : replay.timeline.liveAt(peak)) {
        const std::uint64_t size = replay.timeline.allocations().size[index(id)];
        const std::uint16_t module = labels->moduleOf[index(id)];
        const std::string name = module == Labels::unmatched ? "-" : labels->modules[module];
        roles[roleName(labels->role(id))] += size;
        modules[name] += size;
        both[name + " × " + roleName(labels->role(id))] += size;
    }
    printSorted("roles", roles, 20);
    printSorted("modules", modules, 14);
    if (stacks != nullptr)
        printStacks(replay, *labels, peak, stacks);
    if (verbose) {
        printSorted("both", both, 60);
        for (const Step& step : phases->steps)
            std::printf("  %s %u-%u%s\n", step.name.c_str(), step.first, step.last,
                step.complete ? "" : " incomplete");
        std::size_t shown = 0;
        for (const PhaseSpan& span : phases->spans)
            if (shown++ < 40)
                std::printf("  %s %u-%u%s\n", phaseName(span.phase), span.first, span.last,
                    span.recorded ? " recorded" : "");
    }
    const double live = static_cast<double>(replay.timeline.requested().at(peak));
    std::printf("  unmatched %.2f %% of %.0f\n",
        live > 0 ? 100.0 * static_cast<double>(labels->unmatchedAtPeak) / live : 0.0, live);
}

} // namespace

int main(int count, char** arguments)
{
    bool verbose = false;
    const char* stacks = nullptr;
    for (int i = 1; i < count; ++i) {
        if (std::strcmp(arguments[i], "-v") == 0) {
            verbose = true;
            continue;
        }
        if (std::strcmp(arguments[i], "-s") == 0 && i + 1 < count) {
            stacks = arguments[++i];
            continue;
        }
        std::printf("%s\n", arguments[i]);
        const auto rank = openRank(arguments[i], {}, {});
        if (!rank) {
            std::printf(" %s\n", rank.error().message.c_str());
            continue;
        }
        for (std::size_t device = 0; device < (*rank)->devices.size(); ++device)
            print(**rank, device, verbose, stacks);
    }
    return 0;
}
