// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/compare/verdict_words.hpp"

#include "model/core/byte_sum.hpp"
#include "model/core/text.hpp"
#include "model/core/units.hpp"

#include <cstdlib>
#include <cstring>

namespace tidemark::compare {

namespace {

constexpr const char* olderText = "older than the recording";

std::string count(std::uint64_t number)
{
    return formatCount(static_cast<std::int64_t>(number));
}

/// The size all allocations of a row have on a side; absent when they differ or there are none.
std::optional<std::uint64_t> uniformSize(
    const Side& side, AllocationId largest, std::uint64_t bytes, std::uint64_t allocations)
{
    if (!valid(largest))
        return std::nullopt;
    const std::uint64_t size = side.replay().timeline.allocations().size[index(largest)];
    return size * allocations == bytes ? std::optional(size) : std::nullopt;
}

/// "attention, saved activation" of the largest member; what the site says itself is left out.
std::string labelText(const Side& side, AllocationId id)
{
    if (!side.labels || !valid(id))
        return {};
    std::string text;
    const std::uint16_t module = side.labels->moduleOf[index(id)];
    if (module != Labels::unmatched && side.labels->modules[module].find('@') == std::string::npos)
        text = side.labels->modules[module];
    const Role role = side.labels->role(id);
    // "optimizer temporaries, optimizer temporary" would say it twice.
    const std::string_view stem = std::string_view(roleName(role)).substr(0, std::strlen(roleName(role)) - 1);
    if (role != Role::Unknown && role != Role::Predating && !text.starts_with(stem))
        text.append(text.empty() ? "" : ", ").append(roleName(role));
    return text;
}

} // namespace

Verdict verdictOf(VerdictKind kind, std::int64_t change, std::string title)
{
    Verdict verdict;
    verdict.kind = kind;
    verdict.severity = change > 0 ? Severity::Warning : Severity::Info;
    verdict.better = change < 0;
    verdict.title = std::move(title);
    return verdict;
}

std::int64_t sumOf(const std::vector<VerdictPart>& parts)
{
    ByteSum sum;
    for (const VerdictPart& part : parts)
        sum += part.bytes;
    return sum;
}

std::string sizeText(std::int64_t bytes)
{
    return formatBytes(bytes < 0 ? wrappingSubtract(0, bytes) : bytes);
}

std::string phaseText(Phase phase)
{
    return phase == Phase::Optimizer ? "the optimizer step" : phaseName(phase);
}

std::string rowText(const VerdictInput& input, const Row& row)
{
    const CommonGroup& group = input.matching.groups[row.group];
    std::string text = displayText(group.name, 160);
    const auto sizeA = uniformSize(input.a, row.largestA, row.bytesA, row.allocationsA);
    const auto sizeB = uniformSize(input.b, row.largestB, row.bytesB, row.allocationsB);
    text += ": ";
    text += row.allocationsA == row.allocationsB ? count(row.allocationsA)
                                                 : count(row.allocationsA) + " → " + count(row.allocationsB);
    const bool oneSize = sizeA && sizeB
        ? *sizeA == *sizeB
        : (sizeA && row.allocationsB == 0) || (sizeB && row.allocationsA == 0);
    if (oneSize)
        text += " × " + formatBytes(static_cast<std::int64_t>(sizeA ? *sizeA : *sizeB));
    else if (sizeA && sizeB && row.allocationsA == row.allocationsB)
        text += " × " + formatBytes(static_cast<std::int64_t>(*sizeA)) + " → "
            + formatBytes(static_cast<std::int64_t>(*sizeB));
    else
        text += row.allocationsA == 1 && row.allocationsB == 1 ? " allocation" : " allocations";
    if (input.matching.by == GroupBy::Site || input.matching.by == GroupBy::Stack) {
        std::string label = valid(row.largestB) ? labelText(input.b, row.largestB) : "";
        if (label.empty() || row.delta < 0)
            if (std::string other = labelText(input.a, row.largestA); !other.empty())
                label = std::move(other);
        if (!label.empty())
            text += " (" + displayText(label, 80) + ")";
    }
    return text;
}

std::vector<VerdictPart> rowParts(const VerdictInput& input, std::size_t most, bool& all)
{
    std::vector<VerdictPart> parts;
    VerdictPart older{olderText, 0, CommonGroup::none};
    VerdictPart rest{{}, 0, CommonGroup::none};
    std::size_t others = 0;
    for (const Row& row : input.atPeaks.rows) {
        if (row.delta == 0)
            continue;
        if (input.matching.groups[row.group].predating) {
            older.bytes = wrappingAdd(older.bytes, row.delta);
        } else if (parts.size() < most) {
            parts.push_back({rowText(input, row), row.delta, row.group});
        } else {
            rest.bytes = wrappingAdd(rest.bytes, row.delta);
            ++others;
        }
    }
    if (older.bytes != 0) {
        const auto place = std::find_if(parts.begin(), parts.end(),
            [&](const VerdictPart& part) { return std::llabs(part.bytes) < std::llabs(older.bytes); });
        parts.insert(place, older);
    }
    if (others > 0) {
        rest.text = "rest: " + formatCount(static_cast<std::int64_t>(others)) + " more";
        parts.push_back(rest);
    }
    all = others == 0;
    return parts;
}

std::string partsText(const VerdictInput& input, const std::vector<VerdictPart>& parts)
{
    std::string text;
    for (const VerdictPart& part : parts)
        text.append(text.empty() ? "" : ", ")
            .append(formatBytesDelta(part.bytes) + " ")
            .append(part.group == CommonGroup::none
                    ? part.text
                    : displayText(input.matching.groups[part.group].name, 100));
    return text;
}

std::string settingText(const std::optional<std::string>& value)
{
    return !value ? "not stated" : value->empty() ? "(empty)" : displayText(*value, 60);
}

std::string allocatorDifferences(const SettingChanges& settings)
{
    constexpr std::string_view prefix = "allocator.";
    // The variable only repeats what the settings made of it.
    const bool others = std::any_of(
        settings.differing.begin(), settings.differing.end(), [prefix](const SettingChange& each) {
            return each.key.starts_with(prefix) && each.key.find("ALLOC_CONF") == std::string::npos;
        });
    std::string text;
    for (const SettingChange& each : settings.differing)
        if (each.key.starts_with(prefix) && !(others && each.key.find("ALLOC_CONF") != std::string::npos))
            text.append(text.empty() ? "" : ", ")
                .append(displayText(each.key.substr(prefix.size()), 60) + " " + settingText(each.a) + " → "
                    + settingText(each.b));
    return text;
}

} // namespace tidemark::compare
