// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/job.hpp"
#include "model/core/result.hpp"
#include "model/job/run_diagnosis.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tidemark {

struct SummariseOptions {
    /// Bytes that opened files may take together; a file that needs more is opened alone.
    std::uint64_t memoryBudget = 2ULL << 30;
    unsigned threads = 0; ///< files read at once at most; 0: as many as cores
    RunConfig config; ///< given by the user; what lies beside the files is added
    std::optional<std::uint64_t> cardBytes;
    std::shared_ptr<const LabelRules> labelRules; ///< null: the standard ones
    ReadOptions read;
    /// Of an earlier pass with the same options: these files are not read again.
    std::shared_ptr<const std::vector<RankSummary>> known;
    bool contentKeys = false; ///< fill RankSummary::contentKey: reads up to 6 MiB more a file
};

/// One file is done. `summary` is null when it could not be read, and `error` says why.
struct SummaryProgress {
    std::filesystem::path file;
    const RankSummary* summary = nullptr;
    const Error* error = nullptr;
    std::size_t done = 0;
    std::size_t total = 0; ///< may grow: a broken file is replaced by the rank's next one
};
/// Called on the working threads, one call at a time; what it points to is valid during the call.
using SummaryCallback = std::function<void(const SummaryProgress&)>;

/// A whole job, summed up.
struct SummarisedJob {
    DiscoveredJob job; ///< with what reading told: bad files moved, ranks and dates corrected
    std::vector<RankSummary> ranks; ///< as job.ranks
    RunConfig config; ///< of the run: given, and beside the files
    RunDiagnosis diagnosis;
};

/// Opens the chosen file of every rank, sums it up and drops it: several at once within the memory budget.
/// Then the rules over ranks run. The result does not depend on the order in which files are done. A file
/// that cannot be read is replaced by the next one of its rank. Stopped: ErrorCode::Cancelled within 100 ms.
/// Errors only when stopped. Cost: opening and diagnosing each file.
Result<SummarisedJob> summarise(DiscoveredJob discovered, const SummariseOptions& options, const Job& job,
    const SummaryCallback& callback = {});

/// What was read of a job's files, put together: bad files move, dates and ranks are corrected, the rules
/// over ranks run. `read` may be in any order; of a rank's files the best one that was read counts.
SummarisedJob combined(DiscoveredJob discovered, std::vector<RankSummary> read,
    std::vector<std::pair<std::filesystem::path, Error>> refused, const RunConfig& given);

/// One file, opened, diagnosed and summed up; a digest is read.
Result<RankSummary> summariseFile(
    const RankFile& file, const SummariseOptions& options, const RunConfig& config, const Job& job);

/// Settings of a file: those given, then what lies beside it, then the job's own. Files that cannot be read
/// are passed over.
RunConfig settingsOf(const RunConfig& given, const std::filesystem::path& file,
    std::span<const std::filesystem::path> jobFiles);

} // namespace tidemark
