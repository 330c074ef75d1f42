// SPDX-License-Identifier: GPL-3.0-or-later
// Which texts of files and settings are secret.
#include "model/report/redaction.hpp"

#include "model/core/text.hpp"
#include "model/playbook/identities.hpp"
#include "model/report/redaction_words.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

namespace tidemark::report {

namespace {

constexpr std::size_t fewestDigits = 4;
/// Ends of a long name that are looked for; the middle is never shown.
constexpr std::size_t longestSecret = 4096;

/// The function's part of a frame's text: "f" of "f@a.py:3", shortened as frames are shown.
std::string shownFunction(const Snapshot& file, FrameId id)
{
    std::string text = frameText(file, id);
    const Frame& frame = file.frames[id];
    const std::string base = displayText(baseName(file.strings.view(frame.file)), 120);
    std::string tail = "@" + base;
    if (frame.line != 0)
        tail += ":" + std::to_string(frame.line);
    if (text.size() > tail.size() && text.ends_with(tail))
        text.resize(text.size() - tail.size());
    return text;
}

/// Autograd nodes of a program's own functions; those of PyTorch end in a digit or are few.
bool isOwnNode(std::string_view node)
{
    return node.ends_with("Backward");
}

} // namespace

class Redactor::Builder {
public:
    Builder(const RedactionInput& input, const Redaction& redaction)
        : m_input(input)
        , m_redaction(redaction)
    { }

    Redactor build()
    {
        for (const auto& rank : m_input.ranks)
            if (rank)
                file(*rank->snapshot);
        for (const RunConfig* config : m_input.configs)
            if (config != nullptr)
                settings(*config);
        for (const std::string& each : m_input.paths)
            path(each, false);
        for (const std::string& each : m_input.fileNames)
            host(each);
        for (const std::string& each : m_input.sites)
            site(each);
        nameFunctions();
        return finish();
    }

private:
    using Kind = Replacement::Kind;

    void add(std::string_view before, std::string after, Kind kind)
    {
        const std::string shown = displayText(before.substr(0, longestSecret));
        for (const std::string& form : {shown, displayText(before, 120)})
            if (!form.empty() && form != after)
                m_found.try_emplace(form, std::pair(after, kind));
    }

    void file(const Snapshot& file)
    {
        path(file.source.path, false);
        host(file.source.name);
        std::set<std::pair<StringId, StringId>> seen;
        std::vector<FrameId> own;
        for (std::size_t i = 0; i < file.frames.size(); ++i) {
            const auto id = static_cast<FrameId>(i);
            const Frame& frame = file.frames[id];
            if (!seen.insert({frame.name, frame.file}).second)
                continue;
            const std::string_view name
                = valid(frame.name) ? file.strings.view(frame.name) : std::string_view();
            const std::string_view path
                = valid(frame.file) ? file.strings.view(frame.file) : std::string_view();
            const bool library = isKnownLibrary(name, path);
            this->path(path, library);
            if (library && !isOwnNode(autogradNode(name)))
                m_public.insert(std::string(name));
            else
                own.push_back(id);
        }
        if (m_redaction.functions)
            for (const FrameId id : own)
                function(file, id);
        if (m_redaction.metadata)
            attached(file);
        if (m_redaction.identities)
            for (const Setting& setting : file.settings)
                if (const auto* text = std::get_if<std::string>(&setting.value))
                    users(*text);
    }

    void host(std::string_view fileName)
    {
        if (m_redaction.identities)
            if (const std::string host = hostInFileName(fileName); !isCommonHost(host))
                add(host, "host", Kind::Host);
    }

    /// A function that only its call site tells of.
    void site(std::string_view site)
    {
        const std::size_t at = site.rfind('@');
        if (!m_redaction.functions || at == std::string_view::npos || at == 0
            || site.find('.', at) == site.npos)
            return;
        const std::string_view name = site.substr(0, at);
        if (!isKnownLibrary(name, "") && !isCommonFunction(name) && !isOwnWord(name))
            m_functions.try_emplace(displayText(name.substr(0, longestSecret)), std::string(name));
    }

    void function(const Snapshot& file, FrameId id)
    {
        const std::string_view name = file.strings.view(file.frames[id].name);
        if (const std::string_view node = autogradNode(name); isOwnNode(node)) {
            m_functions.emplace(displayText(node, 120), std::string(node));
            return;
        }
        if (isCommonFunction(name) || isOwnWord(name))
            return;
        m_functions.emplace(shownFunction(file, id), std::string(name));
        m_functions.emplace(displayText(name.substr(0, longestSecret)), std::string(name));
    }

    /// Names get their hashes last: the same for the same name, longer where two would be the same.
    void nameFunctions()
    {
        std::map<std::string, std::size_t> digits;
        for (const auto& [shown, name] : m_functions)
            digits.emplace(name, fewestDigits);
        for (std::size_t longer = fewestDigits + 2; longer <= 16; longer += 2) {
            std::map<std::string, std::vector<std::string>> same;
            for (const auto& [name, count] : digits)
                same[shortHash(name, count)].push_back(name);
            for (const auto& [hash, names] : same)
                if (names.size() > 1)
                    for (const std::string& name : names)
                        digits[name] = longer;
        }
        for (const auto& [shown, name] : m_functions) {
            if (m_public.contains(name) || shown.empty())
                continue;
            const std::string after = "fn_" + shortHash(name, digits[name]);
            if (isPlainWord(shown))
                m_found.try_emplace(shown + "@", std::pair(after + "@", Kind::Function));
            else
                m_found.try_emplace(shown, std::pair(after, Kind::Function));
        }
    }

    void users(std::string_view text)
    {
        if (!m_redaction.identities)
            return;
        const std::string user = displayText(userInPath(text));
        if (!user.empty() && !isCommonUser(user))
            add(user, "user", Kind::User);
    }

    void path(std::string_view path, bool library)
    {
        users(path);
        if (m_redaction.paths == Redaction::Paths::Keep || path.empty())
            return;
        const std::string_view base = baseName(path);
        std::string after = displayText(base, 120);
        if (m_redaction.paths == Redaction::Paths::Hash && !library && path.front() != '<') {
            const std::size_t dot = base.rfind('.');
            const bool extension = dot != std::string_view::npos && base.size() - dot <= 5;
            after = "file_" + shortHash(base, fewestDigits)
                + (extension ? displayText(base.substr(dot)) : std::string());
            if (base.size() >= 4)
                add(base, after, Kind::File);
        }
        if (base.size() < path.size())
            add(path, after, Kind::Path);
    }

    void attached(const Snapshot& file)
    {
        std::unordered_set<std::uint32_t> seen;
        const auto one = [&](StringId id, const char* word) {
            if (!valid(id) || !seen.insert(static_cast<std::uint32_t>(id)).second)
                return;
            const std::string_view text = file.strings.view(id);
            if (isPlainWord(text) || isPublicValue(text) || isCommonRange(text) || isOwnWord(text))
                return;
            add(text, word + shortHash(text, fewestDigits), Kind::Metadata);
        };
        for (const DeviceTrace& device : file.devices) {
            for (const auto* column : {&device.events.userMetadata, &device.events.compileContext})
                for (const StringId id : *column)
                    one(id, "text_");
            for (const Block& block : device.blocks)
                one(block.userMetadata, "text_");
        }
        for (const tidemark::Annotation& annotation : file.annotations)
            one(annotation.name, "range_");
    }

    void identities(const Identities& names)
    {
        for (const std::string& user : names.users)
            if (!isCommonUser(user) && !isPublicValue(user))
                add(user, "user", Kind::User);
        for (const std::string& host : names.hosts)
            if (!isCommonHost(host))
                add(host, "host", Kind::Host);
    }

    void settings(const RunConfig& config)
    {
        if (m_redaction.identities)
            identities(identitiesOf(config));
        for (const std::string& name : config.files())
            path(name, false);
        for (const auto& [key, value] : config.values()) {
            if (isIdentityKey(key))
                continue;
            const std::string text = configText(value);
            users(text);
            const bool host = key == "env.HOSTNAME" || key == "env.HOST" || key == "env.SLURMD_NODENAME"
                || key == "env.MASTER_ADDR" || key == "env.COMPUTERNAME" || key == "env.SLURM_NODELIST"
                || key == "env.SLURM_JOB_NODELIST";
            const bool user = key == "env.USER" || key == "env.LOGNAME" || key == "env.USERNAME";
            if (!m_redaction.identities || isPublicValue(text) || text.size() > longestSecret)
                continue;
            if (user && !isCommonUser(text))
                add(text, "user", Kind::User);
            else if (host && !isCommonHost(text))
                add(text, "host", Kind::Host);
            else if (!isPublicSetting(key) && !isPlainWord(text) && text.size() >= 6)
                add(text, "hidden", Kind::Setting);
        }
    }

    Redactor finish()
    {
        Redactor redactor;
        redactor.m_redaction = m_redaction;
        redactor.m_first.assign(256, 0);
        // A map by text is in the order that `at` needs.
        std::vector<std::uint32_t> open;
        for (auto& [before, what] : m_found) {
            const auto place = static_cast<std::uint32_t>(redactor.m_secrets.size());
            while (!open.empty() && !before.starts_with(redactor.m_secrets[open.back()].before))
                open.pop_back();
            redactor.m_secrets.push_back(
                {before, what.first, what.second, open.empty() ? 0xffffffffU : open.back()});
            open.push_back(place);
            redactor.m_first[static_cast<unsigned char>(before.front())] = 1;
        }
        return redactor;
    }

    const RedactionInput& m_input;
    const Redaction& m_redaction;
    std::map<std::string, std::pair<std::string, Kind>> m_found; ///< shown text → replacement
    std::map<std::string, std::string> m_functions; ///< shown name → whole name
    std::set<std::string> m_public; ///< functions of known libraries
};

Redactor Redactor::build(const RedactionInput& input, const Redaction& redaction)
{
    return redaction.any() ? Builder(input, redaction).build() : Redactor();
}

} // namespace tidemark::report
