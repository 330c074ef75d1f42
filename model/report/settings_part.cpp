// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/text.hpp"
#include "model/core/units.hpp"
#include "model/report/anchors.hpp"
#include "model/report/builder.hpp"

#include <algorithm>
#include <set>

namespace tidemark::report {

namespace {

std::string settingText(const SettingValue& value)
{
    struct Visitor {
        std::string operator()(bool v) const { return v ? "true" : "false"; }
        std::string operator()(std::int64_t v) const { return std::to_string(v); }
        std::string operator()(double v) const
        {
            std::string text = std::to_string(v);
            while (text.ends_with('0'))
                text.pop_back();
            return text.ends_with('.') ? text + '0' : text;
        }
        std::string operator()(const std::string& v) const { return v; }
    };
    return std::visit(Visitor{}, value);
}

void addAllocator(const BuildContext& context, Section& section)
{
    KeyValues list;
    list.id = "allocator";
    for (const Setting& setting : context.file().settings)
        list.pairs.emplace_back(setting.key,
            textCell(Text().code(
                context.redactor.setting("allocator." + setting.key, settingText(setting.value)))));
    list.units.assign(list.pairs.size(), Unit::None);
    if (list.pairs.empty())
        return;
    section.blocks.emplace_back(Heading{2, "Allocator, as the file states it"});
    section.blocks.emplace_back(std::move(list));
}

/// The settings that checks looked at and that are known.
void addConfig(const BuildContext& context, const Diagnosis& diagnosis, Section& section)
{
    std::set<std::string> keys;
    for (const ConfigCheck& check : diagnosis.checks)
        for (const auto& [key, value] : check.keys)
            keys.insert(key);
    Table table;
    table.id = "config";
    table.caption = "Run configuration that bears on memory";
    table.columns = {{"Setting", Unit::None, true}, {"Value", Unit::None, true}};
    for (const std::string& key : keys)
        if (const ConfigValue* value = diagnosis.config.find(key))
            table.rows.push_back({textCell(Text().code(key)),
                textCell(Text().code(context.redactor.setting(key, configText(*value))))});
    if (table.rows.empty())
        return;
    std::string files;
    for (const std::string& file : diagnosis.config.files())
        files += (files.empty() ? "" : ", ") + std::string(baseName(file));
    if (!files.empty())
        table.note = "From " + files + ".";
    section.blocks.emplace_back(std::move(table));
}

void addChecks(const BuildContext& context, const Diagnosis& diagnosis, Section& section)
{
    Table table;
    table.id = "checks";
    table.caption = "Checks that fired";
    table.columns = {{"Check"}, {"Level"}, {"What", Unit::None, true}, {"Settings", Unit::None, true},
        {"Source", Unit::None, true}};
    std::string unknown;
    for (const ConfigCheck& check : diagnosis.checks) {
        if (check.level == CheckLevel::Unknown) {
            unknown += (unknown.empty() ? "" : ", ") + check.id;
            continue;
        }
        Text keys;
        for (const auto& [key, value] : check.keys)
            keys.add(keys.empty() ? "" : ", ").code(key + '=' + context.redactor.setting(key, value));
        table.rows.push_back({textCell(check.id), textCell(checkLevelName(check.level)), textCell(check.text),
            textCell(std::move(keys)), textCell(Text().muted(check.source))});
    }
    if (!table.rows.empty())
        section.blocks.emplace_back(std::move(table));
    if (!unknown.empty())
        section.blocks.emplace_back(
            Paragraph{Text().muted("Not decided for lack of settings: " + unknown + ".")});
}

void addExpectation(const Expectation& expectation, Section& section)
{
    Table table;
    table.id = "estimate";
    table.caption = "What the settings let expect, beside what is live at the peak";
    table.sortable = false;
    table.columns = {{"Class", Unit::None, true}, {"Measured", Unit::Bytes}, {"Expected, least", Unit::Bytes},
        {"Expected, most", Unit::Bytes}};
    for (const ExpectedClass& each : expectation.classes)
        table.rows.push_back(
            {textCell(each.name), bytesCell(each.measured), bytesCell(each.low), bytesCell(each.high)});
    table.rows.push_back(
        {textCell("in no class"), bytesCell(expectation.otherMeasured), unknownCell(), unknownCell()});
    table.foot.push_back({textCell(Text().strong("= live at the peak")), bytesCell(expectation.live),
        unknownCell(), unknownCell()});
    for (const std::string& each : expectation.assumptions)
        table.note += (table.note.empty() ? "" : " ") + each + (each.ends_with('.') ? "" : ".");
    section.blocks.emplace_back(std::move(table));
}

/// What a remark is about, where that is known here.
const Rank* rankOf(const BuildContext& context, const Annotation& annotation)
{
    const auto& comparison = context.input.comparison;
    if (annotation.view == "compare")
        return !comparison          ? nullptr
            : annotation.input == 0 ? comparison->a.rank.get()
                                    : comparison->b.rank.get();
    return annotation.input == context.input.inputIndex ? context.input.rank.get() : nullptr;
}

} // namespace

void addSettings(const BuildContext& context, Section& section)
{
    addAllocator(context, section);
    if (!context.input.diagnosis)
        return;
    const Diagnosis& diagnosis = *context.input.diagnosis;
    addConfig(context, diagnosis, section);
    addChecks(context, diagnosis, section);
    if (diagnosis.expectation)
        addExpectation(*diagnosis.expectation, section);
}

void addAnnotations(const BuildContext& context, Section& section)
{
    List list;
    list.ordered = true;
    // All of them: their numbers are those on the pictures.
    for (const Annotation& each : context.input.annotations) {
        Text text;
        std::string words = each.text;
        std::replace(words.begin(), words.end(), '\n', ' ');
        if (!words.empty())
            text.add(words).add(" – ");
        const std::string place
            = each.view == "ranks" && each.from.index() == 0 ? "on a rank" : placeText(each);
        std::string where = std::string(annotationKindName(each.kind)) + (place.empty() ? "" : ", " + place);
        if (each.view == "compare")
            where += each.input == 0 ? ", on A" : ", on B";
        else if (each.input != context.input.inputIndex)
            where += ", on "
                + (each.input < context.input.inputNames.size()
                        ? context.redactor.path(displayText(context.input.inputNames[each.input]))
                        : std::string("another file"));
        text.muted(where);
        // A session may be of another recording, or badly made.
        if (const Rank* rank = rankOf(context, each))
            if (const std::string lost = lostText(*rank, each); !lost.empty())
                text.add(" – it points nowhere: " + lost + ".");
        list.items.push_back(std::move(text));
    }
    if (!list.items.empty())
        section.blocks.emplace_back(std::move(list));
}

void addReproduce(const BuildContext& context, Section& section)
{
    const std::string name = context.redactor.path(displayText(context.file().source.name));
    const auto quoted = [](const std::string& text) {
        const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
                || std::string_view("._-+/=,").find(c) != std::string_view::npos;
        });
        if (plain && !text.empty() && text.front() != '-')
            return text;
        std::string out = text.starts_with('-') ? "'./" : "'";
        for (const char c : text)
            out += c == '\'' ? std::string("'\\''") : std::string(1, c);
        return out + "'";
    };
    const std::string file = quoted(name);
    std::string total;
    if (context.input.deviceTotal)
        total = " --device-total " + std::to_string(*context.input.deviceTotal);
    Code code{"sh",
        {"tidemark info " + file, "tidemark at " + file + " --peak", "tidemark diagnose " + file + total}};
    std::string report = "tidemark report " + file;
    if (const auto& c = context.input.comparison) {
        // Their names tell the sides apart, with a folder in front where the files are called the same.
        const std::string other = quoted(context.redactor.text(displayText(c->b.name())));
        code.lines.push_back(
            "tidemark compare " + quoted(context.redactor.text(displayText(c->a.name()))) + " " + other);
        report += " --compare " + other;
    }
    code.lines.push_back(report + (context.wish.redaction.any() ? " --redact" : "") + " -o report.html");
    section.blocks.emplace_back(Paragraph{"The same figures, from the command line. The files of the run's "
                                          "settings lie beside the snapshot or are "
                                          "given with --config and --env."});
    section.blocks.emplace_back(std::move(code));
}

} // namespace tidemark::report
