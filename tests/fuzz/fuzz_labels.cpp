// SPDX-License-Identifier: GPL-3.0-or-later
// A user's label rules, and filters as they are typed or come with a session.
#include "model/lens/filter.hpp"
#include "model/lens/label_rules.hpp"
#include "model/lens/marks.hpp"
#include "tests/fuzz/fuzz_support.hpp"
#include "tests/support/training_trace.hpp"

using namespace tidemark;
using namespace tidemark::fuzz;

namespace {

/// Takes every pattern; it matches texts of its own length.
Result<TextPredicate> anyPattern(const std::string& pattern)
{
    return TextPredicate([length = pattern.size()](std::string_view text) { return text.size() == length; });
}

/// A small training run to try rules on, made once.
struct Training {
    std::shared_ptr<const Snapshot> snapshot = test::TrainingTrace{.steps = 1, .full = true}.make();
    std::shared_ptr<const Replay> replay = *Replay::build(snapshot, 0, {});
    std::vector<Mark> marks = pairMarks(*replay);
    std::shared_ptr<const Phases> phases = Phases::build(*replay, marks, {});
    Sites sites = Sites::build(*snapshot, SiteMode::User);
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const Training run;
    const std::string_view text = textOf(data, size);
    std::shared_ptr<const Labels> labels;
    if (const auto rules = LabelRules::withUser(text, "labels.json", anyPattern)) {
        labels = Labels::build(*run.replay, *run.phases, *rules, Job{});
        require(labels != nullptr, "labels are built unless stopped");
    } else {
        checkError(rules.error());
    }
    if (const auto filter = Filter::parse(text, anyPattern)) {
        FilterContext context{*run.replay, run.sites, labels.get(), {}};
        require(filter->match(context, Job{}) != nullptr, "a filter answers unless stopped");
    } else {
        checkError(filter.error());
    }
    return 0;
}
