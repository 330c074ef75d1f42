// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session_names.hpp"

#include <array>

namespace tidemark {

namespace {

constexpr std::array colours{
    std::pair(ColourBy::Site, "site"),
    std::pair(ColourBy::Size, "size"),
    std::pair(ColourBy::Age, "age"),
    std::pair(ColourBy::Stream, "stream"),
    std::pair(ColourBy::Pool, "pool"),
    std::pair(ColourBy::Category, "category"),
    std::pair(ColourBy::SegmentKind, "segment"),
    std::pair(ColourBy::Label, "label"),
    std::pair(ColourBy::Role, "role"),
};

constexpr std::array axes{
    std::pair(XAxis::Events, "events"),
    std::pair(XAxis::Time, "time"),
    std::pair(XAxis::Steps, "steps"),
};

template <typename Table, typename Value>
const char* nameIn(const Table& table, Value value)
{
    for (const auto& [each, name] : table)
        if (each == value)
            return name;
    return "";
}

template <typename Value, typename Table>
std::optional<Value> valueIn(const Table& table, std::string_view wanted)
{
    for (const auto& [each, name] : table)
        if (wanted == name)
            return each;
    return std::nullopt;
}

} // namespace

const char* colourKey(ColourBy by)
{
    return nameIn(colours, by);
}

std::optional<ColourBy> colourOf(std::string_view name)
{
    return valueIn<ColourBy>(colours, name);
}

const char* axisName(XAxis axis)
{
    return nameIn(axes, axis);
}

std::optional<XAxis> axisOf(std::string_view name)
{
    return valueIn<XAxis>(axes, name);
}

std::optional<FixPlace> placeOf(const report::SessionFix& fix, const Diagnosis* diagnosis)
{
    std::uint32_t nth = 0;
    for (std::size_t i = 0; diagnosis != nullptr && i < diagnosis->findings.size(); ++i) {
        const Finding& finding = diagnosis->findings[i];
        if (finding.rule != fix.rule || nth++ != fix.index)
            continue;
        for (std::size_t j = 0; j < finding.fixes.size(); ++j)
            if (finding.fixes[j].id == fix.fix)
                return FixPlace{i, j};
    }
    return std::nullopt;
}

std::optional<report::SessionFix> fixAt(const FixPlace& place, const Diagnosis& diagnosis)
{
    if (place.finding >= diagnosis.findings.size()
        || place.fix >= diagnosis.findings[place.finding].fixes.size())
        return std::nullopt;
    const Finding& finding = diagnosis.findings[place.finding];
    report::SessionFix fix{finding.rule, 0, finding.fixes[place.fix].id};
    for (std::size_t i = 0; i < place.finding; ++i)
        fix.index += diagnosis.findings[i].rule == finding.rule ? 1 : 0;
    return fix;
}

std::int64_t lastEvent(const report::Anchor& anchor)
{
    if (const auto* point = std::get_if<report::PointAnchor>(&anchor))
        return point->event;
    if (const auto* allocation = std::get_if<report::AllocationAnchor>(&anchor))
        return allocation->allocEvent.value_or(-1);
    if (const auto* segment = std::get_if<report::SegmentAnchor>(&anchor))
        return segment->event;
    return -1;
}

} // namespace tidemark
