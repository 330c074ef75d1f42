// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/formats/reader.hpp"

#include <memory>

namespace tidemark {

/// Pages of PyTorch's `_memory_viz.py trace_plot` and `segment_plot`: the snapshot stands in a script as
/// base64 text and is decoded on the way to the reader of what is inside.
extern const Reader htmlReader;

/// The bytes behind base64 text, decoded as they are asked for. `text` stands on the first character; the
/// stream ends at `quote`, which stays unread. Blanks and JavaScript's line breaks are passed over, the URL
/// alphabet is understood as well.
std::unique_ptr<ByteStream> decodeBase64(ByteStream& text, char quote);

} // namespace tidemark
