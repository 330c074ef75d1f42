// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/natural_order.hpp"
#include "model/core/text.hpp"
#include "model/job/digest.hpp"

#include <algorithm>
#include <charconv>
#include <map>

namespace tidemark {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t maxTasks = 1U << 24;

/// A number of the environment; absent without the variable.
Result<std::optional<std::uint64_t>> variable(const Environment& environment, const char* name)
{
    const auto text = environment(name);
    if (!text || text->empty())
        return std::optional<std::uint64_t>();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error != std::errc() || end != text->data() + text->size() || value >= maxTasks)
        return Error{ErrorCode::Usage,
            std::string(name) + " is \"" + displayText(*text, 40)
                + "\", which is no number of a task. Unset it to digest all files.",
            std::nullopt};
    return std::optional(value);
}

/// A pair of variables that number the tasks; absent when one of them is not there.
Result<std::optional<WorkShare>> pair(
    const Environment& environment, const char* index, const char* count, const char* first)
{
    const auto at = variable(environment, index);
    const auto of = variable(environment, count);
    const auto from
        = first != nullptr ? variable(environment, first) : Result(std::optional<std::uint64_t>(0));
    if (!at)
        return at.error();
    if (!of)
        return of.error();
    if (!from)
        return from.error();
    const std::optional<std::uint64_t> number = at.value();
    const std::optional<std::uint64_t> tasks = of.value();
    if (!number || !tasks)
        return std::optional<WorkShare>();
    const std::uint64_t start = from.value().value_or(0);
    if (*number < start || *number - start >= *tasks)
        return Error{ErrorCode::Usage,
            std::string(index) + " is " + std::to_string(*number) + ", beyond the " + std::to_string(*tasks)
                + " tasks of " + count + ". Unset both to digest all files.",
            std::nullopt};
    return std::optional(WorkShare{*number - start, *tasks, index});
}

/// The folder that all paths lie below.
fs::path sharedFolder(std::span<const fs::path> files)
{
    fs::path shared;
    bool first = true;
    for (const fs::path& file : files) {
        const fs::path folder = file.parent_path();
        if (first) {
            shared = folder;
            first = false;
            continue;
        }
        fs::path common;
        for (auto a = shared.begin(), b = folder.begin(); a != shared.end() && b != folder.end() && *a == *b;
             ++a, ++b)
            common /= *a;
        shared = common;
    }
    return shared;
}

} // namespace

Result<WorkShare> workShare(const Environment& environment)
{
    auto tasks = pair(environment, "SLURM_PROCID", "SLURM_NTASKS", nullptr);
    auto array = pair(environment, "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN");
    if (!tasks)
        return tasks.error();
    if (!array)
        return array.error();
    if (*array && *tasks) {
        // Tasks inside an array's element share what is the element's.
        WorkShare both;
        both.index = (*array)->index * (*tasks)->count + (*tasks)->index;
        both.count = (*array)->count * (*tasks)->count;
        both.from = (*tasks)->count > 1 ? "SLURM_ARRAY_TASK_ID and SLURM_PROCID" : "SLURM_ARRAY_TASK_ID";
        return both;
    }
    if (*array)
        return **array;
    if (*tasks)
        return **tasks;
    for (const auto& [index, count] :
        {std::pair("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), std::pair("RANK", "WORLD_SIZE")}) {
        auto share = pair(environment, index, count, nullptr);
        if (!share)
            return share.error();
        if (*share)
            return **share;
    }
    return WorkShare{};
}

std::vector<DigestTask> digestTasks(std::span<const fs::path> snapshots, const fs::path& folder)
{
    std::vector<fs::path> files;
    for (const fs::path& file : snapshots) {
        std::error_code error;
        fs::path whole = fs::absolute(file, error).lexically_normal();
        files.push_back(error ? file : whole);
    }
    std::ranges::sort(files, [](const fs::path& a, const fs::path& b) {
        return naturallyLess(a.string(), b.string()) || (!naturallyLess(b.string(), a.string()) && a < b);
    });
    files.erase(std::unique(files.begin(), files.end()), files.end());
    const fs::path shared = sharedFolder(files);
    std::vector<DigestTask> out;
    std::map<std::string, int> taken;
    for (const fs::path& file : files) {
        std::string name;
        for (const fs::path& part : file.lexically_relative(shared))
            name += (name.empty() ? "" : "__") + part.string();
        // "a__b" may be a folder and a file, or a file of that name.
        if (const int again = taken[name]++; again > 0)
            name += "." + std::to_string(again);
        out.push_back({file, folder / (name + std::string(digestEnding))});
    }
    return out;
}

} // namespace tidemark
