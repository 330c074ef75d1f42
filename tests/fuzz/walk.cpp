// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/walk.hpp"

#include "model/compare/comparison.hpp"
#include "model/findings/diagnosis.hpp"
#include "model/job/digest.hpp"
#include "model/layout/axis_knots.hpp"
#include "model/layout/flame_layout.hpp"
#include "model/layout/id_image.hpp"
#include "model/layout/segment_layout.hpp"
#include "model/report/exporter.hpp"
#include "model/report/report.hpp"
#include "model/simulate/what_if.hpp"
#include "tests/fuzz/fuzz_support.hpp"
#include "tests/support/memory_file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace tidemark::fuzz {

namespace {

constexpr std::size_t devicesLookedAt = 2;

bool isJson(const std::string& text)
{
    return nlohmann::json::accept(text);
}

void drawTimeline(const Rank& rank, std::size_t device, const DeviceDiagnosis& found, std::uint64_t choice)
{
    constexpr std::array byAll{ColourBy::Site, ColourBy::Size, ColourBy::Age, ColourBy::Stream,
        ColourBy::Pool, ColourBy::Category, ColourBy::SegmentKind, ColourBy::Label, ColourBy::Role};
    const Replay& replay = *rank.devices[device];
    const auto colouring
        = Colouring::build(replay, *rank.sites, byAll[choice % byAll.size()], found.labels.get());
    const StackOrder order = choice / 16 % 2 == 0 ? StackOrder::Age : StackOrder::Group;
    const auto plan = StackPlan::build(replay, *colouring, order);

    TimelineWindow window;
    window.width = 48;
    window.height = 32;
    window.top = static_cast<double>(std::max<std::int64_t>(1, replay.timeline.requested().total().max));
    const auto draw = [&](double left, double right) {
        window.left = left;
        window.right = right;
        const auto image = layoutTimeline(replay, *plan, window, Job{});
        require(image != nullptr, "a picture is drawn unless stopped");
        for (const std::uint32_t id : image->image.ids)
            require(id == pixel::empty || id < replay.timeline.allocations().count(),
                "pixels show allocations that exist");
    };
    const double end = timelineExtent(replay, false);
    draw(0, end);
    draw(end / 3, end / 2 + 1);
    window.timeAxis = true;
    draw(0, timelineExtent(replay, true));
    window.timeAxis = false;
    window.knots = stepAxis(*found.phases, replay.states());
    if (window.knots)
        draw(0, window.knots->extent());
}

void drawSegments(const Rank& rank, std::size_t device, std::uint64_t choice)
{
    const Replay& replay = *rank.devices[device];
    const StateIndex last = replay.states() - 1;
    for (const StateIndex state : {StateIndex{0}, last / 2, last}) {
        const SegmentState at = replay.segments.stateAt(state, replay.timeline);
        MapOptions options;
        options.width = 300;
        options.layout = choice % 2 == 0 ? MapLayout::Flow : MapLayout::Rows;
        options.order = static_cast<MapOrder>(choice / 2 % 4);
        options.labelWidth = choice / 8 % 2 == 0 ? 0 : 90;
        const MapPicture picture = layoutSegments(*rank.snapshot, at, options);
        for (const MapBox& box : picture.boxes)
            require(box.segment < at.segments.size() && box.piece < at.pieces.size(),
                "boxes show pieces that exist");
        boxAt(picture, 10, picture.height / 2);
    }
}

void trySettings(const Rank& rank, std::size_t device)
{
    const auto simulation = Simulation::build(rank.devices[device], Job{});
    if (!simulation) {
        checkError(simulation.error());
        return;
    }
    WhatIfWish wish;
    wish.settings = (*simulation)->recording().settings;
    wish.settings.expandableSegments = !wish.settings.expandableSegments;
    if (const auto told = (*simulation)->run(wish, Job{}); !told)
        checkError(told.error());
}

void writeReports(const std::shared_ptr<const Diagnosis>& diagnosis, std::uint64_t choice)
{
    report::ReportInput input;
    input.rank = diagnosis->rank;
    input.diagnosis = diagnosis;
    input.device = diagnosis->rank->devices.empty() ? 0 : diagnosis->rank->mainDevice();
    report::ReportWish wish;
    wish.topRows = 5;
    if (choice % 3 == 1)
        wish.redaction = report::Redaction::full();
    const auto document = report::buildReport(input, wish, nullptr, Job{});
    require(document != nullptr, "a report is built unless stopped");
    require(isJson(report::writeJson(*document)), "a JSON report is JSON");
    checkText(report::writeHtml(*document));
    checkText(report::writeMarkdown(*document));
}

void compareWithItself(const std::shared_ptr<const Diagnosis>& diagnosis)
{
    compare::Side side;
    side.rank = diagnosis->rank;
    side.device = diagnosis->rank->mainDevice();
    side.diagnosis = diagnosis;
    side = compare::prepared(std::move(side), Job{});
    compare::Wish wish;
    wish.stateA = 0;
    const auto comparison = compare::compareSides(side, side, wish, Job{});
    require(comparison != nullptr, "a comparison is made unless stopped");
    require(isJson(compare::compareJson(*comparison)), "a comparison's JSON is JSON");
    checkText(compare::compareText(*comparison));
}

} // namespace

std::shared_ptr<const Rank> openBytes(std::string_view bytes, const ReadOptions& options)
{
    const test::MemoryFile file(bytes);
    auto rank = openRank(file.path(), options, Job{});
    if (!rank) {
        checkSentence(rank.error());
        return nullptr;
    }
    return std::move(rank).value();
}

void walk(const std::shared_ptr<const Rank>& rank, std::uint64_t choice)
{
    for (const QualityNote& note : rank->quality())
        checkText(note.sentence);
    const auto diagnosis = diagnose(rank, {}, Job{});
    require(diagnosis != nullptr, "a diagnosis is made unless stopped");
    require(isJson(diagnosis->json("f")), "the findings' JSON is JSON");
    for (const Finding& finding : diagnosis->findings)
        checkText(finding.title);
    for (std::size_t i = 0; i < std::min(rank->devices.size(), devicesLookedAt); ++i) {
        drawTimeline(*rank, i, diagnosis->devices[i], choice);
        drawSegments(*rank, i, choice / 32);
        if (choice % 4 == 0)
            trySettings(*rank, i);
    }
    writeReports(diagnosis, choice);
    if (choice % 4 == 1 && !rank->devices.empty())
        compareWithItself(diagnosis);
    if (choice % 4 == 2) {
        const std::string digest = digestBytes(makeSummary(*diagnosis, {}));
        const auto read = parseDigest(digest, "d.tmdigest");
        if (!read)
            checkError(read.error());
        require(static_cast<bool>(read), "a digest that was written can be read");
    }
}

} // namespace tidemark::fuzz
