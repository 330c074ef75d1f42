// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/core/result.hpp"

namespace tidemark {

const char* errorCodeName(ErrorCode code)
{
    switch (code) {
    case ErrorCode::NotFound:
        return "not-found";
    case ErrorCode::Io:
        return "io";
    case ErrorCode::Empty:
        return "empty-file";
    case ErrorCode::Truncated:
        return "truncated-file";
    case ErrorCode::Damaged:
        return "damaged-container";
    case ErrorCode::Malformed:
        return "malformed";
    case ErrorCode::NotASnapshot:
        return "not-a-snapshot";
    case ErrorCode::Unsupported:
        return "unsupported";
    case ErrorCode::TooLarge:
        return "too-large";
    case ErrorCode::Cancelled:
        return "cancelled";
    case ErrorCode::Usage:
        return "usage";
    }
    return "malformed";
}

} // namespace tidemark
