// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/report/redaction_words.hpp"

#include "model/findings/evidence_units.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace tidemark::report {

namespace {

bool isOneOf(std::string_view word, std::span<const char* const> words)
{
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

std::size_t digitsAt(std::string_view text)
{
    return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), isDigit) - text.begin());
}

/// "1234.1790000000000." and what follows: a process and a time, as torch.profiler names its files.
bool startsProcess(std::string_view text)
{
    constexpr std::size_t digitsOfTime = 10;
    const std::size_t process = digitsAt(text);
    if (process == 0 || process >= text.size() || text[process] != '.')
        return false;
    text.remove_prefix(process + 1);
    const std::size_t time = digitsAt(text);
    return time >= digitsOfTime && time < text.size() && text[time] == '.';
}

/// "Jul_14_03_33_20" and what follows.
bool startsDate(std::string_view text)
{
    constexpr std::string_view shape = "Aaa_00_00_00_00";
    if (text.size() < shape.size())
        return false;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const char c = text[i];
        const bool fits = shape[i] == 'A' ? c >= 'A' && c <= 'Z'
            : shape[i] == 'a'             ? c >= 'a' && c <= 'z'
            : shape[i] == '0'             ? isDigit(c)
                                          : c == '_';
        if (!fits)
            return false;
    }
    return true;
}

} // namespace

bool isCommonFunction(std::string_view name)
{
    constexpr std::array words{"wrapper", "inner", "forward", "backward", "step", "main", "train", "run",
        "call", "train_step", "training_step", "forward_step", "backward_step", "loss_fn", "loss_func",
        "zero_grad", "setup", "closure", "decorate_context", "eval_step", "validation_step", "test_step",
        "forward_backward", "optimizer_step", "run_step", "no_stack"};
    return name.empty() || name.starts_with('<')
        ? name.empty() || name == "<module>" || name == "<lambda>" || name == "<listcomp>"
            || name == "<genexpr>" || name == "<dictcomp>" || name == "<setcomp>"
        : (name.starts_with("__") && name.ends_with("__") && name.size() <= 24 && name.size() > 4)
            || isOneOf(name, words);
}

bool isPlainWord(std::string_view word)
{
    return word.size() < 4
        || std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

bool isCommonUser(std::string_view name)
{
    constexpr std::array users{"root", "ubuntu", "user", "users", "runner", "admin", "jovyan", "nobody",
        "dev", "app", "home", "test", "work", "data", "default", "debian", "centos", "ec2-user", "Public",
        "vscode", "docker", "container", "shared", "all", "runneradmin",
        // and words that reports are made of
        "rank", "mark", "page", "file", "name", "bytes", "title", "table", "section", "report", "memory",
        "peak", "live", "event", "events", "device", "unit", "text", "kind", "value", "rows", "step", "data",
        "count"};
    return name.size() < 3 || isOneOf(name, users);
}

bool isCommonHost(std::string_view name)
{
    constexpr std::array hosts{"localhost", "localhost.localdomain", "localdomain", "127.0.0.1", "0.0.0.0",
        "::1", "node", "nodes", "host", "gpu", "cuda", "login", "head", "master", "worker", "main", "leader",
        "server", "client", "local", "none", "None", "null", "unknown", "container", "docker", "cluster",
        "job", "rank", "device", "compute", "train", "trainer", "training", "memory", "test"};
    return name.size() < 3 || isOneOf(name, hosts);
}

bool isPublicValue(std::string_view value)
{
    constexpr std::array words{"true", "false", "True", "False", "none", "None", "null", "on", "off", "yes",
        "no", "bf16", "fp16", "fp8", "unknown"};
    return value.empty() || isOneOf(value, words)
        || (value.size() <= 20 && std::all_of(value.begin(), value.end(), [](char c) {
               return isDigit(c) || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E';
           }));
}

bool isCommonRange(std::string_view name)
{
    const std::string_view number = name.substr(std::min<std::size_t>(name.size(), 13));
    return (name.starts_with("ProfilerStep#") && number.size() <= 12
               && std::all_of(number.begin(), number.end(), isDigit))
        || name == "## forward ##" || name == "## backward ##" || name == "## optimizer ##"
        || (name.starts_with("Optimizer.") && name.size() < 60
            && name.find_first_of("/\\@ ") == std::string_view::npos);
}

bool isOwnWord(std::string_view name)
{
    constexpr std::array words{"peak_live", "peak_event", "event_range", "data_quality", "device_total",
        "removed_at_peak", "new_peak", "new_peak_owner", "new_peak_event", "cost_grade", "blocked_by",
        "first_event", "reserved_peak", "allocations_a", "allocations_b", "settings_equal", "aligned_by",
        "grouped_by", "other_measured", "activations_upper_bound", "only_a", "only_b", "key_b", "event_a",
        "event_b", "peak_phase", "peak_step", "alloc_event", "expandable_segments", "max_split_size_mb",
        "garbage_collection_threshold", "roundup_power2_divisions", "hidden_size", "num_layers", "seq_length",
        "micro_batch_size", "global_batch_size", "recompute_modules", "recompute_granularity", "empty_cache",
        "_record_memory_history", "_dump_snapshot", "max_entries", "memory_allocated", "record_function"};
    return isOneOf(name, words) || evidenceUnit(name).has_value() || isAdviceWord(name);
}

std::string hostInFileName(std::string_view name)
{
    constexpr std::size_t longest = 255;
    constexpr std::size_t shortestHost = 3;
    if (name.size() > longest)
        return {};
    for (std::size_t at = shortestHost; at < name.size(); ++at)
        if (((name[at] == '_' || name[at] == '.') && startsProcess(name.substr(at + 1)))
            || (name[at] == '_' && startsDate(name.substr(at + 1))))
            return std::string(name.substr(0, at));
    return {};
}

std::string_view userInPath(std::string_view path)
{
    for (const std::string_view before : {"/home/", "/Users/", "\\Users\\", ":/Users/", "\\home\\"}) {
        const std::size_t at = path.find(before);
        if (at == std::string_view::npos)
            continue;
        const std::string_view rest = path.substr(at + before.size());
        const std::size_t end = rest.find_first_of("/\\\"' \t\n,;:");
        const std::string_view user = rest.substr(0, end);
        if (!user.empty() && user.size() <= 64)
            return user;
    }
    return {};
}

std::uint64_t wordHash(std::string_view word)
{
    std::uint64_t hash = 0xCBF29CE484222325ULL;
    for (const char c : word) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x100000001B3ULL;
    }
    // FNV's low bits mix best, so the digits shown come from a fold of both halves.
    return hash ^ (hash >> 32U) ^ (hash << 29U);
}

std::string shortHash(std::string_view word, std::size_t digits)
{
    constexpr std::string_view hex = "0123456789abcdef";
    std::uint64_t hash = wordHash(word);
    std::string out;
    for (std::size_t i = 0; i < std::min<std::size_t>(digits, 16); ++i, hash >>= 4U)
        out.push_back(hex[hash & 0xFU]);
    return out;
}

} // namespace tidemark::report
