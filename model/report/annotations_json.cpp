// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/session_json.hpp"

#include <cmath>

namespace tidemark::report {

namespace {

SessionJson anchorJson(const Anchor& anchor)
{
    struct Visitor {
        SessionJson operator()(std::monostate) const { return nullptr; }
        SessionJson operator()(const PointAnchor& a) const
        {
            return {{"event", a.event}, {"bytes", a.bytes}};
        }
        SessionJson operator()(const AllocationAnchor& a) const
        {
            SessionJson json{{"allocation", a.address}, {"generation", a.generation}};
            if (a.allocEvent)
                json["alloc_event"] = *a.allocEvent;
            return json;
        }
        SessionJson operator()(const SegmentAnchor& a) const
        {
            return {{"segment", a.address}, {"event", a.event}};
        }
        SessionJson operator()(const FindingAnchor& a) const
        {
            return {{"finding", a.rule}, {"index", a.index}};
        }
    };
    return std::visit(Visitor{}, anchor);
}

Anchor anchorFromJson(const SessionJson& json, const std::string& where, std::vector<std::string>& problems)
{
    KeyReader keys(json, where, problems);
    std::optional<std::int64_t> event;
    keys.read("event", event);
    if (json.contains("allocation")) {
        AllocationAnchor anchor;
        keys.read("allocation", anchor.address);
        keys.read("generation", anchor.generation);
        keys.read("alloc_event", anchor.allocEvent);
        return anchor;
    }
    if (json.contains("segment")) {
        SegmentAnchor anchor;
        keys.read("segment", anchor.address);
        anchor.event = event.value_or(-1);
        return anchor;
    }
    if (json.contains("finding")) {
        FindingAnchor anchor;
        keys.read("finding", anchor.rule);
        keys.read("index", anchor.index);
        if (anchor.rule.empty())
            return {};
        return anchor;
    }
    if (!event)
        return {};
    PointAnchor anchor{*event, 0};
    std::optional<std::int64_t> bytes;
    keys.read("bytes", bytes);
    anchor.bytes = bytes.value_or(0);
    return anchor;
}

double finite(double value)
{
    return std::isfinite(value) ? value : 0;
}

} // namespace

SessionJson annotationJson(const Annotation& a)
{
    SessionJson json{{"id", a.id}, {"kind", annotationKindName(a.kind)}, {"view", a.view}, {"input", a.input},
        {"device", a.device}, {"from", anchorJson(a.from)}, {"to", anchorJson(a.to)}, {"text", a.text},
        {"label", {finite(a.labelX), finite(a.labelY)}}};
    addExtra(json, a.extra);
    return json;
}

std::optional<Annotation> annotationFromJson(
    const SessionJson& json, const std::string& where, std::vector<std::string>& problems)
{
    KeyReader keys(json, where, problems);
    std::string kindName;
    keys.read("kind", kindName);
    const auto kind = annotationKindFromName(kindName);
    if (!json.is_object() || !kind) {
        keys.wrong("kind", "there is no remark of this kind");
        return std::nullopt;
    }
    Annotation a;
    a.kind = *kind;
    keys.read("id", a.id);
    keys.read("view", a.view);
    keys.read("input", a.input);
    keys.read("device", a.device);
    keys.read("text", a.text);
    if (const SessionJson* from = keys.object("from"))
        a.from = anchorFromJson(*from, where, problems);
    if (const SessionJson* to = keys.object("to"))
        a.to = anchorFromJson(*to, where, problems);
    if (const SessionJson* label = keys.list("label"); label != nullptr) {
        if (label->size() == 2 && (*label)[0].is_number() && (*label)[1].is_number()) {
            a.labelX = finite((*label)[0].get<double>());
            a.labelY = finite((*label)[1].get<double>());
        } else {
            keys.wrong("label", "it is not two numbers");
        }
    }
    a.extra = keys.extra();
    return a;
}

} // namespace tidemark::report
