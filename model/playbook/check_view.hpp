// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/playbook/config_checks.hpp"

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

/// Yes, no, or unknown (absent).
using Tri = std::optional<bool>;

/// No wins, then unknown.
Tri allOf(std::initializer_list<Tri> parts);
/// Yes wins, then unknown.
Tri anyOf(std::initializer_list<Tri> parts);
Tri notOf(Tri part);

/// The first two numbers of a release ("2.11.0a0+git" is 2.11).
using Version = std::pair<int, int>;
std::optional<Version> parseVersion(std::string_view text);

/// A configuration and what the recording adds, as the checks ask for it. Every answer is absent where the
/// key is.
class CheckView {
public:
    CheckView(const RunConfig& config, const CheckFacts& facts)
        : m_config(config)
        , m_facts(facts)
    { }

    const RunConfig& config() const { return m_config; }
    const CheckFacts& facts() const { return m_facts; }

    /// Set to something that is not null, false, 0 or empty.
    Tri on(std::string_view key) const;
    Tri isNull(std::string_view key) const;
    /// A whole number of a size that settings have; absent for null too.
    std::optional<std::int64_t> count(std::string_view key) const;
    /// As count, with `nullValue` for null.
    std::optional<std::int64_t> countOr(std::string_view key, std::int64_t nullValue) const;
    /// A name without its enumeration, "none" for null.
    std::optional<std::string> word(std::string_view key) const;
    Tri wordIs(std::string_view key, std::initializer_list<std::string_view> words) const;
    /// The words of a list or of one text, without their enumeration; none for null.
    std::optional<std::vector<std::string>> words(std::string_view key) const;
    Tri listHas(std::string_view key, std::initializer_list<std::string_view> any) const;
    std::optional<Version> version(std::string_view product) const;
    std::optional<std::string> env(std::string_view name) const { return m_config.environment(name); }

    /// expandable_segments:True in PYTORCH_CUDA_ALLOC_CONF, in PYTORCH_ALLOC_CONF, in either.
    Tri expandableOld() const;
    Tri expandableNew() const;
    Tri expandableEither() const { return anyOf({expandableOld(), expandableNew()}); }
    /// CUDA graphs of any kind.
    Tri graphs() const;
    /// The parts that graphs capture: cuda_graph_scope, or cuda_graph_modules in newer versions.
    Tri scopeHas(std::string_view part) const;
    Tri selective() const { return wordIs("model.recompute_granularity", {"selective"}); }
    /// Selective recompute of this label.
    Tri recomputes(std::string_view label) const;
    /// The adapter's class, the last part of peft._target_; "" for none.
    std::optional<std::string> adapter() const;

    /// Text for the sentences: the value, or "unknown".
    std::string say(std::string_view key) const;

private:
    const RunConfig& m_config;
    const CheckFacts& m_facts;
};

/// One line of the table of checks.
struct CheckRow {
    const char* id;
    CheckLevel level;
    std::vector<const char*> keys;
    Tri (*fires)(const CheckView& view);
    std::string (*text)(const CheckView& view);
    const char* source;
};

std::span<const CheckRow> allocatorChecks();
std::span<const CheckRow> offloadChecks();
std::span<const CheckRow> recomputeChecks();
std::span<const CheckRow> parallelChecks();
std::span<const CheckRow> graphChecks();
std::span<const CheckRow> adapterChecks();

} // namespace tidemark
