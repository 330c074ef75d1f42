// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/findings/what_if_text.hpp"

#include "model/core/units.hpp"
#include "model/findings/rule_tools.hpp"

namespace tidemark {

std::optional<EventIndex> failureOf(const Finding& finding, const RuleInput& input)
{
    for (const OomAutopsy& oom : input.ooms)
        if ((finding.severity == Severity::Critical || finding.rule == "thin-margin") && finding.eventRange
            && finding.eventRange->first == oom.event)
            return oom.event;
    return std::nullopt;
}

std::string figuresText(const WhatIf& predicted, const RuleInput& input)
{
    std::string text = "peak reserved " + sizeText(predicted.peakReserved);
    if (predicted.capacity)
        text += " of " + sizeText(*predicted.capacity);
    text += " (recorded " + sizeText(input.replay.segments.reserved().total().max) + "), ";
    return text + countText(predicted.counts.flushes, "flush", "flushes");
}

std::string runsOutText(const WhatIf::OutOfMemory& oom, const RuleInput& input)
{
    if (!oom.event)
        return "what lived before the first event finds no room";
    const std::uint64_t event = index(*oom.event) + input.replay.device().firstEventInFile;
    return "memory runs out at event " + formatCount(static_cast<std::int64_t>(event))
        + " already, for a request of " + sizeText(oom.bytes);
}

} // namespace tidemark
