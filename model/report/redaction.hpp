// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/playbook/run_config.hpp"
#include "model/run/rank.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::report {

/// What is taken out of a report before it is shared.
struct Redaction {
    enum class Paths : std::uint8_t {
        Keep,
        BaseNames, ///< folders are left out
        Hash, ///< and names of files outside known libraries become "file_3f2a.py"
    };
    Paths paths = Paths::Keep;
    /// Functions outside known libraries become "fn_3f2a", the same one wherever the name is the same.
    bool functions = false;
    /// Names of users and hosts, values of the environment and of settings that say where and for whom.
    bool identities = false;
    /// Texts the program attached: user metadata, compile contexts, names of ranges.
    bool metadata = false;

    bool any() const { return paths != Paths::Keep || functions || identities || metadata; }
    bool operator==(const Redaction&) const = default;
    /// Base names only, no users, hosts or attached texts.
    static Redaction standard() { return {Paths::BaseNames, false, true, true}; }
    /// And functions are hashed: what --redact does.
    static Redaction full() { return {Paths::BaseNames, true, true, true}; }
};

/// One text and what is written in its place.
struct Replacement {
    enum class Kind : std::uint8_t { Path, File, Function, User, Host, Setting, Metadata };
    Kind kind = Kind::Path;
    std::string before; ///< as shown (displayText)
    std::string after;
    bool operator==(const Replacement&) const = default;
};
const char* replacementKindName(Replacement::Kind kind);

/// Where texts come from that a report may hold.
struct RedactionInput {
    std::vector<std::shared_ptr<const Rank>> ranks;
    std::vector<const RunConfig*> configs;
    std::vector<std::string> paths; ///< relative ones that may be named: labels of runs
    std::vector<std::string> fileNames; ///< of other files that are named; some tell a host
    std::vector<std::string> sites; ///< "f@a.py:3" of files that are not among `ranks`
};

/// Replaces what must not be shared. Immutable after build; any thread.
///
/// A word is secret only where it tells something: names that known libraries use too, names that this
/// program's own advice uses ("scaled_dot_product_attention"), names such as "<module>" or "__init__", and
/// home folders of nobody ("root", "ubuntu") stay. A function called by one plain lower-case word ("memory")
/// is replaced where it stands as a function ("memory@model.py:3"), since the word itself is English.
class Redactor {
public:
    Redactor() = default; ///< changes nothing
    /// Cost: a pass over the distinct frames and texts of the files.
    static Redactor build(const RedactionInput& input, const Redaction& redaction);

    bool active() const { return m_redaction.any(); }
    const Redaction& redaction() const { return m_redaction; }
    /// Any text, redacted: known secrets, and whatever looks like an absolute path or a home folder.
    std::string text(std::string_view text) const;
    /// A path: its base name, redacted.
    std::string path(std::string_view path) const;
    /// A setting's value: "hidden" where the key says where or for whom a run is.
    std::string setting(std::string_view key, std::string_view value) const;
    /// The texts of a JSON text, redacted; keys too.
    std::string json(const std::string& json) const;
    /// The texts between the tags of an SVG, redacted.
    std::string svg(std::string_view svg) const;
    /// What is replaced, by kind, then text: the preview.
    std::vector<Replacement> replacements() const;

private:
    struct Secret {
        std::string before;
        std::string after;
        Replacement::Kind kind{};
        std::uint32_t shorter = 0xffffffffU; ///< the longest other secret this one begins with
    };
    class Builder;
    const Secret* at(std::string_view text, std::size_t position) const;
    const Secret* cutAt(std::string_view text, std::size_t position, std::size_t& length) const;

    Redaction m_redaction;
    std::vector<Secret> m_secrets; ///< by text
    std::vector<std::uint8_t> m_first; ///< 256 flags: some secret begins with this byte
};

/// Every text that must not be found (by `mentions`) in a report made with this redaction.
std::vector<std::string> redactedStrings(const RedactionInput& input, const Redaction& redaction);
/// Whether a text holds another one as a word of its own: at an end of `secret` that is a letter, digit or
/// underscore, none of these may follow.
bool mentions(std::string_view text, std::string_view secret);

/// Functions of these frames are public: PyTorch and other libraries that anybody can read.
bool isKnownLibrary(std::string_view function, std::string_view file);
/// Settings whose values are shown: sizes, switches, versions, the allocator's; not those that say where a
/// run is or whose it is.
bool isPublicSetting(std::string_view key);

} // namespace tidemark::report
