// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/compare/comparison.hpp"
#include "model/findings/diagnosis.hpp"
#include "model/report/annotations.hpp"
#include "model/report/document.hpp"
#include "model/report/redaction.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {
struct SummarisedJob;
}

namespace tidemark::report {

/// What a report is made of; the usual order.
enum class Part : std::uint8_t {
    Figures,
    Comparison,
    Timeline,
    Annotations, ///< numbered as on the pictures
    Segments,
    Verdict, ///< fixes of what is most severe
    Ranks,
    Findings,
    Quality,
    Live,
    Tree,
    Settings,
    Reproduce,
    Trust, ///< how far to trust this
    Glossary,
};
inline constexpr std::size_t partCount = 15;
/// "verdict", "figures", …: ids of sections, stable.
const char* partName(Part part);
std::optional<Part> partFromName(std::string_view name);
std::vector<Part> allParts();

/// What is to be written.
struct ReportWish {
    std::vector<Part> parts = allParts(); ///< in this order
    std::string title; ///< empty: the verdict
    std::string summary; ///< paragraphs by the author, below the title
    std::size_t topRows = 20; ///< of tables; what is left out is summed up
    Redaction redaction;
    bool includeTime = false; ///< tells ReportInput::nowUs; otherwise equal input gives equal bytes
};

/// One rank of the run, for the table of ranks.
struct RankRow {
    std::string name; ///< of the file
    std::optional<int> rank;
    int device = 0; ///< ordinal
    std::int64_t peak = 0;
    std::optional<std::int64_t> reservedPeak;
    std::string verdict;
    bool failed = false; ///< an out-of-memory event
    std::string problem; ///< why there are no figures; else empty
};

/// What is said of all ranks of a job together (runTexts of model/job).
struct RunTexts {
    std::string headline;
    std::vector<Finding> findings;
    std::vector<std::string> notes; ///< where roles come from, which ranks are missing
    std::vector<std::string> sites; ///< call sites of all ranks that may be named, for redaction
};

/// What a report is about. A rank without devices gives a report of what the file cannot tell.
struct ReportInput {
    std::shared_ptr<const Rank> rank;
    std::size_t device = 0; ///< position in rank->devices
    std::shared_ptr<const Diagnosis> diagnosis; ///< of `rank`
    std::optional<std::uint64_t> deviceTotal; ///< bytes of the card, when given by hand
    std::shared_ptr<const compare::Comparison> comparison; ///< may be null
    std::vector<RankRow> ranks; ///< all of the run; empty or one: no section
    std::shared_ptr<const SummarisedJob> job; ///< of these ranks, for pictures; may be null
    RunTexts run; ///< of the same job
    std::vector<Annotation> annotations; ///< those of all inputs
    std::uint32_t inputIndex = 0; ///< which of them are about `rank`: Annotation::input
    std::vector<std::string> inputNames; ///< of files, by Annotation::input; for remarks on others
    std::string program = "tidemark"; ///< with its version, for the foot
    std::optional<std::int64_t> nowUs; ///< Unix microseconds, for ReportWish::includeTime
};

/// What a picture is asked for.
enum class PictureKind : std::uint8_t { Timeline, Segments, Comparison, Ranks };
struct PictureAsk {
    PictureKind kind = PictureKind::Timeline;
    const ReportInput& input;
    StateIndex state = 0; ///< the moment it is about: of the out-of-memory event, else the peak
    /// For every text that is drawn. Pixels cannot be redacted afterwards; the texts of an SVG are.
    const Redactor& redactor;
};
/// Draws what a report shows; implemented by the caller, called on the thread of buildReport.
class Pictures {
public:
    virtual ~Pictures() = default;
    /// May be none. `alt` of a picture gets the figures in front.
    virtual std::vector<Picture> draw(const PictureAsk& ask) = 0;
};

/// Builds a report. `pictures` may be null. Null when stopped. Cost: two passes over what is live at the peak
/// and one over the distinct frames, beside what drawing costs. Any thread.
std::shared_ptr<const Document> buildReport(
    const ReportInput& input, const ReportWish& wish, Pictures* pictures, const Job& job);

/// One sentence on why to read on: why a request failed, else what is most severe, else that nothing was
/// found.
struct VerdictText {
    std::string title;
    std::string why; ///< one or two sentences, may be empty
    bool failed = false;
    const OomAutopsy* oom = nullptr; ///< the event it is about, of the diagnosis
    const Finding* finding = nullptr; ///< likewise
};
VerdictText verdictOf(const Diagnosis& diagnosis, std::size_t device);
/// The row of a rank's main device.
RankRow rankRow(const Diagnosis& diagnosis);
/// Bytes the device can give, as the window reckons: the size given, else what was usable at out-of-memory
/// events, else what the settings state.
std::optional<std::uint64_t> cardSize(const ReportInput& input);
/// The texts of an input that redaction looks at, for Redactor::build and redactedStrings.
RedactionInput redactionInput(const ReportInput& input);

} // namespace tidemark::report
