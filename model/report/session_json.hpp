// SPDX-License-Identifier: GPL-3.0-or-later
// Inside of model/report: JSON that may be broken.
#pragma once

#include "model/report/session_file.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::report {

using SessionJson = nlohmann::ordered_json;

/// What could be read of a text: all of it, or the values before the fault.
struct LenientJson {
    SessionJson json; ///< null when there is nothing
    std::string fault; ///< empty: the text is whole
};
/// Never deeper than maxSessionDepth.
LenientJson parseLeniently(std::string_view text);
/// The keys of a session object, from a broken text as sessionText lays it out: each line by itself.
SessionJson salvageLines(std::string_view text);

/// Reads single keys of an object and collects what is wrong with them; the rest is `extra`.
class KeyReader {
public:
    KeyReader(const SessionJson& object, std::string where, std::vector<std::string>& problems)
        : m_object(object)
        , m_where(std::move(where))
        , m_problems(problems)
    { }

    /// Each leaves `value` alone when the key is absent, null or wrong.
    void read(const char* key, std::string& value);
    void read(const char* key, std::optional<std::string>& value);
    void read(const char* key, std::optional<std::int64_t>& value);
    void read(const char* key, std::optional<std::uint64_t>& value);
    void read(const char* key, std::uint64_t& value);
    void read(const char* key, std::uint32_t& value);
    void read(const char* key, std::int32_t& value);
    void read(const char* key, double& value);
    void read(const char* key, std::optional<std::pair<std::int64_t, std::int64_t>>& value);
    void read(const char* key, std::vector<std::string>& value);
    /// The list under a key, at most maxSessionItems; null when absent or wrong.
    const SessionJson* list(const char* key);
    const SessionJson* object(const char* key);
    const SessionJson* find(const char* key); ///< marks it as known
    void wrong(const char* key, const char* what);
    /// Unknown keys as the text of a JSON object; empty for none.
    std::string extra() const;

private:
    template <typename Number>
    bool whole(const SessionJson& json, Number& value) const;

    const SessionJson& m_object;
    std::string m_where;
    std::vector<std::string>& m_problems;
    std::vector<std::string> m_known;
};

/// An annotation as it stands in the file, and back. Reading never fails: what is wrong is told and left out.
SessionJson annotationJson(const Annotation& annotation);
std::optional<Annotation> annotationFromJson(
    const SessionJson& json, const std::string& where, std::vector<std::string>& problems);
/// Adds the keys of an `extra` text that are not there.
void addExtra(SessionJson& json, const std::string& extra);

} // namespace tidemark::report
