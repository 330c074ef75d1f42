// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/formats/reader.hpp"

namespace tidemark {

/// Everything that is JSON, told apart by structure: snapshots (an object with `segments` or
/// `device_traces`, or a list of segments), Kineto traces (`traceEvents`, or a list of trace events) and
/// memory timelines of torch.profiler (lists of numbers). Streams; only columns stay in memory.
extern const Reader jsonReader;

} // namespace tidemark
