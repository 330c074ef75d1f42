// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/escape.hpp"
#include "model/report/exporter.hpp"

#include <array>
#include <nlohmann/json.hpp>

namespace tidemark::report {

namespace {

using Json = nlohmann::ordered_json;

Json exactJson(const Exact& exact)
{
    if (const auto* whole = std::get_if<std::int64_t>(&exact))
        return *whole;
    if (const auto* real = std::get_if<double>(&exact))
        return *real;
    return nullptr;
}

Json cellJson(const Cell& cell)
{
    Json json{{"text", cell.text.plain()}, {"value", exactJson(cell.exact)}};
    if (cell.indent > 0)
        json["indent"] = cell.indent;
    return json;
}

Json rowsJson(const std::vector<std::vector<Cell>>& rows)
{
    Json list = Json::array();
    for (const std::vector<Cell>& row : rows) {
        Json cells = Json::array();
        for (const Cell& cell : row)
            cells.push_back(cellJson(cell));
        list.push_back(std::move(cells));
    }
    return list;
}

Json textsJson(const std::vector<Text>& texts)
{
    Json list = Json::array();
    for (const Text& each : texts)
        list.push_back(each.plain());
    return list;
}

struct BlockJson {
    Json operator()(const Heading& block) const
    {
        return {{"type", "heading"}, {"level", block.level}, {"text", block.text.plain()}};
    }
    Json operator()(const Paragraph& block) const
    {
        return {{"type", "paragraph"}, {"text", block.text.plain()}};
    }
    Json operator()(const Figures& block) const
    {
        Json list = Json::array();
        for (const Figure& each : block.figures)
            list.push_back({{"id", each.id}, {"name", each.name}, {"text", each.value}, {"note", each.note},
                {"unit", unitName(each.unit)}, {"value", exactJson(each.exact)}});
        return {{"type", "figures"}, {"figures", std::move(list)}};
    }
    Json operator()(const Table& block) const
    {
        Json columns = Json::array();
        for (const Column& each : block.columns)
            columns.push_back({{"name", each.name}, {"unit", unitName(each.unit)}});
        return {{"type", "table"}, {"id", block.id}, {"caption", block.caption},
            {"columns", std::move(columns)}, {"rows", rowsJson(block.rows)}, {"foot", rowsJson(block.foot)},
            {"note", block.note}};
    }
    Json operator()(const KeyValues& block) const
    {
        Json list = Json::array();
        for (std::size_t i = 0; i < block.pairs.size(); ++i) {
            Json pair{{"key", block.pairs[i].first}};
            pair.update(cellJson(block.pairs[i].second));
            pair["unit"] = unitName(i < block.units.size() ? block.units[i] : Unit::None);
            list.push_back(std::move(pair));
        }
        return {{"type", "values"}, {"id", block.id}, {"values", std::move(list)}};
    }
    Json operator()(const List& block) const
    {
        return {{"type", "list"}, {"ordered", block.ordered}, {"items", textsJson(block.items)}};
    }
    Json operator()(const Picture& block) const
    {
        const bool svg = block.kind == Picture::Kind::Svg;
        return {{"type", "picture"}, {"id", block.id}, {"format", svg ? "svg" : "png"},
            {"width", block.width}, {"height", block.height}, {"alt", block.alt}, {"caption", block.caption},
            {svg ? "svg" : "png_base64", svg ? block.data : base64(block.data)}};
    }
    Json operator()(const Stack& block) const
    {
        return {{"type", "stack"}, {"title", block.title}, {"frames", block.frames}, {"more", block.more}};
    }
    Json operator()(const Note& block) const
    {
        return {{"type", "note"}, {"tone", toneName(block.tone)}, {"text", block.text.plain()}};
    }
    Json operator()(const Code& block) const
    {
        return {{"type", "code"}, {"language", block.language}, {"lines", block.lines}};
    }
};

} // namespace

std::string writeJson(const Document& document)
{
    Json json{{"schema", reportSchema}, {"kind", "tidemark-report"}, {"title", document.title},
        {"head", document.head}, {"foot", document.foot}, {"redacted", document.redacted},
        {"summary", textsJson(document.summary)}, {"sections", Json::array()}, {"data", Json::object()}};
    for (const Section& section : document.sections) {
        Json blocks = Json::array();
        for (const Block& block : section.blocks)
            blocks.push_back(std::visit(BlockJson{}, block));
        json["sections"].push_back({{"id", section.id}, {"title", section.title},
            {"subtitle", section.subtitle}, {"blocks", std::move(blocks)}});
    }
    for (const auto& [name, text] : document.data) {
        Json parsed = Json::parse(text, nullptr, false);
        json["data"][name] = parsed.is_discarded() ? Json(nullptr) : std::move(parsed);
    }
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

} // namespace tidemark::report
