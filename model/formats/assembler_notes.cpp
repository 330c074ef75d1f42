// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/limits.hpp"
#include "model/core/text.hpp"
#include "model/core/units.hpp"
#include "model/formats/assembler.hpp"

#include <algorithm>

namespace tidemark {

void Assembler::finishAnnotations(Value list)
{
    for (const Value item : itemsOf(list)) {
        const Value v = resolve(item);
        if (v.tag() == Tag::Annotation) {
            m_builder.addAnnotation(m_annotations[v.id()]);
            continue;
        }
        Annotation annotation;
        if (v.tag() == Tag::Dict)
            for (std::size_t i = 0; i + 1 < m_dicts[v.id()].flat.size(); i += 2)
                setAnnotationField(annotation, keyOf(m_dicts[v.id()].flat[i]), m_dicts[v.id()].flat[i + 1]);
        m_builder.addAnnotation(annotation);
    }
}

void Assembler::finishSettings(const std::string& prefix, Value dict, int depth)
{
    const Value content = resolve(dict);
    if (content.tag() != Tag::Dict || depth > 3)
        return;
    const std::vector<Value> flat = m_dicts[content.id()].flat;
    for (std::size_t i = 0; i < flat.size(); i += 2) {
        const std::string key = prefix + plainText(flat[i]);
        const Value v = resolve(flat[i + 1]);
        switch (v.tag()) {
        case Tag::Bool:
            m_builder.addSetting(key, v.payload() != 0);
            break;
        case Tag::Int:
        case Tag::Boxed:
        case Tag::Unsigned:
            m_builder.addSetting(key, integerOf(v).value_or(0));
            break;
        case Tag::Real:
            m_builder.addSetting(key, m_reals[v.id()]);
            break;
        case Tag::Dict:
            finishSettings(key + '.', v, depth + 1);
            break;
        default:
            m_builder.addSetting(key, plainText(v));
            break;
        }
    }
}

/// `trace_alloc_max_entries` and `trace_alloc_overflowed`: at the top level or among the settings, one value
/// or one per device.
void Assembler::finishRings(const Top& top)
{
    Value capacity = top.ringCapacity;
    Value overflowed = top.ringOverflowed;
    const Value settings = resolve(top.settings);
    if (settings.tag() == Tag::Dict) {
        const std::vector<Value>& flat = m_dicts[settings.id()].flat;
        for (std::size_t i = 0; i < flat.size(); i += 2) {
            if (keyOf(flat[i]) == Key::TraceAllocMaxEntries)
                capacity = flat[i + 1];
            if (keyOf(flat[i]) == Key::TraceAllocOverflowed)
                overflowed = flat[i + 1];
        }
    }
    const auto perDevice = [this](Value v, std::size_t device) -> std::optional<std::int64_t> {
        const Value content = resolve(v);
        if (content.tag() == Tag::Pair)
            return device == 0 ? std::optional(m_pairs[content.id()].first)
                : device == 1  ? std::optional(m_pairs[content.id()].second)
                               : std::nullopt;
        if (content.tag() == Tag::List)
            return device < itemsOf(content).size() ? integerOf(itemsOf(content)[device]) : std::nullopt;
        return integerOf(content);
    };
    const std::size_t slots = m_builder.deviceSlots();
    for (std::size_t i = 0; i < slots; ++i) {
        const auto entries = perDevice(capacity, i);
        const auto wrapped = perDevice(overflowed, i);
        if (!entries && !wrapped)
            continue;
        DeviceTrace* device = m_builder.findDevice(static_cast<int>(i));
        if (!device)
            continue;
        if (entries && *entries > 0)
            device->ringCapacity = static_cast<std::uint64_t>(*entries);
        if (wrapped)
            device->ringOverflowed = *wrapped != 0;
    }
}

void Assembler::finishNotes()
{
    std::uint64_t oddKeys = 0;
    const auto unknownKey = [&](std::string_view example, std::uint64_t count) {
        oddKeys += count;
        m_builder.note(Quality::UnknownKey, std::nullopt, example,
            "Keys that no version of PyTorch writes, or values of a kind not expected there: they are left "
            "out.");
    };
    std::vector<std::pair<std::string, std::uint64_t>> names;
    for (const auto& [packed, count] : m_oddKeys) {
        const auto kind = static_cast<DictKind>(packed >> 32U);
        const StringId id{static_cast<std::uint32_t>(packed)};
        const std::string name = valid(id) ? displayText(m_builder.strings().view(id), 80) : "None";
        names.emplace_back(*kindName(kind) ? std::string(kindName(kind)) + '.' + name : name, count);
    }
    std::ranges::sort(names);
    for (const auto& [name, count] : names)
        unknownKey(name, count);
    for (const auto& [where, count] : m_oddTypes) {
        const std::string kind = kindName(where.first);
        unknownKey(kind.empty() ? where.second : kind + '.' + where.second, count);
    }
    if (m_lostFrames > 0)
        unknownKey("frames (items that are no frames)", m_lostFrames);
    if (QualityNote* note = m_builder.findNote(Quality::UnknownKey, std::nullopt))
        note->count = oddKeys;

    for (const auto& [name, count] : m_foreign) {
        m_builder.note(Quality::ForeignObject, std::nullopt, displayText(name, 80),
            "The file names classes or functions of other programs to be called when it is loaded: none was "
            "called, "
            "such values are left out.");
        m_builder.findNote(Quality::ForeignObject, std::nullopt)->count += count - 1;
    }

    std::uint64_t bad = 0;
    for (std::size_t i = 0; i < m_builder.strings().size(); ++i) {
        const std::string_view text = m_builder.strings().view(StringId{static_cast<std::uint32_t>(i)});
        if (isValidUtf8(text))
            continue;
        ++bad;
        m_builder.note(Quality::BadText, std::nullopt, displayText(text, 80),
            "Texts that are not valid UTF-8: the bad bytes are shown as U+FFFD.");
    }
    if (m_cutTexts + m_cutStacks == 0)
        return;
    std::string sentence;
    if (bad > 0)
        sentence = "Texts that are not valid UTF-8: the bad bytes are shown as U+FFFD. ";
    if (m_cutTexts > 0)
        sentence += "Very long texts were cut: " + formatUnsigned(m_cutTexts) + ". ";
    if (m_cutStacks > 0)
        sentence += "Stacks cut to " + formatUnsigned(limits::maxStackFrames)
            + " frames: " + formatUnsigned(m_cutStacks) + ". ";
    sentence.pop_back();
    m_builder.note(Quality::BadText, std::nullopt, "", sentence);
    QualityNote* note = m_builder.findNote(Quality::BadText, std::nullopt);
    note->sentence = sentence;
    note->count = bad + m_cutTexts + m_cutStacks;
}

} // namespace tidemark
