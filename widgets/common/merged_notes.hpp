// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/core/quality.hpp"

#include <algorithm>
#include <vector>

namespace tidemark {

/// Notes of one kind, of the file and of its device, as one note with both sentences. Keeps the order.
inline std::vector<QualityNote> mergedNotes(const std::vector<QualityNote>& notes)
{
    std::vector<QualityNote> out;
    for (const QualityNote& note : notes) {
        const auto same = std::find_if(
            out.begin(), out.end(), [&](const QualityNote& other) { return other.id == note.id; });
        if (same == out.end()) {
            out.push_back(note);
            continue;
        }
        same->sentence += ' ' + note.sentence;
        same->count = std::max(same->count, note.count);
        same->examples.insert(same->examples.end(), note.examples.begin(), note.examples.end());
        if (!same->firstEvent)
            same->firstEvent = note.firstEvent;
    }
    return out;
}

} // namespace tidemark
