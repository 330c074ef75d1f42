// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/annotations.hpp"

#include "model/core/byte_sum.hpp"
#include "model/core/units.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace tidemark::report {

namespace {

constexpr std::array kindNames{"note", "box", "arrow", "ruler", "pin"};

std::string eventText(std::int64_t event)
{
    return event < 0 ? "before the first event" : "event " + formatCount(event);
}

} // namespace

const char* annotationKindName(AnnotationKind kind)
{
    return kindNames[static_cast<std::size_t>(kind)];
}

std::optional<AnnotationKind> annotationKindFromName(std::string_view name)
{
    for (std::size_t i = 0; i < kindNames.size(); ++i)
        if (name == kindNames[i])
            return static_cast<AnnotationKind>(i);
    return std::nullopt;
}

Annotations::Annotations()
    : m_now(std::make_shared<const Items>())
{ }

Annotations::Annotations(Items items)
{
    std::set<std::uint64_t> taken;
    for (const Annotation& each : items)
        m_nextId = std::max(m_nextId, each.id < UINT64_MAX ? each.id + 1 : m_nextId);
    for (Annotation& each : items)
        if (each.id == 0 || each.id == UINT64_MAX || !taken.insert(each.id).second)
            each.id = m_nextId++;
    m_now = std::make_shared<const Items>(std::move(items));
}

std::size_t Annotations::position(std::uint64_t id) const
{
    const auto found
        = std::find_if(m_now->begin(), m_now->end(), [id](const Annotation& each) { return each.id == id; });
    return static_cast<std::size_t>(found - m_now->begin());
}

const Annotation* Annotations::find(std::uint64_t id) const
{
    const std::size_t at = position(id);
    return at < m_now->size() ? &(*m_now)[at] : nullptr;
}

void Annotations::change(Items items)
{
    m_past.push_back(std::move(m_now));
    if (m_past.size() > depth)
        m_past.erase(m_past.begin());
    m_future.clear();
    m_now = std::make_shared<const Items>(std::move(items));
}

std::uint64_t Annotations::add(Annotation annotation, std::optional<std::size_t> at)
{
    annotation.id = m_nextId++;
    const std::uint64_t id = annotation.id;
    Items items = *m_now;
    const std::size_t place = std::min(at.value_or(items.size()), items.size());
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(place), std::move(annotation));
    change(std::move(items));
    return id;
}

bool Annotations::edit(std::uint64_t id, Annotation annotation)
{
    const std::size_t at = position(id);
    annotation.id = id;
    if (at == m_now->size() || (*m_now)[at] == annotation)
        return false;
    Items items = *m_now;
    items[at] = std::move(annotation);
    change(std::move(items));
    return true;
}

bool Annotations::move(std::uint64_t id, std::size_t to)
{
    const std::size_t at = position(id);
    if (at == m_now->size())
        return false;
    to = std::min(to, m_now->size() - 1);
    if (to == at)
        return false;
    Items items = *m_now;
    Annotation moved = std::move(items[at]);
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(to), std::move(moved));
    change(std::move(items));
    return true;
}

bool Annotations::remove(std::uint64_t id)
{
    const std::size_t at = position(id);
    if (at == m_now->size())
        return false;
    Items items = *m_now;
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
    change(std::move(items));
    return true;
}

bool Annotations::undo()
{
    if (m_past.empty())
        return false;
    m_future.push_back(std::move(m_now));
    m_now = std::move(m_past.back());
    m_past.pop_back();
    return true;
}

bool Annotations::redo()
{
    if (m_future.empty())
        return false;
    m_past.push_back(std::move(m_now));
    m_now = std::move(m_future.back());
    m_future.pop_back();
    return true;
}

std::string anchorText(const Anchor& anchor)
{
    struct Visitor {
        std::string operator()(std::monostate) const { return {}; }
        std::string operator()(const PointAnchor& a) const
        {
            return eventText(a.event) + " at " + formatBytes(a.bytes);
        }
        std::string operator()(const AllocationAnchor& a) const
        {
            std::string text = "allocation " + formatAddress(a.address);
            if (a.allocEvent)
                return text + " made by event " + formatCount(*a.allocEvent);
            return a.generation == 0
                ? text + ", the first there"
                : text + ", number " + formatCount(std::int64_t{a.generation} + 1) + " there";
        }
        std::string operator()(const SegmentAnchor& a) const
        {
            return "segment memory at " + formatAddress(a.address) + ", " + eventText(a.event);
        }
        std::string operator()(const FindingAnchor& a) const
        {
            return "finding " + a.rule
                + (a.index == 0 ? std::string() : ", number " + formatCount(std::int64_t{a.index} + 1));
        }
    };
    return std::visit(Visitor{}, anchor);
}

std::string placeText(const Annotation& annotation)
{
    const std::string from = anchorText(annotation.from);
    const std::string to = anchorText(annotation.to);
    if (to.empty())
        return from;
    std::string text = from.empty() ? to : from + " to " + to;
    const auto* a = std::get_if<PointAnchor>(&annotation.from);
    const auto* b = std::get_if<PointAnchor>(&annotation.to);
    if (annotation.kind == AnnotationKind::Ruler && a != nullptr && b != nullptr) {
        const std::int64_t bytes = wrappingSubtract(b->bytes, a->bytes);
        text += ": " + formatCount(wrappingSubtract(b->event, a->event)) + " events, "
            + (bytes == 0 ? std::string("0 B") : formatBytesDelta(bytes));
    }
    return text;
}

} // namespace tidemark::report
