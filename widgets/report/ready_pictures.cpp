// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/report/ready_pictures.hpp"

#include <algorithm>
#include <utility>

namespace tidemark {

namespace {

constexpr std::pair<report::PictureKind, report::Part> partOf[]{
    {report::PictureKind::Timeline, report::Part::Timeline},
    {report::PictureKind::Segments, report::Part::Segments},
    {report::PictureKind::Comparison, report::Part::Comparison},
    {report::PictureKind::Ranks, report::Part::Ranks}};

} // namespace

std::optional<report::PictureKind> ReadyPictures::missing(
    const report::ReportInput& input, const std::vector<report::Part>& parts) const
{
    if (input.device >= input.rank->devices.size())
        return std::nullopt;
    for (const auto& [kind, part] : partOf)
        if (m_drawn.find(kind) == m_drawn.end() && std::find(parts.begin(), parts.end(), part) != parts.end())
            return kind;
    return std::nullopt;
}

std::vector<report::Picture> ReadyPictures::draw(
    report::PictureKind kind, const report::ReportInput& input, const Draw& with)
{
    StateIndex moment = input.rank->devices[input.device]->timeline.requested().total().maxState;
    if (input.diagnosis)
        if (const report::VerdictText verdict = report::verdictOf(*input.diagnosis, input.device);
            verdict.oom != nullptr)
            moment = verdict.oom->state;
    const report::Redactor changesNothing;
    return with(report::PictureAsk{kind, input, moment, changesNothing});
}

std::vector<report::Picture> ReadyPictures::draw(const report::PictureAsk& ask)
{
    const auto found = m_drawn.find(ask.kind);
    return found == m_drawn.end() ? std::vector<report::Picture>() : found->second;
}

} // namespace tidemark
