// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/diagnosis.hpp"
#include "widgets/playbook/playbook_page.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace tidemark {

/// What the open run says about an entry of the playbook.
struct RowStatus {
    enum class Kind {
        Unasked, ///< nothing looks for it, or nothing is open
        Found,
        CannotDecide,
        Clear, ///< looked for, not found
    };
    Kind kind = Kind::Unasked;
    /// Of the worst finding or check.
    Severity severity = Severity::Info;
    std::vector<std::size_t> findings; ///< into Diagnosis::findings, in its order
    std::vector<std::size_t> checks; ///< into Diagnosis::checks, those that fired
    QStringList needs; ///< what deciding it would need, each once
};

/// `diagnosis` may be null. An entry is found when a finding names it (Finding::playbook) or comes from one
/// of its rules without naming another entry of the same kind, or when one of its checks fired. It counts as
/// looked for when one of its rules ran or one of its checks passed.
RowStatus rowStatus(const PageRow& row, const Diagnosis* diagnosis);
/// "D1, S1" names D1 and S1.
bool namesEntry(std::string_view playbook, std::string_view id);

} // namespace tidemark
