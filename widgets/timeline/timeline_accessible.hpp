// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QWidget;

namespace tidemark {

/// Teaches Qt to describe a TimelineView to assistive technology: role Chart, name "Timeline", value "event
/// 3,737 of 22,331, live 22.54 GiB, reserved 23.45 GiB; selected softmax@nn_utils.py:6, 256 MiB". May be
/// called more than once.
void installTimelineAccessibility();
/// Tells it that the value has changed.
void announceTimeline(QWidget& view);

} // namespace tidemark
