// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/formats/byte_stream.hpp"

namespace tidemark {

/// The same bytes, read and unpacked on a thread of its own, at most a few blocks ahead of whoever uses them.
/// The thread ends with the stream, which waits for a read that is under way; so this is for files, not for
/// pipes that may stay silent. Gives `inner` back when there is no second processor or no thread to be had.
std::unique_ptr<ByteStream> readAhead(std::unique_ptr<ByteStream> inner);

} // namespace tidemark
