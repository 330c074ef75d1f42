// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/findings/finding.hpp"

#include <string_view>
#include <vector>

namespace tidemark {

/// What a finding of one file says of the other ranks of its job.
inline constexpr std::string_view peersAdvice
    = " Open the files of the other ranks too: they tell whether this rank is fuller than its peers.";

/// Takes the advice out of findings: the other ranks are looked at as well.
inline void dropPeersAdvice(std::vector<Finding>& findings)
{
    for (Finding& finding : findings)
        if (const std::size_t at = finding.explanation.find(peersAdvice); at != std::string::npos)
            finding.explanation.erase(at, peersAdvice.size());
}

} // namespace tidemark
