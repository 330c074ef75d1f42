// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/result.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace tidemark {

/// What a file is that begins with these bytes and is certainly no snapshot: a picture, a library, a
/// checkpoint in another format, … One sentence that names the kind and says what to open or record instead
/// (ErrorCode::NotASnapshot). Absent for anything that could still be read, and for what has no signature.
/// `head`: the first bytes of the unpacked file, up to 64 KiB.
std::optional<Error> recognisedForeign(std::string_view head);

/// The same for bytes that no reader wants: as recognisedForeign, else plain text or an unknown binary
/// format.
Error describeForeign(std::string_view head);

/// A zip archive without `data.pkl`, tar archives inside containers and the like: `what` names it ("a zip
/// archive without data.pkl").
Error notASnapshot(std::string_view what, std::string_view instead = {});

/// How to record a snapshot, as the end of a sentence: "record one with …".
const char* recordingAdvice();

/// True when the bytes read as text: valid UTF-8 (the end may be cut) without NUL and with few control
/// characters.
bool looksLikeText(std::string_view head);

} // namespace tidemark
