// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/playbook/playbook.hpp"

#include "model/core/embedded.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace tidemark {

namespace {

using Json = nlohmann::json;

std::string text(const Json& item, const char* key)
{
    return item.at(key).get<std::string>();
}

std::vector<std::string> texts(const Json& item, const char* key)
{
    return item.at(key).get<std::vector<std::string>>();
}

char grade(const Json& item)
{
    const std::string letter = text(item, "grade");
    if (letter.size() != 1 || letter[0] < 'A' || letter[0] > 'D')
        throw std::invalid_argument("a grade is A, B, C or D");
    return letter[0];
}

PlaybookStep readStep(const Json& j)
{
    return {text(j, "id"), text(j, "title"), text(j, "action"), text(j, "when"), text(j, "cost"), grade(j),
        text(j, "source"), texts(j, "keys"), texts(j, "rules"), texts(j, "verify")};
}

PlaybookRow readRow(const Json& j)
{
    return {text(j, "id"), text(j, "symptom"), text(j, "cause"), text(j, "confirm"), text(j, "action"),
        texts(j, "rules"), text(j, "source")};
}

RecomputeLabel readLabel(const Json& j)
{
    return {text(j, "name"), j.at("pinned").get<bool>(), text(j, "boundary"), text(j, "mechanism"),
        text(j, "frees"), text(j, "when"), text(j, "cost"), text(j, "source")};
}

MeasuredResult readResult(const Json& j)
{
    MeasuredResult result{text(j, "id"), text(j, "study"), text(j, "model"), text(j, "hardware"),
        text(j, "configuration"), text(j, "outcome"), grade(j), text(j, "source"), {}};
    for (const Json& figure : j.at("figures"))
        result.figures.push_back(
            {text(figure, "name"), figure.at("value").get<double>(), text(figure, "unit")});
    return result;
}

const char* kindName(PlaybookNote::Kind kind)
{
    switch (kind) {
    case PlaybookNote::Kind::Constraint:
        return "constraint";
    case PlaybookNote::Kind::Limitation:
        return "limitation";
    case PlaybookNote::Kind::Verification:
        return "verification";
    case PlaybookNote::Kind::Fact:
        break;
    }
    return "fact";
}

PlaybookNote readNote(const Json& j)
{
    PlaybookNote note{text(j, "id"), PlaybookNote::Kind::Fact, text(j, "title"), text(j, "text"),
        text(j, "command"), text(j, "source"), texts(j, "tags"), texts(j, "rules")};
    const std::string kind = text(j, "kind");
    using Kind = PlaybookNote::Kind;
    for (const Kind each : {Kind::Constraint, Kind::Limitation, Kind::Verification, Kind::Fact})
        if (kind == kindName(each)) {
            note.kind = each;
            return note;
        }
    throw std::invalid_argument("unknown kind of note: " + kind);
}

template <typename Item, typename Read>
std::vector<Item> readAll(const Json& json, const char* key, Read read)
{
    std::vector<Item> items;
    for (const Json& each : json.at(key))
        items.push_back(read(each));
    return items;
}

template <typename Item>
const Item* byId(const std::vector<Item>& items, std::string_view id)
{
    const auto it
        = std::find_if(items.begin(), items.end(), [id](const Item& each) { return each.id == id; });
    return it == items.end() ? nullptr : &*it;
}

std::string numberText(double value)
{
    char buffer[40];
    const auto end
        = std::to_chars(buffer, buffer + sizeof buffer, std::abs(value), std::chars_format::fixed).ptr;
    return (value < 0 ? "\u2212" : "") + std::string(buffer, end);
}

std::string lower(std::string_view text)
{
    std::string result(text);
    for (char& c : result)
        if (c >= 'A' && c <= 'Z')
            c = static_cast<char>(c - 'A' + 'a');
    return result;
}

} // namespace

std::optional<double> MeasuredResult::figure(std::string_view name, std::string_view unit) const
{
    for (const Figure& each : figures)
        if (each.name == name && each.unit == unit)
            return each.value;
    return std::nullopt;
}

std::string resultText(const MeasuredResult& result)
{
    std::string text
        = result.model + ", " + result.hardware + ", " + result.configuration + ": " + result.outcome;
    for (const MeasuredResult::Figure& each : result.figures)
        text += "; " + each.name + " " + numberText(each.value)
            + (each.unit == "1" ? "" : "\u00a0" + each.unit);
    return text + ". Measured elsewhere: " + result.source + ".";
}

const Playbook& Playbook::standard()
{
    static const Playbook playbook = [] {
        auto parsed = parse(embeddedPlaybook());
        return parsed ? std::move(parsed).value() : Playbook();
    }();
    return playbook;
}

Result<Playbook> Playbook::parse(std::string_view json)
{
    Playbook book;
    try {
        const Json all = Json::parse(json);
        book.m_steps = readAll<PlaybookStep>(all, "steps", readStep);
        book.m_rows = readAll<PlaybookRow>(all, "rows", readRow);
        book.m_labels = readAll<RecomputeLabel>(all, "labels", readLabel);
        book.m_results = readAll<MeasuredResult>(all, "results", readResult);
        book.m_notes = readAll<PlaybookNote>(all, "notes", readNote);
    } catch (const std::exception& error) {
        return Error{ErrorCode::Malformed, "The playbook cannot be read: " + std::string(error.what()) + ".",
            std::nullopt};
    }
    book.makeEntries();
    return book;
}

void Playbook::makeEntries()
{
    for (const PlaybookStep& s : m_steps)
        m_entries.push_back({s.id, "step", s.title,
            s.action + " When: " + s.when + " Cost: " + s.cost + " (" + s.source + ").", s.keys, s.rules});
    for (const PlaybookRow& r : m_rows)
        m_entries.push_back({r.id, "symptom", r.symptom,
            r.cause + ". To confirm: " + r.confirm + ". To do: " + r.action + ". (" + r.source + ")", {},
            r.rules});
    for (const RecomputeLabel& l : m_labels)
        m_entries.push_back({l.name, "recompute label", "Recompute label " + l.name,
            "Frees: " + l.frees + ". When: " + l.when + ". Cost: " + l.cost + ". How: " + l.mechanism + ", "
                + l.boundary + " (" + l.source + ").",
            {"recompute", "recompute_modules"}, {"recompute-candidate"}});
    for (const MeasuredResult& r : m_results)
        m_entries.push_back({r.id, "measured", r.model + ": " + r.id, resultText(r), {r.study, r.model}, {}});
    for (const PlaybookNote& n : m_notes)
        m_entries.push_back({n.id, kindName(n.kind), n.title,
            n.text + (n.command.empty() ? "" : "\n" + n.command)
                + (n.source.empty() ? "" : " (" + n.source + ")"),
            n.tags, n.rules});
}

const PlaybookStep* Playbook::step(std::string_view id) const
{
    return byId(m_steps, id);
}

const PlaybookRow* Playbook::row(std::string_view id) const
{
    return byId(m_rows, id);
}

const RecomputeLabel* Playbook::label(std::string_view name) const
{
    const auto it = std::find_if(
        m_labels.begin(), m_labels.end(), [name](const RecomputeLabel& each) { return each.name == name; });
    return it == m_labels.end() ? nullptr : &*it;
}

const MeasuredResult* Playbook::result(std::string_view id) const
{
    return byId(m_results, id);
}

const PlaybookNote* Playbook::note(std::string_view id) const
{
    return byId(m_notes, id);
}

std::vector<const PlaybookEntry*> Playbook::search(std::string_view words) const
{
    std::vector<std::string> wanted;
    for (std::size_t at = 0; (at = words.find_first_not_of(' ', at)) != std::string_view::npos;) {
        const std::size_t end = std::min(words.find(' ', at), words.size());
        wanted.push_back(lower(words.substr(at, end - at)));
        at = end;
    }
    std::vector<const PlaybookEntry*> found;
    for (const PlaybookEntry& each : m_entries) {
        std::string all = each.id + " " + each.kind + " " + each.title + " " + each.text;
        for (const auto* list : {&each.tags, &each.rules})
            for (const std::string& tag : *list)
                all += " " + tag;
        all = lower(all);
        if (std::all_of(wanted.begin(), wanted.end(),
                [&all](const std::string& word) { return all.find(word) != std::string::npos; }))
            found.push_back(&each);
    }
    return found;
}

} // namespace tidemark
