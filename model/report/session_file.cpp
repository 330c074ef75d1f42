// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/session_file.hpp"

#include "model/core/text.hpp"
#include "model/report/exporter.hpp"
#include "model/report/session_json.hpp"

#include <fstream>

namespace tidemark::report {

namespace {

std::string place(const char* key, std::size_t at)
{
    return std::string(key) + ' ' + std::to_string(at + 1) + ": ";
}

void readInputs(
    KeyReader& keys, const char* key, std::vector<SessionInput>& inputs, std::vector<std::string>& problems)
{
    const SessionJson* list = keys.list(key);
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
        KeyReader one((*list)[i], place(key, i), problems);
        SessionInput input;
        one.read("path", input.path);
        one.read("hash", input.hash);
        one.read("bytes", input.bytes);
        if (input.path.empty()) {
            one.wrong("path", "an input needs one");
            continue;
        }
        input.extra = one.extra();
        inputs.push_back(std::move(input));
    }
}

void readSandbox(KeyReader& keys, SessionFile& session, std::vector<std::string>& problems)
{
    keys.read("conf", session.conf);
    const SessionJson* list = keys.list("fixes");
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
        KeyReader one((*list)[i], place("fixes", i), problems);
        SessionFix fix;
        one.read("rule", fix.rule);
        one.read("index", fix.index);
        one.read("fix", fix.fix);
        if (fix.rule.empty() || fix.fix.empty())
            one.wrong("fix", "a fix needs its rule and its name");
        else
            session.fixes.push_back(std::move(fix));
    }
}

SessionFile fromJson(const SessionJson& json, std::vector<std::string>& problems)
{
    SessionFile session;
    KeyReader keys(json, {}, problems);
    keys.find("version");
    readInputs(keys, "inputs", session.inputs, problems);
    readInputs(keys, "compare", session.compare, problems);
    keys.read("current", session.current);
    keys.read("device", session.device);
    keys.read("cursor", session.cursor);
    keys.read("opened", session.opened);
    keys.read("opened_last", session.openedLast);
    keys.read("window", session.window);
    keys.read("range", session.range);
    for (const auto& [key, value] : {std::pair("axis", &session.axis), std::pair("colour", &session.colour),
             std::pair("filter", &session.filter), std::pair("view", &session.view),
             std::pair("labels", &session.labels), std::pair("config", &session.config),
             std::pair("env", &session.env), std::pair("alignment", &session.alignment),
             std::pair("title", &session.title), std::pair("summary", &session.summary)})
        keys.read(key, *value);
    keys.read("settings", session.settings);
    keys.read("card_bytes", session.cardBytes);
    readSandbox(keys, session, problems);
    if (const SessionJson* list = keys.list("annotations"))
        for (std::size_t i = 0; i < list->size(); ++i)
            if (auto one = annotationFromJson((*list)[i], place("annotations", i), problems))
                session.annotations.push_back(std::move(*one));
    keys.read("parts", session.parts);
    session.extra = keys.extra();
    return session;
}

SessionJson inputsJson(const std::vector<SessionInput>& inputs)
{
    SessionJson list = SessionJson::array();
    for (const SessionInput& input : inputs) {
        SessionJson json{{"path", input.path}, {"hash", input.hash}, {"bytes", input.bytes}};
        addExtra(json, input.extra);
        list.push_back(std::move(json));
    }
    return list;
}

SessionJson pairJson(const std::pair<std::int64_t, std::int64_t>& pair)
{
    return SessionJson::array({pair.first, pair.second});
}

SessionJson toJson(const SessionFile& session)
{
    SessionJson json{{"version", SessionFile::version}, {"inputs", inputsJson(session.inputs)}};
    const auto text = [&](const char* key, const std::string& value) {
        if (!value.empty())
            json[key] = value;
    };
    if (!session.compare.empty())
        json["compare"] = inputsJson(session.compare);
    if (session.current != 0)
        json["current"] = session.current;
    if (session.device)
        json["device"] = *session.device;
    if (session.cursor)
        json["cursor"] = *session.cursor;
    if (session.opened)
        json["opened"] = pairJson(*session.opened);
    if (session.openedLast)
        json["opened_last"] = *session.openedLast;
    if (session.window)
        json["window"] = pairJson(*session.window);
    if (session.range)
        json["range"] = pairJson(*session.range);
    text("axis", session.axis);
    text("colour", session.colour);
    text("view", session.view);
    text("filter", session.filter);
    text("labels", session.labels);
    text("config", session.config);
    text("env", session.env);
    if (!session.settings.empty())
        json["settings"] = session.settings;
    if (session.cardBytes)
        json["card_bytes"] = *session.cardBytes;
    text("alignment", session.alignment);
    if (session.conf)
        json["conf"] = *session.conf;
    if (!session.fixes.empty())
        json["fixes"] = SessionJson::array();
    for (const SessionFix& fix : session.fixes)
        json["fixes"].push_back({{"rule", fix.rule}, {"index", fix.index}, {"fix", fix.fix}});
    text("title", session.title);
    text("summary", session.summary);
    if (!session.parts.empty())
        json["parts"] = session.parts;
    json["annotations"] = SessionJson::array();
    for (const Annotation& each : session.annotations)
        json["annotations"].push_back(annotationJson(each));
    addExtra(json, session.extra);
    return json;
}

std::string compact(const SessionJson& json)
{
    return json.dump(-1, ' ', false, SessionJson::error_handler_t::replace);
}

Error refused(ErrorCode code, std::string_view name, const std::string& why)
{
    return {code, displayText(name) + ' ' + why, std::nullopt};
}

} // namespace

std::vector<std::string> SessionFile::settingsFiles() const
{
    std::vector<std::string> files = settings;
    if (files.empty())
        for (const std::string& each : {config, env})
            if (!each.empty())
                files.push_back(each);
    return files;
}

Result<SessionRead> parseSession(std::string_view text, std::string_view name)
{
    if (text.size() > maxSessionBytes)
        return refused(ErrorCode::TooLarge, name, "is larger than 64 MiB, which no session is.");
    LenientJson parsed = parseLeniently(text);
    SessionRead out;
    if (!parsed.fault.empty()) {
        out.problems.push_back("Of the session only a part could be read: " + parsed.fault + '.');
        // Lines behind the fault; a value that breaks off is better read from its line, or not at all.
        SessionJson lines = salvageLines(text);
        if (parsed.json.is_object())
            for (const auto& [key, value] : parsed.json.items())
                if (!lines.contains(key) || (value.is_array() && value.size() > lines[key].size()))
                    lines[key] = value;
        parsed.json = std::move(lines);
    }
    if (!parsed.json.is_object() || parsed.json.empty())
        return refused(
            ErrorCode::Malformed, name, "is no session file of Tidemark: nothing in it could be read.");
    if (const auto version = parsed.json.find("version");
        version != parsed.json.end() && version->is_number()) {
        if (version->get<double>() > SessionFile::version)
            return refused(ErrorCode::Unsupported, name,
                "was written by a newer version of Tidemark (sessions of version " + version->dump()
                    + "; this one reads " + std::to_string(SessionFile::version)
                    + "). Open it with that version; it is left as it is.");
    } else if (parsed.fault.empty() && !parsed.json.contains("inputs")) {
        return refused(ErrorCode::Malformed, name,
            "is no session file of Tidemark: it names neither version nor inputs.");
    } else {
        out.problems.emplace_back("The session does not state its version; it is read as version 1.");
    }
    out.session = fromJson(parsed.json, out.problems);
    return out;
}

Result<SessionRead> readSession(const std::filesystem::path& file)
{
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error))
        return refused(ErrorCode::NotFound, file.string(), "is no file.");
    if (std::filesystem::file_size(file, error) > maxSessionBytes)
        return refused(ErrorCode::TooLarge, file.string(), "is larger than 64 MiB, which no session is.");
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in)
        return refused(ErrorCode::Io, file.string(), "cannot be read.");
    return parseSession(text, file.filename().string());
}

std::string sessionText(const SessionFile& session)
{
    const SessionJson json = toJson(session);
    std::string out = "{\n";
    std::size_t left = json.size();
    for (const auto& [key, value] : json.items()) {
        out += compact(key) + ": ";
        const bool listed = value.is_array() && !value.empty() && value.front().is_object();
        if (!listed) {
            out += compact(value);
        } else {
            out += "[\n";
            for (std::size_t i = 0; i < value.size(); ++i)
                out += compact(value[i]) + (i + 1 < value.size() ? ",\n" : "\n");
            out += "]";
        }
        out += --left > 0 ? ",\n" : "\n";
    }
    return out + "}\n";
}

Result<void> writeSession(const std::filesystem::path& file, const SessionFile& session)
{
    return writeWhole(file, sessionText(session));
}

} // namespace tidemark::report
