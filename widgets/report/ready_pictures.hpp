// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/report/report.hpp"

#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace tidemark {

/// The pictures of a report, drawn one by one on the GUI thread before the report is built on another. A
/// value: copies are independent.
class ReadyPictures : public report::Pictures {
public:
    using Draw = std::function<std::vector<report::Picture>(const report::PictureAsk&)>;

    /// One that these parts want and that is not there yet.
    std::optional<report::PictureKind> missing(
        const report::ReportInput& input, const std::vector<report::Part>& parts) const;
    /// What `with` draws of an input, about the moment a report of it speaks of. Texts in drawings are
    /// redacted when the report is built, not here. GUI thread.
    static std::vector<report::Picture> draw(
        report::PictureKind kind, const report::ReportInput& input, const Draw& with);
    void put(report::PictureKind kind, std::vector<report::Picture> pictures)
    {
        m_drawn[kind] = std::move(pictures);
    }

    /// Hands them out. Any thread.
    std::vector<report::Picture> draw(const report::PictureAsk& ask) override;

private:
    std::map<report::PictureKind, std::vector<report::Picture>> m_drawn;
};

} // namespace tidemark
